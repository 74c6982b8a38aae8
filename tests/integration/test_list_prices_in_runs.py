"""A run whose agent says which common model answered, and nothing about money."""

import json
import re

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
    note = (
        "Price of gpt-4o: list price read on 2026-08-05 from developers.openai.com/api/docs/pricing"
    )
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
    assert "the cost of a vote of the judge 'mine' is unknown" in refused
    assert "`pricing: {mine: {input: 2.50, output: 10.00}}`" in refused


def said_by(folder, *arguments, code=0):
    done = run_command(folder, *arguments, code=code)
    return " ".join((done.stdout + done.stderr).replace("`", "").split())


def dry_run(folder, *more):
    return said_by(folder, "run", "--dry-run", *more)


def test_a_dry_run_tells_the_judges_calls_and_dollars(project):
    folder = judged(project("gpt-4o"), "gpt-4o-mini")
    before = dry_run(folder)
    assert "cost of the agent's planned calls: unknown" in before
    assert "judge: python gpt-4o-mini, up to 5 calls, cost unknown" in before
    run(folder)
    told = dry_run(folder)
    assert "cost of the agent's planned calls: about $0.018, as in the newest session here" in told
    assert "up to 5 calls, about $0.0017, as in the newest session here" in told
    assert "together about $0.019 for the planned calls" in told
    for model in ("gpt-4o", "gpt-4o-mini"):
        assert f"Price of {model}: list price read on 2026-08-05 from developers" in told
    assert "gate run ends" not in dry_run(folder, "--budget-usd", "1")


def test_a_dry_run_and_validate_tell_at_which_unknown_cost_a_budget_ends_the_run(project):
    folder = judged(project("mine", "budget: {usd: 1}\n"), "other")
    ends = "is unknown, so gate run ends at the first"
    first = f"the price of the agent's model 'mine' {ends} answer that does not report its cost"
    second = f"the price of the judge's model 'other' {ends} vote that does not report its cost"
    for told in (dry_run(folder), said_by(folder, "validate")):
        assert first in told
        assert second in told
    folder = project("gpt-4o", "budget: {usd: 1}\n")
    assert "gate run ends" not in said_by(folder, "validate") + dry_run(folder)


def test_validate_refuses_the_budget_that_a_run_refuses_before_it_asks(project):
    folder = project("mine", "budget: {usd: 1}\n")
    config = folder / "gate.yml"
    agent = 'type: openai, base_url: "https://api.openai.com"'
    text = config.read_text("utf-8").replace('type: python, callable: "./agent.py:answer"', agent)
    config.write_text(text, encoding="utf-8")
    for command in (("validate",), ("run", "--dry-run")):
        told = said_by(folder, *command, code=2)
        assert "api.openai.com does not report what an answer costs" in told


def test_another_price_or_model_than_the_baselines_is_planned_for(project):
    folder = project("gpt-4o")
    _, session = run(folder)
    run_command(folder, "baseline", "save", str(session))
    assert "cost: $0.035" in said_by(folder, "plan")
    project("gpt-4o", "pricing: {gpt-4o: {input: 25, output: 100}}\n")
    for told in (said_by(folder, "plan"), said_by(folder, "plan", str(session))):
        assert "cost: $0.35" in told
        assert "at today's price of gpt-4o; a call cost $0.0035 there, at another price" in told
    assert "about $0.18, as in the baseline" in dry_run(folder)
    project("gpt-4o-mini")
    told = said_by(folder, "plan")
    assert "cost: $0.0021" in told
    assert "as it asked python ./agent.py:answer gpt-4o" in told
    project("mine")
    told = said_by(folder, "plan")
    assert "(cost: unknown)" in told
    assert "the price of mine is unknown: write it into pricing" in told
    assert "cost of the agent's planned calls: unknown" in dry_run(folder)


def test_a_plan_without_a_baseline_costs_what_the_newest_session_cost(project):
    folder = judged(project("gpt-4o"), "gpt-4o-mini")
    run(folder)
    told = said_by(folder, "plan")
    assert "$0.0035 a call, as in the newest session here" in told
    assert "the cost includes the judge's: $0.00033 a trial, as in the newest session here" in told
    assert "(cost: $0.038)" in told
    run(folder, "--budget-usd", "0.005")
    told = said_by(folder, "plan")
    assert re.search(r"\$0.0035 a call, as in \d trials of the newest session here", told)
    folder = judged(project("mine"), "gpt-4o-mini")
    run(folder)
    told = said_by(folder, "plan")
    assert "the cost includes" not in told
    assert "the whole cost is unknown, as the agent's is" in told
