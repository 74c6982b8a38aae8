"""`gate sessions`: what is stored, and removing what is old."""

import json
from argparse import Namespace
from contextlib import chdir

import pytest

from gate.commands.sessions import run
from gate.errors import InfrastructureError, UsageError
from gate.files.locked_update import FileLock
from tests.support.stored_session import store


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    for number in range(1, 5):
        store(folder, {"a": [True]}, number=number, finished=number != 3)
    (folder / "session-notes").mkdir()
    (folder / "report.txt").write_text("mine")
    return folder


def sessions(folder=None, *, keep=None, form="plain"):
    return run(Namespace(dir=folder and str(folder), keep=keep, format=form), {})


def names(folder):
    return sorted(one.name[:22] for one in folder.iterdir())


def test_the_newest_comes_first_with_verdict_cases_and_size(results, capsys):
    assert sessions(results) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0][-11:-9] for line in lines[:-1]] == ["04", "03", "02", "01"]
    assert "  pass  " in lines[0]
    assert lines[0].endswith("MB  analytics: 1 case")
    assert "  no verdict  " in lines[1]
    assert lines[-1].startswith(f"{results}: 4 sessions, ")


def test_all_but_the_newest_are_removed_and_nothing_else(results, capsys):
    assert sessions(results, keep=1) == 0
    assert "Removed 3 sessions, " in capsys.readouterr().out
    assert names(results) == [".gitignore", "report.txt", "session-20261119-12000", "session-notes"]
    assert sessions(results, keep=1) == 0
    assert "Removed" not in capsys.readouterr().out


def test_a_session_that_is_written_to_stays(results):
    oldest = next(results.glob("session-*120001*"))
    lock = FileLock(oldest / ".lock")
    assert lock.acquire()
    try:
        with pytest.raises(InfrastructureError, match="a run is writing to it"):
            sessions(results, keep=1)
    finally:
        lock.release()
    assert oldest.is_dir()


def test_a_link_is_no_session(results, tmp_path, capsys):
    outside = store(tmp_path / "elsewhere", {"a": [True]}, number=9)
    (results / "session-20200101-000000-00000000").symlink_to(outside)
    sessions(results, keep=1)
    assert outside.is_dir()
    assert (outside / "meta.json").is_file()


def test_json_has_the_same(results, capsys):
    sessions(results, form="json")
    listed = json.loads(capsys.readouterr().out)
    assert [one["outcome"] for one in listed] == ["pass", "", "pass", "pass"]
    assert listed[0]["suites"] == ["analytics"]


def test_the_folder_is_that_of_gate_yml(results, tmp_path, capsys):
    with chdir(tmp_path):
        assert sessions() == 0
    assert "results: 4 sessions" in capsys.readouterr().out
    with pytest.raises(UsageError, match="nowhere: there is no such folder"):
        sessions(tmp_path / "nowhere")
