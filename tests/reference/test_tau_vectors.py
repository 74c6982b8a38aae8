"""tau-bench's own historical run and tau2's own tasks: published figures come out again."""

import json
import os
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.graders.tool_calling.reference import read_reference
from gate.plugins import IMPORTERS
from tests.support.in_process import gate

REAL = os.environ.get("GATE_REAL_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(REAL is None, reason="GATE_REAL_DATA names no folder of real data"),
]
FOLDER = Path(REAL or ".") / "tau-bench"


def rebuilt(tmp_path: Path) -> Path:
    """The 200 rows of gpt-4o on airline, which are kept as their rewards, in tau-bench's form."""
    kept = json.loads((FOLDER / "gpt-4o-airline.rewards.json").read_text())["results"]
    rows = [
        {key: row[key] for key in ("task_id", "trial", "reward")}
        | {"info": {"user_cost": row["user_cost"]}, "traj": []}
        for row in kept
    ]
    file = tmp_path / "gpt-4o-airline.json"
    file.write_text(json.dumps(rows))
    return file


def test_the_published_pass_k_of_gpt_4o_on_airline_come_out_again(tmp_path):
    file = rebuilt(tmp_path)
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: command, command: [x]}\n"
        "suites: [{name: other, dataset: d.jsonl, graders: [exact_match]}]\n"
        "gates: {tau.pass^4: {min: 0.1}, tau.pass^1: {min: 0.3}}\n"
    )
    made = gate(tmp_path, "import", "tau-bench", file.name, "--config", "gate.yml")
    assert made.returncode == 0, made.stderr
    (summary,) = tmp_path.glob("results/session-*/summary.json")
    told = json.loads(summary.read_text())
    metrics = told["suites"]["tau-airline"]["metrics"]
    expected = json.loads((FOLDER / "gpt-4o-airline.rewards.json").read_text())["expected"]
    for k, value in expected["pass_hat_k"].items():
        assert metrics[f"tau.pass^{k}"]["value"] == pytest.approx(value)
        if f"agent.pass^{k}" in metrics:
            assert metrics[f"agent.pass^{k}"]["value"] == pytest.approx(value)
    assert metrics["tau.reward"]["value"] == pytest.approx(expected["avg_reward"])
    assert metrics["agent.success_rate"]["value"] == pytest.approx(0.42)
    gates = {one["metric"]: one["status"] for one in told["gates"]}
    assert gates == {"tau.pass^4": "pass", "tau.pass^1": "pass"}


def test_whole_rows_have_steps_codes_and_costs():
    file = FOLDER / "gpt-4o-airline.sample.json"
    rows = json.loads(file.read_text())
    found = IMPORTERS.get_class("tau-bench")().read(file)
    trials = list(found.trials())
    assert [*found.suites] == ["tau-airline"]
    assert len(trials) == len(rows) == 16
    for row, trial in zip(rows, trials, strict=True):
        own = trial.attempt
        calls = sum(len(m.get("tool_calls") or ()) for m in row["traj"])
        assert len(own.response.steps) == calls
        assert own.passed is (row["reward"] == 1.0)
        assert own.scores["tau-bench"].values["tau.user_cost"] == row["info"]["user_cost"]
        assert own.response.trace_faults == ()
        assert bool(own.failures) is not own.passed
        assert read_reference(trial.case.keys.get("reference_trajectory", []))
    cut = [t.attempt.failures for t in trials if "not_finished" in t.attempt.failures]
    assert len(cut) == 3


def test_the_reduced_file_is_none_of_tau_bench():
    with pytest.raises(UsageError, match="not a list of rows"):
        IMPORTERS.get_class("tau-bench")().read(FOLDER / "gpt-4o-airline.rewards.json")


@pytest.mark.parametrize(
    ("name", "number"), [("tau2-mock-tasks.json", 9), ("tau2-airline-tasks.sample.json", 6)]
)
def test_every_task_of_tau2_is_a_case(name, number):
    file = FOLDER / name
    tasks = json.loads(file.read_text())
    found = IMPORTERS.get_class("tau2")().read(file)
    cases = list(found.cases())
    assert [case.id for case in cases] == [task["id"] for task in tasks]
    assert len(cases) >= number
    for case, task in zip(cases, tasks, strict=True):
        assert case.input
        actions = (task.get("evaluation_criteria") or {}).get("actions") or []
        mine = [a for a in actions if a.get("requestor", "assistant") == "assistant"]
        reference = case.keys.get("reference_trajectory", [])
        assert [step["name"] for step in reference] == [a["name"] for a in mine]
        if reference:
            assert len(read_reference(reference).wanted) == len(mine)


def test_each_file_of_the_folder_is_recognised_or_known_to_be_reduced():
    names = {file.name for file in FOLDER.iterdir()}
    assert names == {
        *("gpt-4o-airline.rewards.json", "gpt-4o-airline.sample.json"),
        *("tau2-mock-tasks.json", "tau2-airline-tasks.sample.json"),
    }
