"""index.html beside the sessions is kept up to date, and never costs a run anything but a line."""

from pathlib import Path

import pytest

from gate.report.session_index.keep import keep_index
from tests.support.stored_session import store


def test_each_session_that_ends_joins_the_list(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        session = store(tmp_path, {"a": [True]}, number=number)
        assert keep_index(session) == ""
        text = (tmp_path / "index.html").read_text("utf-8")
        assert text.count("<tr data-folder=") == number


def test_a_session_that_is_gone_leaves_it(tmp_path: Path) -> None:
    first, second = (store(tmp_path, {"a": [True]}, number=n) for n in (1, 2))
    keep_index(first)
    second.rename(tmp_path / "away")
    keep_index(first)
    assert second.name not in (tmp_path / "index.html").read_text("utf-8")


def test_a_page_of_somebody_else_stays(tmp_path: Path) -> None:
    session = store(tmp_path, {"a": [True]})
    (tmp_path / "index.html").write_text("<h1>mine</h1>")
    said = keep_index(session)
    assert said.startswith(f"{tmp_path / 'index.html'}: not a list of sessions")
    assert "rename this file" in said
    assert (tmp_path / "index.html").read_text() == "<h1>mine</h1>"


@pytest.mark.parametrize("made", [Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_what_is_no_file_is_told_and_left(tmp_path: Path, made: object) -> None:
    session = store(tmp_path, {"a": [True]})
    made(tmp_path / "index.html")
    said = keep_index(session)
    assert "index.html" in said
    assert "the session itself is whole" in said


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """Of somebody who is root nothing is kept: what takes the place is a file, not a folder."""
    (tmp_path / "results").write_text("")
    said = keep_index(tmp_path / "results" / "session-1")
    assert "results" in said
    assert "the session itself is whole" in said
