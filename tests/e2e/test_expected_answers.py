"""What a dataset expects, and what the base branch answered, beside what an agent answers now."""

import re

import pytest

from gate.store.baseline.answers import read_beside
from tests.support.chat_server import ChatServer
from tests.support.git_repository import git
from tests.support.grading_project import write_answers, write_grading_project
from tests.support.in_process import gate, run_command, run_session
from tests.support.paths import DATA
from tests.support.session_files import details_of, summary_of
from tests.support.yes_project import CASES, right, write_project, wrong_on

SECRET = "sk-planted-0123456789abcdef"


def expected_by_round(session):
    return {(row["case_id"], row["round"]): row.get("expected") for row in details_of(session)}


def test_the_first_round_of_a_case_carries_what_its_graders_judge_by(tmp_path):
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        rows = expected_by_round(run_session(tmp_path, "--baseline", "none", "--stop", "off"))
    assert len(rows) == 24
    assert {rows[f"c{n}", 1]["expected_answer"] for n in range(12)} == {"yes"}
    assert all(expected is None for (_, number), expected in rows.items() if number == 2)


def test_recorded_answers_carry_it_too(tmp_path):
    answers = write_answers(tmp_path / "answers.jsonl", write_grading_project(tmp_path))
    done = gate(tmp_path, "grade", str(answers))
    rows = expected_by_round(tmp_path / done.stdout.splitlines()[-1].split(": ")[1])
    assert rows["c3", 1] == {
        "expected_facts": [{"value": 5003}],
        "relevant_doc_ids": ["d3"],
        "expected_tool_calls": [{"name": "search", "args": {"n": 3}}],
    }  # `expected_answer` is read by no grader here


def test_a_secret_in_it_is_masked(tmp_path):
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": SECRET} for n in range(6)]
    with ChatServer(right) as server:
        write_project(tmp_path, server.url, cases=cases)
        done = gate(tmp_path, "run", "--baseline", "none", env={"MY_API_KEY": SECRET})
    assert done.returncode == 1
    session = next((tmp_path / "results").glob("session-*"))
    assert expected_by_round(session)["c0", 1] == {"expected_answer": "***"}
    assert not any(SECRET in path.read_text() for path in session.rglob("*") if path.is_file())


def test_answers_false_writes_and_shows_it_nowhere(tmp_path):
    cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "kept dark"} for n in range(6)]
    for dark in ("", "report: {answers: false}"):
        with ChatServer(wrong_on(0)) as server:
            write_project(tmp_path, server.url, cases=cases, more=dark)
            done = gate(tmp_path, "run", "--baseline", "none", "--out", f"out{bool(dark)}")
        assert done.returncode == 1
        session = next((tmp_path / f"out{bool(dark)}").glob("session-*"))
        assert ("expected" in details_of(session)[0]) is not bool(dark)
        told = re.search(r"expected +kept dark", done.stdout)
        assert (told is None) is bool(dark)


@pytest.mark.parametrize(
    ("tool", "source", "key", "more"),
    [
        (
            "braintrust",
            "braintrust/experiment.jsonl",
            "expected_answer",
            ("--option", "pass_score=Factuality>=0.5"),
        ),
        ("deepeval", "deepeval", "expected_answer", ()),
        ("promptfoo", "promptfoo/monday.json", "contains", ()),
    ],
)
def test_imports_carry_what_their_source_has(tmp_path, tool, source, key, more):
    done = gate(tmp_path, "import", tool, str(DATA / "imports" / source), "--out", "results", *more)
    assert done.returncode in (0, 1, 4), done.stderr
    session = next((tmp_path / "results").glob("session-*"))
    rows = details_of(session)
    assert any(key in row.get("expected", {}) for row in rows)
    assert not any("context" in row.get("expected", {}) for row in rows)


@pytest.fixture
def saved(tmp_path):
    """A project whose baseline and answers lie in `kept`."""
    with ChatServer(right) as server:
        write_project(tmp_path, server.url)
        session = run_session(tmp_path, "--baseline", "none", "--stop", "off")
    run_command(tmp_path, "baseline", "save", str(session), "--out", "kept")
    return tmp_path


def compared(folder, more="", cases=CASES, baseline="kept", code=1):
    """The summary of a run in which eight cases fail, compared with what is kept."""
    with ChatServer(wrong_on(*range(8))) as server:
        write_project(folder, server.url, more=more, cases=cases)
        done = gate(folder, "run", "--baseline", baseline, "--stop", "off")
    assert done.returncode == code, done.stdout + done.stderr
    session = max((folder / "results").glob("session-*"), key=lambda path: path.stat().st_mtime_ns)
    return session, summary_of(session)


def test_a_failing_case_says_what_was_expected_what_came_before_and_what_comes_now(saved):
    assert sorted(path.name for path in (saved / "kept").iterdir()) == [
        "s.answers.jsonl.gz",
        "s.json",
    ]
    session, summary = compared(saved)
    texts = summary["suites"]["s"]["texts"]
    assert list(texts) == [f"c{n}" for n in range(8)]
    why = "expected 'yes', got 'no'"
    answers = {"expected": "yes", "was": "yes", "now": "no"}
    assert texts["c0"] == {"asked": "q0", **answers, "failed": True, "why": why}
    assert {one.case_id for one in read_beside(session, "s")} == {f"c{n}" for n in range(12)}
    again = {path: path.read_bytes() for path in session.rglob("*") if path.is_file()}
    run_command(saved, "report", str(session))
    assert {path: path.read_bytes() for path in again} == again


def test_an_answer_to_another_question_is_not_shown(saved):
    changed = [{**case, "input": f"q{n} now"} if n == 0 else case for n, case in enumerate(CASES)]
    with ChatServer(lambda question, nth: "no") as server:
        write_project(saved, server.url, cases=changed)
        gate(saved, "run", "--baseline", "kept", "--stop", "off")
    session = max((saved / "results").glob("session-*"), key=lambda path: path.stat().st_mtime_ns)
    texts = summary_of(session)["suites"]["s"]["texts"]
    assert (texts["c0"]["was"], texts["c1"]["was"]) == (None, "yes")


def test_old_baselines_have_no_stored_answer_and_broken_files_cost_no_verdict(saved):
    file = saved / "kept" / "s.answers.jsonl.gz"
    file.write_bytes(b"damaged")
    _, broken = compared(saved)
    assert broken["suites"]["s"]["texts"]["c0"]["was"] is None
    assert [note for note in broken["notes"] if "no stored answers" in note] == [
        "suite s: no stored answers of the base branch: the answers beside "
        "kept/s.json: not readable as answers of a baseline "
        "(Not a gzipped file (b'da'))"
    ]
    file.unlink()
    _, old = compared(saved)
    assert old["suites"]["s"]["texts"]["c0"]["was"] is None
    assert not [note for note in old["notes"] if "stored answers" in note]
    assert old["outcome"] == broken["outcome"] == "fail"


def test_nothing_is_shown_or_kept_where_answers_are_off(saved):
    session, summary = compared(saved, more="report: {answers: false}")
    assert summary["shows_answers"] is False
    answers = {"expected": "", "was": None, "now": "no"}
    told = {"asked": "q0", **answers, "failed": True, "why": ""}
    assert summary["suites"]["s"]["texts"]["c0"] == told
    assert list(read_beside(session, "s")) == []
    _, summary = compared(saved, more="baseline: {answers: off}")
    assert summary["suites"]["s"]["texts"]["c0"]["was"] is None


def test_a_session_as_baseline_has_its_own_answers(saved):
    first = min((saved / "results").glob("session-*"), key=lambda path: path.stat().st_mtime_ns)
    _, summary = compared(saved, baseline=str(first))
    assert summary["suites"]["s"]["texts"]["c3"]["was"] == "yes"


@pytest.mark.parametrize(
    ("mode", "more", "env", "kept"),
    [
        ("artifact", ("--out", "elsewhere"), {}, True),
        ("artifact", (), {}, False),  # it lies in the repository
        ("artifact", (), {"CI": "true"}, True),  # the checkout has none: it becomes an artifact
        ("repo", (), {}, True),
        ("off", ("--out", "elsewhere"), {}, False),
    ],
)
def test_answers_are_kept_where_the_baseline_goes(saved, mode, more, env, kept):
    git(saved, "init", "-q", "-b", "main")
    (saved / "gate.yml").write_text(
        (saved / "gate.yml").read_text() + f"baseline: {{answers: {mode}, branch: main}}\n"
    )
    session = next((saved / "results").glob("session-*"))
    run_command(saved, "baseline", "save", str(session), *more, env=env)
    folder = saved / (more[1] if more else "baselines")
    assert (folder / "s.json").exists()
    assert (folder / "s.answers.jsonl.gz").exists() is kept


def test_pull_fetches_both_files(saved):
    run_command(saved, "baseline", "pull", "--baseline", "kept", "--out", "got")
    for name in ("s.json", "s.answers.jsonl.gz"):
        assert (saved / "got" / name).read_bytes() == (saved / "kept" / name).read_bytes()
