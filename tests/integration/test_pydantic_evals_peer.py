"""Reports that pydantic-evals itself writes: its own averages are what the import comes to.

GATE_PEERS names a folder with an environment `pydantic-evals` that has pydantic-evals (2.62.0).
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gate.plugins import IMPORTERS
from tests.support.in_process import gate

PYTHON = Path(os.environ.get("GATE_PEERS", "")) / "pydantic-evals" / "bin" / "python"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        not (os.environ.get("GATE_PEERS") and PYTHON.is_file()),
        reason="GATE_PEERS names no folder with pydantic-evals/bin/python",
    ),
]

EXPERIMENT = """
import asyncio, json, sys
from dataclasses import dataclass
from pathlib import Path
from pydantic_evals import Case, Dataset, increment_eval_metric
from pydantic_evals.evaluators import EvaluationReason, Evaluator
from pydantic_evals.reporting import EvaluationReportAdapter

@dataclass
class Right(Evaluator):
    def evaluate(self, ctx):
        return EvaluationReason(ctx.expected_output in ctx.output, "looked for it")

@dataclass
class Length(Evaluator):
    def evaluate(self, ctx):
        return len(ctx.output)

@dataclass
class Mood(Evaluator):
    def evaluate(self, ctx):
        return {"polite": True, "tone": "calm", "share": 0.25}

@dataclass
class Broken(Evaluator):
    def evaluate(self, ctx):
        if "4" in ctx.inputs:
            raise RuntimeError("the judge is down")
        return True

async def agent(question):
    if "2" in question:
        raise KeyError("no such item")
    increment_eval_metric("lookups", len(question))
    return f"The code is {question[-1]}"

dataset = Dataset(
    name="codes",
    cases=[
        Case(name=f"c{n}", inputs=f"item {n}", expected_output="x" if n == 3 else str(n))
        for n in range(1, 5)
    ],
    evaluators=[Right(), Length(), Mood(), Broken()],
)
told = {}
for repeat in (1, 3):
    report = asyncio.run(dataset.evaluate(agent, progress=False, repeat=repeat))
    file = Path(sys.argv[1]) / f"{repeat}.json"
    file.write_bytes(EvaluationReportAdapter.dump_json(report))
    mean = report.averages()
    told[repeat] = {**mean.scores, **{f"metric.{k}": v for k, v in mean.metrics.items()}}
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The folder with a report of one run and one of three, and their averages."""
    folder = tmp_path_factory.mktemp("reports")
    done = subprocess.run(
        [PYTHON, "-c", EXPERIMENT, str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return folder, json.loads(done.stdout)


@pytest.mark.parametrize("repeat", ["1", "3"])
def test_its_averages_are_ours(reports, tmp_path, repeat):
    folder, told = reports
    options = ("--at", "2026-05-12T14:30:52Z", "--out", str(tmp_path / "out"))
    done = gate(tmp_path, "import", "pydantic-evals", str(folder / f"{repeat}.json"), *options)
    assert done.returncode == 0, done.stdout + done.stderr
    (summary,) = (tmp_path / "out").glob("*/summary.json")
    suite = json.loads(summary.read_text())["suites"]["codes"]
    ours = {name: one["value"] for name, one in suite["metrics"].items()}
    named = {f"pydantic_evals.{name.lower()}": value for name, value in told[repeat].items()}
    assert {name: ours[name] for name in named} == pytest.approx(named)
    assert ours["agent.success_rate"] == pytest.approx(1 / 3), "c1 of c1, c2, c3; c4 is open"


def test_every_run_is_there_once_and_nothing_that_failed_is_lost(reports):
    folder, _ = reports
    found = IMPORTERS.get_class("pydantic-evals")().read(folder / "3.json")
    told = {(one.case.id, one.round): one.attempt for one in found.trials()}
    assert len(told) == 12
    broken = told["c2", 3]
    assert (broken.status, broken.error) == ("agent_error", "KeyError: 'no such item'")
    assert told["c3", 1].failures == ("assertion_failed:Right",)
    assert told["c3", 1].scores["pydantic_evals.right"].reason == "looked for it"
    unsure = told["c4", 2]
    assert unsure.passed is None
    assert unsure.scores["pydantic_evals.failed.broken"].unscored == (
        "RuntimeError: the judge is down"
    )
    assert told["c1", 1].passed
    assert told["c1", 1].response.answer == "The code is 1"
