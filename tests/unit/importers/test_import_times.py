"""When an import was measured: as the source, --at or the newest file says, in UTC."""

import os

import pytest

from tests.support.import_page import EXAMPLES
from tests.support.in_process import gate


def imported(folder, *more):
    found = gate(folder, "import", "trec", str(folder / "trec"), "--out", "results", *more)
    names = [one.name for one in folder.glob("results/session-*")]
    return found, names[0].rpartition("-")[0] if names else ""


@pytest.fixture
def source(tmp_path):
    """Files without a time of their own."""
    (tmp_path / "trec").mkdir()
    for name in ("run.txt", "qrels.txt"):
        (tmp_path / "trec" / name).write_bytes((EXAMPLES / "trec" / name).read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("at", "session"),
    [
        ("2026-05-12T14:30:52", "session-20260512-143052"),
        ("2026-05-12T14:30:52+05:00", "session-20260512-093052"),
    ],
)
def test_the_time_that_is_named_is_that_moment_in_utc(source, at, session):
    assert imported(source, "--at", at)[1] == session


@pytest.mark.parametrize("at", ["0001-01-01", "0001-01-01T00:00+14:00", "9999-12-31T23:00-12:00"])
def test_a_time_that_no_session_can_have_is_refused(source, at):
    found, session = imported(source, "--at", at)
    assert (found.returncode, session) == (2, "")
    assert "--at: not a time between the years 1970 and 9999" in found.stderr


def test_a_file_of_a_time_that_no_clock_shows_needs_another_one(source):
    for file in (source / "trec").iterdir():
        os.utime(file, (-10_000_000_000, -10_000_000_000))
    found, _ = imported(source)
    assert (found.returncode, "set one with --at" in found.stderr) == (2, True)
    assert imported(source, "--at", "2026-05-12")[1] == "session-20260512-000000"
