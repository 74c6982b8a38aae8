"""examples/agents/tau_bench_agent.py against a package of the same shape as tau-bench: a world of
two tasks, a user and an agent that needs no model.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.support.in_process import gate
from tests.support.paths import ROOT

SCRIPT = ROOT / "examples" / "agents" / "tau_bench_agent.py"
STUB = {
    "tau_bench/__init__.py": "",
    "tau_bench/agents/__init__.py": "",
    "tau_bench/envs/__init__.py": """
from types import SimpleNamespace as Box

def get_env(env_name, user_strategy, user_model, task_split, user_provider=None, task_index=None):
    print("the library talks")
    assert (user_strategy, task_split) in (("human", "test"), ("llm", "test"))
    tasks = [Box(instruction="Cancel W10."), Box(instruction="Ask for the price.")]
    return Box(tasks=tasks, tools_info=[], wiki="Be kind.", user_model=user_model)
""",
    "tau_bench/agents/tool_calling_agent.py": """
from types import SimpleNamespace as Box

class ToolCallingAgent:
    def __init__(self, tools_info, wiki, model, provider, temperature=0.0):
        self.model = model

    def solve(self, env, task_index=None, max_num_steps=30):
        if self.model == "broken":
            raise RuntimeError("the model cannot be reached")
        call = {"id": "c1", "type": "function"}
        call["function"] = {"name": "cancel_pending_order", "arguments": '{"order_id": "W10"}'}
        messages = [
            {"role": "system", "content": env.wiki},
            {"role": "user", "content": env.tasks[task_index].instruction},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "cancel_pending_order", "content": "ok"},
            {"role": "assistant", "content": "It is done."},
            {"role": "user", "content": "###STOP###"},
        ]
        info = {"reward_info": {"reward": 1.0}, "user_cost": 0.001}
        return Box(reward=1.0 - task_index, messages=messages, info=info, total_cost=0.02)
""",
}


@pytest.fixture
def package(tmp_path):
    for name, text in STUB.items():
        file = tmp_path / "stub" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(tmp_path / "stub")


def run(*arguments, case=None, path=""):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        input=json.dumps(case),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_task_is_played_and_told_with_steps_cost_and_reward(package):
    done = run(case={"env": "airline", "task_index": 0}, path=package)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["answer"], told["cost_usd"], told["model"]) == ("It is done.", 0.02, "gpt-4o")
    assert told["state"] == {"reward": 1.0, "user_cost": 0.001}
    assert len(told["messages"]) == 6


def test_the_tasks_are_listed_as_a_dataset_that_runs_with_the_grader_state(package, tmp_path):
    listed = run("--env", "retail", "--list", path=package)
    (tmp_path / "tau.jsonl").write_text(listed.stdout)
    (tmp_path / "gate.yml").write_text(
        "version: 1\n"
        f"agent: {{type: command, command: [{json.dumps(sys.executable)}, "
        f"{json.dumps(str(SCRIPT))}, --model, m-1]}}\n"
        "suites:\n"
        "  - {name: tau, dataset: tau.jsonl, rounds: 2,\n"
        "     graders: [{state: {expect: {reward: 1}}}]}\n"
    )
    done = gate(tmp_path, "run", env={"PYTHONPATH": package})
    assert "state_mismatch" not in done.stderr
    (session,) = (tmp_path / "results").glob("session-*")
    rows = [json.loads(line) for line in (session / "details.jsonl").read_text().splitlines()]
    assert {(row["case_id"], row["passed"]) for row in rows} == {
        ("retail-0", True),
        ("retail-1", False),
    }
    assert {row["scores"]["agent.goal_state"] for row in rows} == {0.0, 1.0}
    assert [step["name"] for step in rows[0]["steps"]] == ["cancel_pending_order"]
    assert rows[0]["cost_usd"] == 0.02
    metrics = json.loads((session / "summary.json").read_text())["suites"]["tau"]["metrics"]
    assert metrics["agent.pass^2"]["value"] == 0.5


def test_a_crash_is_an_exit_code_with_the_cause_last(package):
    done = run("--model", "broken", case={"env": "airline", "task_index": 0}, path=package)
    assert done.returncode != 0
    assert done.stderr.strip().splitlines()[-1] == "RuntimeError: the model cannot be reached"
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "case", "says"),
    [
        ((), {"env": "airline", "task_index": 0}, "install tau-bench: pip install git+https://"),
        (("--list",), None, "name --env airline or retail"),
        ((), {"task_index": 0}, "make the dataset with --list"),
        ((), {"env": "airline"}, "make the dataset with --list"),
    ],
)
def test_what_is_missing_is_told_in_a_sentence(arguments, case, says):
    done = run(*arguments, case=case)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr
