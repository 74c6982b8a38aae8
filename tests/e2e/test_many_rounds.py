"""Ten rounds a case: reliability, cost and what flaky cases did before, from the command line."""

import json

import pytest

from tests.support.in_process import run_command, run_session, save_baseline
from tests.support.session_files import details_of, summary_of

CASES = 12
AGENT = """
import threading

lock, asked = threading.Lock(), {}

def agent(case):
    n = int(case["id"])
    with lock:
        turn = asked[n] = asked.get(n, 0) + 1
    right = n >= 3 or (n > 0 and turn % n == 0)
    usage = {"input_tokens": 1000, "cached_tokens": 400, "output_tokens": 300,
             "reasoning_tokens": 100}
    return {"answer": "yes" if right else "no", "usage": usage, "model": MODEL, "steps": []}
"""


def write(folder, model="'known'", more=""):
    rows = [
        {"id": str(n), "input": "?", "expected_answer": "yes", "category": "ab"[n % 2]}
        for n in range(CASES)
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "agent.py").write_text(AGENT.replace("MODEL", model))
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: python, callable: "./agent.py:agent", concurrency: 1}}
pricing:
  known: {{input: 1.0, cached_input: 0.5, output: 2.0, reasoning: 4.0}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 10}}
{more}
"""
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ten")
    write(folder)
    return folder, run_session(folder, "--baseline", "none")


def test_every_measure_of_reliability_is_there(project):
    _, session = project
    suite = summary_of(session)["suites"]["s"]
    values = {name: metric["value"] for name, metric in suite["metrics"].items()}
    assert suite["trials"] == 10 * CASES
    assert suite["reliability"] == {
        "rounds": 10,
        "reliable": CASES - 2,
        "flaky": 1,
        "consistently_failing": 1,
    }
    assert values["agent.reliable_rate"] == pytest.approx((CASES - 2) / CASES)
    assert values["agent.consistently_failing_rate"] == pytest.approx(1 / CASES)
    assert values["agent.flip_rate"] == pytest.approx(2 * 5 * 5 / 90 / CASES)
    assert values["agent.pass^10"] == values["agent.reliable_rate"]
    assert values["agent.pass@10"] == pytest.approx((CASES - 1) / CASES)
    assert values["agent.pass^5"] == pytest.approx((CASES - 2 + 1 / 252) / CASES)
    assert values["agent.score_spread"] > 0.0
    assert "agent.pass^20" not in values


def test_cost_is_told_per_task_per_success_and_by_category(project):
    _, session = project
    suite = summary_of(session)["suites"]["s"]
    each = (600 * 1.0 + 400 * 0.5 + 200 * 2.0 + 100 * 4.0) / 1e6
    values = {name: metric["value"] for name, metric in suite["metrics"].items()}
    assert values["agent.cost_per_task"] == pytest.approx(each)
    assert values["agent.cost_per_success"] == pytest.approx(each / values["agent.success_rate"])
    assert values["operational.cached_tokens"] == 400
    assert values["operational.reasoning_tokens"] == 100
    first, second = suite["categories"]
    assert (first["category"], first["cases"], first["trials"]) == ("a", 6, 60)
    assert first["cost_per_success"] == pytest.approx(each / first["success_rate"])
    assert second["success_rate"] == 1.0
    assert summary_of(session)["cost"]["usd"] == pytest.approx(each * 10 * CASES)


def test_flaky_cases_have_their_history_and_an_early_end_is_no_obstacle(project):
    folder, session = project
    save_baseline(folder, session)
    again = run_session(folder, "--baseline", "baselines", "--stop", "early")
    found = summary_of(again)
    assert found["comparisons"]
    flaky = {case["case_id"]: case["history"] for case in found["cases"]["flaky"]}
    assert flaky == {"2": [[5, 10]]}
    whole = run_session(folder, "--baseline", "baselines", "--stop", "off")
    rows = {row["metric"]: row["status"] for row in summary_of(whole)["comparisons"]}
    for name in ("agent.pass^10", "agent.flip_rate", "agent.cost_per_success"):
        assert rows[name] == "no_regression"


def test_a_limit_on_cost_does_not_pass_while_a_model_has_no_price(tmp_path):
    gates = "gates: {agent.cost_per_task: {max: 1.0}, agent.cost_per_success: {max: 1.0}}"
    write(tmp_path, "'known' if n < 8 else 'dear'", gates)
    failed = run_command(tmp_path, "run", "--baseline", "none", code=1)
    assert "the cost of 33 % of the answers is not known" in failed.stdout
    found = json.loads(next(tmp_path.glob("results/*/summary.json")).read_text())
    assert {gate["status"] for gate in found["gates"]} == {"missing"}
    assert found["cost"]["unknown_models"] == ["dear"]
    assert found["cost"]["unknown_trials"] == 40
    assert sum(one["unknown_cost"] for one in found["suites"]["s"]["categories"]) == 40


def test_rows_keep_an_unknown_cost_unknown(project, tmp_path):
    write(tmp_path, "'dear'")
    session = run_session(tmp_path, "--baseline", "none")
    assert {row["cost_usd"] for row in details_of(session)} == {None}
    metrics = summary_of(session)["suites"]["s"]["metrics"]
    assert metrics["agent.cost_per_task"]["value"] is None
    assert metrics["agent.cost_per_success"]["value"] is None
