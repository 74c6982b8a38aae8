"""`gate open`: which page, and that nothing is opened in CI."""

from argparse import Namespace
from contextlib import chdir

import pytest

from gate.commands.open import run
from gate.errors import UsageError
from tests.support.stored_session import store


@pytest.fixture
def session(tmp_path):
    folder = store(tmp_path / "results", {"a": [True]})
    (folder / "report.html").write_text("<p>the page</p>")
    return folder


@pytest.mark.parametrize("given", ["latest", "results/session-20261119-120001-0123abcd"])
def test_the_page_of_the_latest_or_a_named_session_is_shown(tmp_path, session, given, capsys):
    shown = []
    with chdir(tmp_path):
        assert run(Namespace(session=given), {}, lambda url: shown.append(url) or True) == 0
    assert shown == [(session / "report.html").as_uri()]
    path = f"{session.relative_to(tmp_path) / 'report.html'}\n"
    assert capsys.readouterr().out == path


def test_nothing_is_shown_in_ci(tmp_path, session, capsys):
    assert run(Namespace(session=str(session)), {"CI": "true"}, pytest.fail) == 0
    assert capsys.readouterr().out == f"{session / 'report.html'}\n"


def test_without_a_browser_the_path_is_what_remains(session, capsys):
    assert run(Namespace(session=str(session)), {}, lambda url: False) == 0
    assert "no browser" in capsys.readouterr().out.splitlines()[1]


def test_a_session_without_a_page_says_how_to_get_one(tmp_path, session):
    (session / "report.html").unlink()
    with pytest.raises(UsageError, match="no such file; write it with `gate report "):
        run(Namespace(session=str(session)), {}, pytest.fail)
    (session / "report.html").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="no such file"):
        run(Namespace(session=str(session)), {}, pytest.fail)


def test_what_is_no_session_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not a session"):
        run(Namespace(session=str(tmp_path)), {}, pytest.fail)
