"""`gate calibrate` with the sample agent, whose answers can be made to vary."""

import json

from tests.support.in_process import gate
from tests.support.paths import ANALYTICS
from tests.support.session_files import sessions_in


def configure(folder, flaky, seed):
    with ANALYTICS.open(encoding="utf-8") as cases:
        (folder / "cases.jsonl").write_text("".join(list(cases)[:30]), encoding="utf-8")
    (folder / "gate.yml").write_text(
        f"""version: 1
agent: {{type: sample, options: {{flaky: {flaky}, seed: {seed}}}}}
suites:
  - {{name: analytics, dataset: cases.jsonl, graders: [facts, retrieval], rounds: 4}}
protect: false
"""
    )


def calibrated(folder, *arguments):
    done = gate(folder, "calibrate", *arguments, "--reps", "100", "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done


def test_the_agent_is_asked_after_the_number_of_calls_was_told(tmp_path):
    configure(tmp_path, flaky=0.3, seed=1)
    found, done = calibrated(tmp_path, "--runs", "2")
    first = done.stderr.splitlines()[0]
    assert "asks the agent 240 times: 2 runs of 120 calls (no budget.usd is set)" in first
    recorded = sessions_in(tmp_path)
    assert len(recorded) == 2
    assert found["shapes"][0]["recorded"] == 8
    assert found["splits"]["blocked"]["share"] <= 0.05
    assert found["splits"]["untested"]["share"] > 0.15
    again, _ = calibrated(tmp_path, *map(str, recorded))
    assert again == found


def test_the_budget_holds_for_all_runs_together(tmp_path):
    configure(tmp_path, flaky=0.3, seed=1)
    priced = "pricing: {sample-analytics-1: {input: 1000, output: 0}}\nbudget: {usd: 130}\n"
    (tmp_path / "gate.yml").write_text((tmp_path / "gate.yml").read_text() + priced)
    found, done = calibrated(tmp_path, "--runs", "3")
    told = [line for line in done.stderr.splitlines() if line.startswith("gate calibrate:")]
    assert "(at most $130.00)" in told[0]
    assert told[-1] == "gate calibrate: the budget is used up after run 2 of 3"
    assert 4 < found["shapes"][0]["recorded"] < 8


def test_a_day_on_which_the_agent_was_worse_is_seen_run_by_run_alone(tmp_path):
    for seed, flaky in enumerate((0.2, 0.2, 0.9, 0.2)):
        configure(tmp_path, flaky, seed)
        done = gate(tmp_path, "run", "--baseline", "none", "--out", f"results/{seed}")
        assert done.returncode == 0, done.stderr
    days = sorted(map(str, (tmp_path / "results").glob("*/session-*")))
    found, _ = calibrated(tmp_path, *days)
    assert found["splits"]["blocked"]["share"] <= 0.05
    assert found["by_run"]["drifts"]
    blocked = [run["run"] for run in found["by_run"]["runs"] if run["blocked"]]
    assert [run in days[2] for run in blocked] == [True]
    assert any(
        "was made with other settings than the one before it: agent options" in n
        for n in found["notes"]
    )
