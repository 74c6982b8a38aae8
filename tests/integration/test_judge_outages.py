"""A judge that is out takes only its own metrics with it, and is asked again by a resumed run."""

import json
import re
import time

import pytest

from tests.support.chat_server import ChatServer
from tests.support.in_process import gate
from tests.support.rule_judge import reply_by_rules, rule_judge
from tests.support.session_files import told_session, told_summary

CASES = [
    {"id": f"c{n}", "input": f"What is {n}?", "expected_answer": str(n), "context": str(n)}
    for n in range(6)
]
AGENT = """
def answer(case):
    with open("asked.log", "a") as log:
        print(case["id"], file=log)
    return {"answer": case["expected_answer"], "context": case["context"]}

def broken(case):
    return {"answer": "it is 4711", "context": case["context"]}
"""
NOBODY = "http://127.0.0.1:9"
JUDGED = [
    "correctness.factual_correctness",
    "correctness.reference_coverage",
    "correctness.faithfulness",
]


def late(question, nth):
    time.sleep(0.6)
    return "{}"


OUT = {
    "500": lambda question, nth: (500, {}, {"error": "boom"}),
    "529": lambda question, nth: (529, {}, {"error": "overloaded"}),
    "429": lambda question, nth: (429, {"Retry-After": "30"}, {"error": "slow down"}),
    "html": lambda question, nth: (200, {"Content-Type": "text/html"}, b"<html>Sign in</html>"),
    "late": late,
}


def project(folder, url, *, more="", judge="{rubric: answer}", agent="answer"):
    (folder / "agent.py").write_text(AGENT)
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: python, callable: "./agent.py:{agent}", concurrency: 8}}
judge: {{type: openai, base_url: "{url}", model: rules, timeout_s: 0.3, concurrency: 8}}
suites:
  - name: s
    dataset: cases.jsonl
    graders: [exact_match, {{judge: {judge}}}]
    rounds: 1
protect: false
{more}
"""
    )


@pytest.fixture
def main(tmp_path):
    """The session of a run whose judge is there."""
    with rule_judge() as judge:
        project(tmp_path, judge.url)
        return told_session(gate(tmp_path, "run", "--baseline", "none"))


@pytest.mark.parametrize("how", OUT)
def test_what_no_judge_was_there_for_is_missing_and_all_else_is_judged(tmp_path, main, how):
    with ChatServer(OUT[how], read=json.dumps) as judge:
        project(tmp_path, judge.url)
        done = gate(tmp_path, "run", "--baseline", main)
    found = told_summary(tmp_path, done)
    rows = {row["metric"]: row for row in found["comparisons"]}
    assert (found["outcome"], done.returncode) == ("pass", 0), done.stdout
    assert rows["agent.success_rate"]["status"] == "no_regression"
    for name in JUDGED:
        assert rows[name]["status"] == "missing"
        assert rows[name]["reason"].startswith("judge unreachable: ")


@pytest.mark.parametrize(
    "more",
    [
        "gates: {correctness.faithfulness: {min: 4}}",
        "regression: {metrics: {correctness.faithfulness: {}}}",
    ],
)
@pytest.mark.parametrize("missing", ["fail", "pass"])
def test_a_blocking_metric_that_no_judge_was_there_for_is_an_error(tmp_path, main, more, missing):
    project(tmp_path, NOBODY, more=f"{more}\npolicy: {{missing_metric: {missing}}}")
    done = gate(tmp_path, "run", "--baseline", main)
    found = told_summary(tmp_path, done)
    assert (found["outcome"], done.returncode) == ("error", 6)
    assert "correctness.faithfulness is missing: judge unreachable: " in found["reason"]
    assert found["suites"]["s"]["trials"] == len(CASES)
    rows = {row["metric"]: row for row in found["comparisons"]}
    assert rows["agent.success_rate"]["status"] == "no_regression"


@pytest.mark.parametrize("baseline", ["none", "main"])
def test_success_that_a_judge_decides_is_its_own_metric(tmp_path, main, baseline):
    least = "{rubric: answer, least: {faithfulness: 4}}"
    project(tmp_path, NOBODY, judge=least, more="policy: {no_baseline: warn}")
    done = gate(tmp_path, "run", "--baseline", main if baseline == "main" else "none")
    found = told_summary(tmp_path, done)
    assert (found["outcome"], done.returncode) == ("error", 6), done.stdout
    assert "agent.success_rate is missing: judge unreachable" in found["reason"]


def test_what_got_worse_without_the_judge_is_still_a_fail(tmp_path, main):
    gates = (
        "gates: {agent.success_rate: {min: 0.9, rule: point}, correctness.faithfulness: {min: 4}}"
    )
    project(tmp_path, NOBODY, more=gates, agent="broken")
    done = gate(tmp_path, "run", "--baseline", main)
    assert (told_summary(tmp_path, done)["outcome"], done.returncode) == ("fail", 1)


@pytest.mark.parametrize("how", ["500", "529", "late"])
def test_a_judge_that_was_out_is_asked_again_by_a_resumed_run(tmp_path, how):
    """The agent is not: its answers were in the log before they went to the judge."""
    state = {"reply": OUT[how]}
    with ChatServer(lambda q, n: state["reply"](q, n), read=json.dumps) as judge:
        gates = "gates: {correctness.faithfulness: {min: 4}}"
        project(tmp_path, judge.url, more=gates)
        out = gate(tmp_path, "run", "--baseline", "none")
        state["reply"] = reply_by_rules
        again = gate(tmp_path, "run", "--baseline", "none", "--resume", told_session(out))
    assert out.returncode == 6
    assert again.returncode == 0, again.stdout
    assert (
        told_summary(tmp_path, again)["suites"]["s"]["metrics"]["correctness.faithfulness"]["n"]
        == 6
    )
    asked = (tmp_path / "asked.log").read_text().split()
    assert sorted(asked) == [case["id"] for case in CASES]


def test_numbers_that_no_verifier_was_there_for_are_no_hallucinations(tmp_path, main):
    """The grader counts what nobody verified; a verifier that is out says nothing."""
    rules = "regression: {metrics: {operational.hallucination_rate: {}}}"
    with ChatServer(OUT["500"], read=json.dumps) as judge:
        project(tmp_path, judge.url, more=rules, agent="broken")
        text = (tmp_path / "gate.yml").read_text().replace("exact_match, ", "hallucination, ")
        (tmp_path / "gate.yml").write_text(text)
        done = gate(tmp_path, "run", "--baseline", "none")
    found = told_summary(tmp_path, done)
    assert found["outcome"] == "error", done.stdout
    assert "agent.success_rate" not in found["reason"], "no grader decides"
    assert "operational.hallucination_rate is missing: judge unreachable" in found["reason"]


REPORTS = ("comment.md", "report.md", "report.html")


@pytest.mark.parametrize(
    ("more", "outcome"),
    [("", "pass"), ("gates: {correctness.faithfulness: {min: 4}}", "error")],
)
def test_every_report_says_that_the_judge_was_out_and_none_that_data_are_few(
    tmp_path, main, more, outcome
):
    """Six calls are too few for a p95 and a p99, and for nothing else here."""
    project(tmp_path, NOBODY, more=more)
    done = gate(tmp_path, "run", "--baseline", main)
    session = tmp_path / told_session(done)
    assert told_summary(tmp_path, done)["outcome"] == outcome
    said = {name: (session / name).read_text("utf-8") for name in REPORTS}
    for name, text in {**said, "terminal": done.stdout}.items():
        whole = [" ".join(text.split())] if name == "terminal" else text.splitlines()
        lines = [line for line in whole if "correctness.faithfulness" in line]
        assert any("judge unreachable" in line.lower() for line in lines), name
        few = re.finditer("too few data", text)
        assert all("latency_ms" in text[: one.start()][-300:] for one in few), name
        assert "not measured any more" not in text.lower(), name
