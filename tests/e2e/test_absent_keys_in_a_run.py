"""What a run says of cases that a grader leaves out because they lack its key."""

import json

from tests.support.in_process import run_session
from tests.support.session_files import details_of, summary_of

CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer"}
suites:
  - {name: s, dataset: cases.jsonl, graders: [exact_match, contains: {text: a}], rounds: 1}
"""


def test_the_report_says_how_many_and_the_others_judge_them(tmp_path):
    (tmp_path / "gate.yml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text("def answer(case):\n    return 'a'\n")
    cases = [{"id": "c0", "input": "q", "expected_answer": "a"}]
    cases += [{"id": f"c{n}", "input": "q"} for n in (1, 2)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    session = run_session(tmp_path, "--baseline", "none")
    report = summary_of(session)
    (note,) = [note for note in report["notes"] if "does not score 2 of 3 cases" in note]
    assert note.startswith("cases.jsonl:2: 'expected_answer' is missing in this case and in 1 more")
    assert "does not score 2 of 3 cases" in (session / "comment.md").read_text("utf-8")
    assert report["suites"]["s"]["metrics"]["correctness.exact_match"]["n"] == 1
    assert {row["case_id"]: row["passed"] for row in details_of(session)} == {
        case["id"]: True for case in cases
    }
