"""`gate history`: sources, formats, options and exit codes, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.cli import run as cli
from gate.store.baseline.file import render
from gate.store.baseline.sources.file import session_baseline
from gate.store.session import load_session
from tests.support.baseline_project import commit_baseline_project
from tests.support.git_repository import git
from tests.support.stored_session import store


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on main whose gate.yml is in the current folder."""
    folder = commit_baseline_project(tmp_path / "repo")
    monkeypatch.chdir(folder)
    return folder


def history(*arguments: str | Path) -> int:
    return cli(["history", *map(str, arguments)], {})


def kept(folder: Path, *sessions: Path) -> Path:
    pool = None
    for session in sessions:
        pool = session_baseline(load_session(session), "analytics", onto=pool)
    assert pool
    folder.mkdir(exist_ok=True)
    (folder / "analytics.json").write_text(render(pool), encoding="utf-8")
    return folder


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for number in (1, 2, 3):
        store(tmp_path / "results", {"a": [True], "b": [number != 2]}, number=number)
    return tmp_path / "results"


def told(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    both = capsys.readouterr()
    return both.out, both.err


def test_without_a_path_it_is_the_chain_of_the_base_branch(
    work: Path,
    results: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept(work / "baselines", *sorted(results.glob("session-*")))
    assert history() == 4
    assert " yet: commit it to main" in told(capsys)[1]
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "baseline")
    assert history("--format", "json") == 0
    out, err = told(capsys)
    (suite,) = json.loads(out)["suites"]
    main = git(work, "rev-parse", "main")[:7]
    assert (suite["source"], len(suite["runs"])) == (f"baselines/analytics.json at {main}", 3)
    assert err == ""
    assert history("--baseline", "baselines", "--last", "1") == 0
    assert "2 older runs are not shown." in told(capsys)[0]


def test_a_folder_of_sessions_and_a_baseline_are_one_history(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = store(tmp_path / "older", {"a": [False], "b": [False]}, number=0)
    folder = kept(tmp_path / "kept", older)
    assert history(results, folder, "--format", "json") == 0
    (suite,) = json.loads(told(capsys)[0])["suites"]
    assert [run["success_rate"] for run in suite["runs"]] == [0.0, 1.0, 0.5, 1.0]


def test_what_was_left_out_is_told_beside_any_format(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = sorted(results.glob("session-*"))[1]
    (broken / "summary.json").write_text("{")
    assert history(results, "--format", "json") == 0
    out, err = told(capsys)
    assert f"note: left out: {broken}" in err
    assert str(broken) in json.loads(out)["notes"][0]
    assert len(json.loads(out)["suites"][0]["runs"]) == 2


@pytest.mark.parametrize("form", ["table", "md", "json", "html"])
def test_a_format_goes_to_a_file_or_to_the_terminal(
    results: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"out.{form}"
    assert history(results, "--format", form, "--out", file) == 0
    assert told(capsys)[0] == ""
    assert history(results, "--format", form) == 0
    assert told(capsys)[0].rstrip("\n") == file.read_text("utf-8").rstrip("\n")


def test_a_folder_gets_the_page_and_a_badge_of_each_suite(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "public" / "site"
    assert history(results, "--format", "html", "--out", site) == 0
    assert told(capsys)[0] == ""
    names = ["badge-analytics.json", "badge-analytics.svg", "index.html"]
    assert sorted(path.name for path in site.iterdir()) == names
    assert history(results, "--format", "html") == 0
    assert told(capsys)[0].rstrip() == (site / "index.html").read_text("utf-8").rstrip()
    badge = json.loads((site / "badge-analytics.json").read_text("utf-8"))
    assert badge.keys() == {"schemaVersion", "label", "message", "color"}
    assert (badge["schemaVersion"], badge["label"]) == (1, "analytics success rate")
    assert f">{badge['message']}</text>" in (site / "badge-analytics.svg").read_text("utf-8")
    (tmp_path / "file").write_text("")
    assert history(results, "--format", "html", "--out", tmp_path / "file") != 0


def test_a_suite_or_all_of_them_can_be_named(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store(results, {"a": [True]}, number=4, suite="other")
    shown = []
    for names in (["analytics"], ["all"], []):
        asked = [option for name in names for option in ("--suite", name)]
        assert history(results, *asked, "--format", "json") == 0
        shown.append({suite["suite"] for suite in json.loads(told(capsys)[0])["suites"]})
    assert shown == [{"analytics"}, {"analytics", "other"}, {"analytics", "other"}]


def test_no_history_is_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert history(tmp_path) == 4
    assert f"no history in {tmp_path}" in told(capsys)[1]
    store(tmp_path, {"a": [True]}, finished=False)
    assert history(tmp_path) == 4
    assert "the run did not finish" in told(capsys)[1]


def test_nothing_since_then_is_4(results: Path) -> None:
    assert history(results, "--since", "2026-11-19") == 0
    assert history(results, "--since", "2026-11-20") == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: No such file or directory; give a session"),
        (["RESULTS", "--suite", "analytic"], "did you mean 'analytics'"),
        (["RESULTS", "--baseline", "repo"], "cannot be combined"),
        (["RESULTS", "--config", "gate.yml"], "cannot be combined"),
        (["BROKEN"], "broken.json:1"),
    ],
)
def test_what_cannot_be_read_is_2(
    results: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (results.parent / "broken.json").write_text('{"schema_version": 1, "cases": [', "utf-8")
    places = {"RESULTS": str(results), "BROKEN": str(results.parent / "broken.json")}
    assert history(*(places.get(one, one) for one in arguments)) == 2
    assert said in told(capsys)[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "yesterday"), "'yesterday' is not a date such as 2026-11-21"),
        (("--last", "0"), "'0' is not a whole number from 1"),
        (("--format", "xml"), "'xml' is unknown"),
    ],
)
def test_a_wrong_option_is_one_sentence(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        history(*arguments)
    assert ended.value.code == 2
    assert said in told(capsys)[1]


def test_a_file_that_cannot_be_written_is_6(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert history(results, "--out", tmp_path / "no" / "file") == 6
    assert "--out" in told(capsys)[1]


def test_a_site_has_the_newest_reports_made_anew_under_their_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    for number in (1, 2, 3):
        made = store(results, {"a": [True]}, number=number, run_id=f"70{number}")
        (made / "report.html").write_text("<script>theirs</script>")
    store(results, {"a": [True]}, number=4, finished=False)
    site = tmp_path / "site"
    told_options = ("--format", "html", "--out", site, "--reports", results, "--keep", "2")
    assert history(results, *told_options) == 0
    assert "the run did not finish" in told(capsys)[1]
    pages = sorted((site / "reports").glob("*/*"))
    assert [str(page.relative_to(site)) for page in pages] == [
        "reports/702/report.html",
        "reports/703/report.html",
    ]
    assert "theirs" not in pages[0].read_text("utf-8")
    assert 'href="reports/703/report.html"' in (site / "index.html").read_text("utf-8")
    assert history(results, "--reports", results) == 2
    assert "--reports needs a site" in told(capsys)[1]
    assert history(tmp_path / "kept", *told_options) == 2
    (tmp_path / "kept").mkdir()
    assert history(tmp_path / "kept", *told_options) == 0, "no history yet, and reports"
