"""Relative paths of a task: which are led into its own folder, and what is told of that folder."""

import os
import sys
from pathlib import Path

import pytest

from gate.agents.task_folder import MOST_FILES, files_in, has_paths, make_folder, rewritten

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and names as POSIX has them")


def said(text):
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("Write ./scratch/a.md now", "Write /t/scratch/a.md now"),
        ("`./scratch/`", "`/t/scratch/`"),
        ('{"path": "./scratch/x/y.json"}', '{"path": "/t/scratch/x/y.json"}'),
        ("Log path:./openagent/logs/openagent.log.", "Log path:/log/o.log."),
        ("all of ./openagent/logs/", "all of /t/openagent/logs/"),
        ("./openagent/logs/openagent.log.1", "/t/openagent/logs/openagent.log.1"),
        ("./openagent/logs/openagent.log2", "/t/openagent/logs/openagent.log2"),
    ],
)
def test_paths_are_led_into_the_folder_and_to_the_servers_log(text, becomes):
    assert has_paths(said(text))
    assert rewritten(said(text), Path("/t"), Path("/log/o.log")) == said(becomes)


@pytest.mark.parametrize(
    "text",
    [
        "../scratch/a",
        "x/./scratch/a",
        "./scratches/a",
        "./scratch",
        "~./scratch/",
        "openagent/logs",
    ],
)
def test_other_paths_stay(text):
    assert not has_paths(said(text))
    assert rewritten(said(text), Path("/t"), None) == said(text)


def test_without_a_log_of_the_server_the_path_is_in_the_folder():
    text = "read ./openagent/logs/openagent.log"
    assert rewritten(said(text), Path("/t"), None) == said("read /t/openagent/logs/openagent.log")


def test_parts_of_a_message_are_read_and_what_is_no_text_stays():
    parts = [
        {"type": "text", "text": "./scratch/a"},
        {"type": "image", "text": 7},
        "./scratch/b",
        3,
    ]
    given = [{"role": "user", "content": parts}, {"role": "user", "content": None}, 5]
    assert has_paths(given)
    changed = rewritten(given, Path("/t"), None)
    assert changed[0]["content"] == [{"type": "text", "text": "/t/scratch/a"}, *parts[1:]]
    assert changed[1:] == given[1:]
    assert parts[0]["text"] == "./scratch/a"


@pytest.mark.parametrize(
    ("case_id", "name"),
    [
        ("FI-2", "FI-2-1"),
        ("../../etc/passwd", "etc-passwd-1"),
        ("a\0b\x1b[31m/ü", "a-b-31m-1"),
        ("..", "task-1"),
        ("CON", "CON-1"),
        ("x" * 10_000, f"{'x' * 60}-1"),
    ],
)
def test_a_folder_has_a_safe_name_below_the_session(tmp_path, case_id, name):
    folder = make_folder(tmp_path, case_id)
    assert folder == tmp_path.resolve() / ".tasks" / name
    assert (folder / "scratch").is_dir()
    assert (folder / "openagent" / "logs").is_dir()


def test_every_request_has_a_fresh_folder_and_its_path_is_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = make_folder(Path("results"), "c")
    (first / "scratch" / "left.txt").write_text("of the first try")
    second = make_folder(Path("results"), "c")
    assert first.is_absolute()
    assert first != second
    assert files_in(second) == ()


@posix
def test_files_are_told_by_name_sorted_and_links_are_left_out(tmp_path):
    scratch = make_folder(tmp_path, "c") / "scratch"
    (scratch / "b").mkdir()
    (scratch / "b" / "x.json").write_text("{}")
    (scratch / "a.md").write_text("")
    (scratch / "c.md").write_text("")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("k")
    (scratch / "z").symlink_to(tmp_path / "secret", target_is_directory=True)
    (scratch / "link.md").symlink_to(tmp_path / "secret" / "key")
    assert files_in(scratch.parent) == ("a.md", "b/x.json", "c.md")


@posix
def test_a_folder_that_became_a_link_or_went_away_shows_nothing(tmp_path):
    folder = make_folder(tmp_path, "c")
    (folder / "scratch").rmdir()
    assert files_in(folder) == ()
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("")
    (folder / "scratch").symlink_to(tmp_path / "etc", target_is_directory=True)
    assert files_in(folder) == ()


@posix
def test_names_are_harmless_and_of_many_files_some_are_told(tmp_path):
    folder = make_folder(tmp_path, "c")
    odd = os.fsdecode(b"\x1b[31mred\n\xff.txt")
    (folder / "scratch" / odd).write_text("")
    (name,) = files_in(folder)
    assert name == "red \ufffd.txt"
    name.encode()
    for n in range(MOST_FILES + 20):
        (folder / "scratch" / f"{n:04}").write_text("")
    assert len(files_in(folder)) == MOST_FILES
