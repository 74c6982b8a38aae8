"""AgentBench's shapes: the overall score of eight main metrics, runs, errors, real tasks."""

import json
import os
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.importers.formats.thudm.records import ENVIRONMENTS, environment_of
from gate.plugins import IMPORTERS
from tests.support.in_process import gate

REAL = os.environ.get("GATE_REAL_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(REAL is None, reason="GATE_REAL_DATA names no folder of real data"),
]
FOLDER = Path(REAL or ".") / "thudm-agentbench"


def samples():
    return json.loads((FOLDER / "overall_samples.json").read_text())


def test_the_weights_are_the_papers():
    expected = samples()["weight_inverse"]
    assert {code: one.weight for code, one in ENVIRONMENTS.items()} == expected


def test_the_overall_score_of_the_eight_environments(tmp_path):
    vectors = samples()
    for task, overall in vectors["overall_json"].items():
        folder = tmp_path / "out" / "gpt-4" / task
        folder.mkdir(parents=True)
        (folder / "overall.json").write_text(json.dumps(overall))
    (tmp_path / "gate.yml").write_text(
        "version: 1\nagent: {type: command, command: [x]}\n"
        "suites: [{name: other, dataset: d.jsonl, graders: [exact_match]}]\n"
        "gates: {thudm_agentbench.overall: {min: 3.5}}\npolicy: {missing_metric: warn}\n"
    )
    made = gate(tmp_path, "import", "thudm-agentbench", "out", "--config", "gate.yml")
    assert made.returncode == 0, made.stderr
    (summary,) = tmp_path.glob("results/session-*/summary.json")
    metrics = json.loads(summary.read_text())["suites"]["agentbench"]["metrics"]
    overall = metrics["thudm_agentbench.overall"]
    assert overall["value"] == pytest.approx(vectors["expected_overall_score"], abs=5e-5)
    assert overall["unit"] == "points"
    found = IMPORTERS.get_class("thudm-agentbench")().read(tmp_path / "out")
    main = {
        t.case.id: t.attempt.scores["thudm-agentbench"].values["thudm_agentbench.main"] * 100
        for t in found.trials()
    }
    assert main == pytest.approx(vectors["main_metric_percent"])


def test_runs_and_errors_of_the_documented_shape(tmp_path):
    folder = tmp_path / "m" / "os-dev"
    folder.mkdir(parents=True)
    for name in ("runs", "error"):
        (folder / f"{name}.jsonl").write_bytes((FOLDER / f"{name}.sample.jsonl").read_bytes())
    found = IMPORTERS.get_class("thudm-agentbench")().read(folder)
    own = [trial.attempt for trial in found.trials()]
    assert [(one.status, one.passed, one.failures) for one in own] == [
        ("completed", True, ()),
        ("completed", False, ("task_limit_reached", "inefficient")),
        ("infra_error", None, ("agent_failed",)),
    ]
    assert found.created_at == "2023-11-14T22:13:19Z"
    assert own[0].response.answer.endswith("Act: answer(1)")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("dbbench-dev.sample.jsonl", "DB"),
        ("kg-dev.sample.json", "KG"),
        ("os-dev.sample.json", "OS"),
    ],
)
def test_files_of_tasks_alone_are_no_results_and_belong_to_their_environment(name, code, tmp_path):
    """They hold questions and right answers; the benchmark writes neither into its results."""
    assert environment_of(name).code == code
    importer = IMPORTERS.get_class("thudm-agentbench")()
    with pytest.raises(UsageError, match="no folder"):
        importer.read(FOLDER / name)
