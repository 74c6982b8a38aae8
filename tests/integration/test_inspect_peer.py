"""Logs that Inspect itself writes: its own figures are what the import comes to.

GATE_PEERS names a folder with an environment `inspect-ai` that has inspect-ai (0.3.285).
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.plugins import IMPORTERS
from gate.records import Usage
from tests.support.in_process import gate
from tests.support.paths import ROOT

PYTHON = Path(os.environ.get("GATE_PEERS", "")) / "inspect-ai" / "bin" / "python"
pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(
        not (os.environ.get("GATE_PEERS") and PYTHON.is_file()),
        reason="GATE_PEERS names no folder with inspect-ai/bin/python",
    ),
]
Importer = IMPORTERS.get_class("inspect")

TASK = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, includes, mean, scorer
from inspect_ai.solver import generate, solver, use_tools
from inspect_ai.tool import tool

@tool
def lookup():
    async def execute(item: int):
        '''Look up a code.

        Args:
            item: its number
        '''
        return f"code-{item}"
    return execute

@scorer(metrics={"first": [mean()], "second": [mean()]})
def parts():
    async def score(state, target):
        return Score(value={"first": 0.5, "second": float(state.epoch)})
    return score

@scorer(metrics=[mean()])
def length():
    async def score(state, target):
        if state.sample_id == "s2":
            return Score.unscored(reason="grader_failed")
        return Score(value=len(state.output.completion))
    return score

@solver
def crash():
    async def solve(state, generate):
        if state.sample_id == "s3":
            raise ValueError("the solver broke")
        return state
    return solve

def answer(messages, tools, choice, config):
    number = int(messages[0].text.split()[-1])
    if messages[-1].role == "user":
        found = ModelOutput.for_tool_call("mockllm/model", "lookup", {"item": number})
    else:
        said = "I do not know" if number == 4 else messages[-1].text
        found = ModelOutput.from_content("mockllm/model", said)
    found.usage = ModelUsage(
        input_tokens=10, output_tokens=5, total_tokens=17, input_tokens_cache_read=2
    )
    return found

samples = [
    Sample(id=f"s{n}", input=f"What is item {n}", target=f"code-{n}") for n in range(1, 5)
] + [Sample(id=7, input="What is item 7", target="code-7")]
task = Task(
    name="codes",
    dataset=MemoryDataset(samples, name="items"),
    solver=[crash(), use_tools(lookup()), generate()],
    scorer=[includes(), parts(), length()],
    epochs=2,
    version=3,
)
model = get_model("mockllm/model", custom_outputs=answer)
(log,) = eval(
    task, model=model, display="none", log_dir=f"{sys.argv[1]}/eval", log_format="eval",
    fail_on_error=False, log_realtime=False,
)
write_eval_log(read_eval_log(log.location), f"{sys.argv[1]}/json/codes.json")
figures = {
    score.name if score.name == score.scorer else f"{score.scorer}.{score.name}":
    next(m.value for m in score.metrics.values() if m.name in ("accuracy", "mean"))
    for score in log.results.scores
}
print("FIGURES" + json.dumps(figures))
"""
# Run by Inspect's own Python, which has what unpacks zstd.
READ = """
import sys
from pathlib import Path
from gate.plugins import IMPORTERS
found = IMPORTERS.get_class("inspect")().read(Path(sys.argv[1]))
for trial in sorted(found.trials(), key=lambda one: (one.case.id, one.round)):
    attempt = trial.attempt
    values = {k: v for score in attempt.scores.values() for k, v in score.values.items()}
    steps = attempt.response.steps or ()
    print(trial.case.id, trial.round, attempt.status, attempt.passed, values, len(steps))
"""


def run(script, *arguments):
    done = subprocess.run(
        [PYTHON, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """The folder with both kinds of one log, and what Inspect says of it."""
    folder = tmp_path_factory.mktemp("logs")
    (folder / "json").mkdir()
    said = run(TASK, folder)
    return folder, json.loads(said.partition("FIGURES")[2])


def test_its_figures_are_ours(logs, tmp_path):
    folder, told = logs
    done = gate(tmp_path, "import", "inspect", str(folder / "json"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stdout + done.stderr
    (summary,) = (tmp_path / "out").glob("*/summary.json")
    report = json.loads(summary.read_text())
    (suite,) = report["suites"].values()
    ours = {name: one["value"] for name, one in suite["metrics"].items()}
    assert {name: ours[f"inspect.{name}"] for name in told} == pytest.approx(told)
    assert ours["agent.success_rate"] == pytest.approx(told["includes"] * 4 / 5), (
        "a sample that failed with an error is a failure here"
    )


def test_a_tool_using_agent_has_its_steps_tokens_and_time(logs):
    folder, _ = logs
    found = {
        (one.case.id, one.round): one.attempt for one in Importer().read(folder / "json").trials()
    }
    assert len(found) == 10
    one = found["s1", 2]
    assert [(call.name, call.arguments, call.result) for call in one.response.steps] == [
        ("lookup", {"item": 1}, "code-1")
    ]
    assert (one.response.turns, one.response.answer) == (2, "code-1")
    assert one.response.usage == Usage(input_tokens=24, cached_tokens=4, output_tokens=10)
    assert one.latency_ms is not None
    assert (found["s4", 1].passed, found["s4", 1].failures) == (False, ("incorrect",))
    assert found["s2", 1].scores["inspect.length"].unscored == "grader_failed"
    broken = found["s3", 1]
    assert (broken.status, broken.error) == ("agent_error", "ValueError('the solver broke')")
    assert found["7", 1].passed


def test_an_archive_says_the_same_where_zstd_is_there_and_tells_what_to_do_where_it_is_not(logs):
    folder, _ = logs
    assert run(READ, folder / "eval") == run(READ, folder / "json")
    known = [name for name in ("zstandard", "backports") if importlib.util.find_spec(name)]
    if known or sys.version_info >= (3, 14):
        pytest.skip("this Python unpacks zstd")
    with pytest.raises(UsageError, match=r"install the package backports\.zstd, or convert it"):
        Importer().read(folder / "eval")
