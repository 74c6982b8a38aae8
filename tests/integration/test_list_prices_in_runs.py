"""A run whose agent says which common model answered, and nothing about money."""

import json

import pytest

from tests.support.in_process import run_command

AGENT = """
def answer(question):
    usage = {"input_tokens": 1000, "output_tokens": 100}
    return {"answer": "yes", "model": "MODEL", "usage": usage}
"""
CONFIG = """version: 1
agent: {type: python, callable: "./agent.py:answer", model: MODEL}
suites: [{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 1}]
baseline: {answers: "off"}
"""
LISTED = "gpt-4o at the list price of 2026-08-05 (developers.openai.com/api/docs/pricing)"


@pytest.fixture
def project(tmp_path):
    def write(model, more=""):
        (tmp_path / "agent.py").write_text(AGENT.replace("MODEL", model))
        (tmp_path / "gate.yml").write_text(CONFIG.replace("MODEL", model) + more)
        cases = [{"id": f"c{n}", "input": f"q{n}", "expected_answer": "yes"} for n in range(5)]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
        return tmp_path

    return write


def run(folder, *options, code=0):
    told = run_command(folder, "run", *options, code=code)
    if code == 2:
        return told.stderr
    session = folder / told.stdout.splitlines()[-1].removeprefix("Session written to: ")
    return " ".join(told.stdout.split()), session


JUDGE = """
import json, re

def judge(case):
    canary = re.search("`canary`: ([0-9a-f]+)", case["instructions"])[1]
    scores = {name: {"reason": "good", "score": 5} for name in case["schema"]["properties"]}
    data = {**scores, "addressed_judge": False, "canary": canary}
    usage = {"input_tokens": 2000, "output_tokens": 50}
    return {"answer": json.dumps(data), "model": "MODEL", "usage": usage}
"""


def judged(folder, model):
    """The project with a judge of that model."""
    (folder / "judge.py").write_text(JUDGE.replace("MODEL", model))
    text = (folder / "gate.yml").read_text()
    text = text.replace("graders: [", "graders: [{judge: {rubric: quality}}, ")
    judge = f"judge: {{type: python, callable: './judge.py:judge', model: {model}}}\n"
    (folder / "gate.yml").write_text(text + judge)
    return folder


def test_every_report_says_which_list_price_and_of_which_day(project):
    told, session = run(project("gpt-4o-2024-08-06"))
    assert "$0.018" in told
    assert LISTED in told
    for name in ("report.md", "comment.md", "report.html"):
        plain = (session / name).read_text(encoding="utf-8").replace("&#8203;", "")
        assert "at the list price of 2026-08-05 (developers.openai.com/api/docs/pricing)" in plain
    cost = json.loads((session / "summary.json").read_text())["cost"]
    assert cost["usd"] == pytest.approx(5 * (1000 * 2.5 + 100 * 10.0) / 1e6)
    assert cost["listed"] == [
        {
            "model": "gpt-4o",
            "input": 2.5,
            "output": 10.0,
            "source": "developers.openai.com/api/docs/pricing",
            "read_on": "2026-08-05",
        }
    ]


def test_gate_yml_goes_before_it_and_an_unknown_model_stays_unknown(project):
    told, _ = run(project("gpt-4o", "pricing: {gpt-4o: {input: 1, output: 1}}\n"))
    assert "$0.0055" in told
    assert "list price" not in told
    told, session = run(project("gpt-4o-of-mine"))
    assert "cost unknown" in told
    cost = json.loads((session / "summary.json").read_text())["cost"]
    assert (cost["usd"], cost["listed"]) == (None, [])


def test_a_budget_holds_by_a_list_price_and_is_refused_without_any(project):
    told, _ = run(project("gpt-4o"), "--budget-usd", "0.01")
    assert "of the $0.010 budget" in told
    refused = run(project("mine"), "--budget-usd", "0.01", code=2)
    assert "`pricing: {mine: {input: 2.50, output: 10.00}}`" in refused


def test_plan_and_recorded_answers_have_it_too(project):
    folder = project("gpt-4o")
    _, session = run(folder)
    note = "gpt-4o costs what developers.openai.com/api/docs/pricing said on 2026-08-05"
    run_command(folder, "baseline", "save", str(session))
    for subject in ([], [str(session)]):
        told = " ".join(run_command(folder, "plan", *subject).stdout.split())
        assert note in told
        assert "cost: $0.035" in told
    run_command(folder, "run", "--record", "answers.jsonl")
    graded = run_command(folder, "grade", "answers.jsonl")
    assert LISTED in " ".join(graded.stdout.split())


def test_the_judge_is_in_the_cost_of_a_plan_and_in_the_budget(project):
    folder = judged(project("gpt-4o"), "gpt-4o-mini")
    told, session = run(folder)
    assert "gpt-4o, gpt-4o-mini at the list prices of 2026-08-05" in told
    cost = json.loads((session / "summary.json").read_text())["cost"]
    assert cost["judge_usd"] == pytest.approx(5 * (2000 * 0.15 + 50 * 0.6) / 1e6)
    run_command(folder, "baseline", "save", str(session))
    told = " ".join(run_command(folder, "plan").stdout.split())
    assert "the cost includes the judge's: $0.00033 a trial" in told
    assert "A run makes 10 calls at most (cost: $0.038)" in told
    refused = run(judged(project("gpt-4o"), "mine"), "--budget-usd", "1", code=2)
    assert "the cost of a vote of the judge is unknown" in refused
