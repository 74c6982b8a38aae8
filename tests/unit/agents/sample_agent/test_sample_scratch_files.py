"""The sample agent writes below one folder and nowhere else."""

import os
from pathlib import Path

import pytest

from gate.agents.sample_agent.scratch_files import Refused, Scratch
from gate.errors import UsageError


def test_a_relative_path_of_a_task_leads_into_the_folder(tmp_path: Path) -> None:
    receipt = Scratch(tmp_path / "results").write("./scratch/a/note.md", "hé", overwrite=False)
    assert (tmp_path / "results" / "scratch" / "a" / "note.md").read_text("utf-8") == "hé"
    assert (receipt.bytes, receipt.overwrote) == (3, False)


def test_a_folder_named_scratch_is_the_task_s_own(tmp_path: Path) -> None:
    Scratch(tmp_path / "scratch").write("./scratch/note.md", "x", overwrite=False)
    assert (tmp_path / "scratch" / "note.md").is_file()


def test_an_absolute_path_below_a_scratch_folder_is_written(tmp_path: Path) -> None:
    target = tmp_path / "session-1" / "_tasks" / "FI-2-1" / "scratch" / "note.md"
    assert Scratch(tmp_path).write(str(target), "x", overwrite=False).overwrote is False
    assert Scratch(tmp_path).write(str(target), "yy", overwrite=True).overwrote is True
    assert target.read_text("utf-8") == "yy"


def test_a_file_that_is_there_is_kept_unless_it_may_be_overwritten(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path)
    scratch.write("./scratch/note.md", "first", overwrite=False)
    with pytest.raises(Refused, match="already there"):
        scratch.write("./scratch/note.md", "second", overwrite=False)
    assert (tmp_path / "scratch" / "note.md").read_text("utf-8") == "first"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "note.md",
        "./scratch/note",
        "./scratch/run.sh",
        "./scratch/../summary.json",
        "./scratch/a/../../summary.json",
        "./elsewhere/note.md",
        "/etc/scratch/note.md",
        "INSIDE/summary.json",
        "INSIDE/../scratch/note.md",
        "./scratch/a\x00.md",
        "./scratch/a\n.md",
        "~/scratch/note.md",
        "./scratch/" + "a/" * 600 + "note.md",
    ],
)
def test_any_other_path_is_refused(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    scratch = Scratch(inside)
    with pytest.raises(Refused):
        scratch.write(path.replace("INSIDE", str(inside)), "x", overwrite=True)
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == []


@pytest.mark.skipif(os.name == "nt", reason="making a link needs a right there")
def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.md").write_text("kept", encoding="utf-8")
    inside = tmp_path / "inside" / "scratch"
    inside.mkdir(parents=True)
    (inside / "folder").symlink_to(outside)
    (inside / "file.md").symlink_to(outside / "kept.md")
    (inside / "new.md").symlink_to(outside / "new.md")
    for path in ("folder/kept.md", "file.md", "new.md", "folder/new.md"):
        with pytest.raises(Refused):
            Scratch(tmp_path / "inside").write(f"./scratch/{path}", "x", overwrite=True)
    assert [found.name for found in outside.iterdir()] == ["kept.md"]
    assert (outside / "kept.md").read_text("utf-8") == "kept"


def test_a_long_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="longer than"):
        Scratch(tmp_path).write("./scratch/note.md", "x" * 64_001, overwrite=True)


def test_a_folder_that_cannot_be_made_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--scratch"):
        Scratch(tmp_path / "file" / "folder")
