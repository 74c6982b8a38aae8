"""What a dataset expects, and what the base branch answered, beside what an agent answers now."""

import pytest

from tests.support.chat_server import ChatServer
from tests.support.grading_project import write_answers, write_grading_project
from tests.support.in_process import gate, run_session
from tests.support.paths import DATA
from tests.support.session_files import details_of
from tests.support.yes_project import right, write_project, wrong_on

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
        assert ("expected: kept dark" in done.stdout) is not bool(dark)


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
