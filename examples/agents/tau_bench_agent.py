"""Plays one task of tau-bench and prints what came of it: a `command` agent for Agent Gate.

gate.yml:

    agent:
      type: command
      command: [python, examples/agents/tau_bench_agent.py, --model, gpt-4o]
      env: [OPENAI_API_KEY]
      timeout_s: 600
    suites:
      - name: tau-airline
        dataset: datasets/tau-airline.jsonl
        graders: [{state: {expect: {reward: 1}}}]
        rounds: 4
        gates: {agent.pass^4: {min: 0.2}}

The dataset has a line for each task, which this prints:

    python examples/agents/tau_bench_agent.py --env airline --list > datasets/tau-airline.jsonl

tau-bench has to be installed: pip install git+https://github.com/sierra-research/tau-bench. To
measure an agent of your own, name a class with its interface: --agent my_package.my_module:MyAgent,
made with (tools_info, wiki, model, provider, temperature) and asked by solve(env, task_index).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import sys
from typing import Any

TOOL_CALLING = "tau_bench.agents.tool_calling_agent:ToolCallingAgent"
INSTALL = "pip install git+https://github.com/sierra-research/tau-bench"


def options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="one task of tau-bench")
    parser.add_argument("--env", choices=["airline", "retail"], help="where a case does not say it")
    parser.add_argument("--agent", default=TOOL_CALLING, help="module:Class")
    parser.add_argument("--model", default="gpt-4o")
    parser.add_argument("--model-provider", default="openai")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--user-strategy", default="llm")
    parser.add_argument("--user-model", default="gpt-4o")
    parser.add_argument("--user-model-provider", default="openai")
    parser.add_argument("--task-split", default="test")
    parser.add_argument("--max-steps", type=int, default=30)
    parser.add_argument("--list", action="store_true", help="print the tasks as a dataset")
    return parser.parse_args(argv)


def named(path: str) -> Any:
    """What `module:name` stands for. Ends the program in a sentence where it is not there."""
    module, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        missing = str(getattr(error, "name", "") or "")
        hint = f"install tau-bench: {INSTALL}" if missing.startswith("tau_bench") else "see --agent"
        sys.exit(f"{path} cannot be imported ({error}); {hint}")


def environment(chosen: argparse.Namespace, env: str, *, user: str, task: int | None) -> Any:
    return named("tau_bench.envs:get_env")(
        env,
        user_strategy=user,
        user_model=chosen.user_model,
        user_provider=chosen.user_model_provider,
        task_split=chosen.task_split,
        task_index=task,
    )


def dataset(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """A case for each task; nobody plays the user, so no model is asked."""
    if chosen.env is None:
        sys.exit("--list: name --env airline or retail")
    tasks = environment(chosen, chosen.env, user="human", task=0).tasks
    return [
        {
            "id": f"{chosen.env}-{n}",
            "input": task.instruction,
            "env": chosen.env,
            "task_index": n,
            "expected_state": {"reward": 1},
        }
        for n, task in enumerate(tasks)
    ]


def played(chosen: argparse.Namespace, case: dict[str, Any]) -> dict[str, Any]:
    """The case's task, played once, as an answer object."""
    env, task = case.get("env") or chosen.env, case.get("task_index")
    if env is None or not isinstance(task, int):
        sys.exit("the case has no env or no task_index: make the dataset with --list")
    world = environment(chosen, env, user=chosen.user_strategy, task=task)
    agent = named(chosen.agent)(
        tools_info=world.tools_info,
        wiki=world.wiki,
        model=chosen.model,
        provider=chosen.model_provider,
        temperature=chosen.temperature,
    )
    done = agent.solve(env=world, task_index=task, max_num_steps=chosen.max_steps)
    ended = done.info.get("reward_info") is not None
    return {
        "answer": last_said(done.messages),
        "messages": done.messages,  # the steps are read from these
        "cost_usd": done.total_cost,
        "model": chosen.model,
        "finish_reason": "stop" if ended else "max_steps",
        "state": {"reward": done.reward, "user_cost": done.info.get("user_cost")},
    }


def last_said(messages: list[dict[str, Any]]) -> str:
    said = (m.get("content") for m in reversed(messages) if m.get("role") == "assistant")
    return next((text for text in said if text), "")


def main(argv: list[str]) -> None:
    chosen = options(argv)
    with contextlib.redirect_stdout(sys.stderr):  # what libraries print is no part of the answer
        found = dataset(chosen) if chosen.list else [played(chosen, json.load(sys.stdin))]
    for item in found:
        print(json.dumps(item, default=str))


if __name__ == "__main__":
    main(sys.argv[1:])
