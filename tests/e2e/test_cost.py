"""No command loads and calls more than tests/support/cost_bounds.py says: counts, never a clock.
They are the same on a busy machine.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_server import ChatServer
from tests.support.cost_bounds import (
    MOST_CALLS,
    MOST_MODULES,
    MOST_OF_OURS,
    NOT_AT_THE_END,
    NOT_BEFORE_THE_FIRST_REQUEST,
)

ROOT = Path(__file__).parents[2]
CONFIG = """\
version: 1
agent: {{type: openai, base_url: "{url}", model: stub-model, concurrency: 1}}
suites:
  - name: main
    dataset: cases.jsonl
    rounds: 1
    graders: [facts, {{retrieval: {{k: [1, 3, 5]}}}}]
gates:
  agent.success_rate: {{min: 0.1}}
"""
CASES = {"few": 12, "more": 22}

pytestmark = pytest.mark.xdist_group("cost")


@pytest.fixture(scope="module")
def agent() -> Iterator[ChatServer]:
    with ChatServer(lambda question, nth: "Paris is the capital of France.") as server:
        yield server


@pytest.fixture(scope="module")
def counts(agent: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run, a check and a question for the version load and call."""
    folder = tmp_path_factory.mktemp("cost")
    found = {}
    for name, number in CASES.items():
        inner = made(folder / name, number, agent.url)
        counted(inner, "calls", "run")  # whatever is compiled or looked up once on a machine
        found[name] = counted(inner, "calls", "run", "--quiet")
    here = folder / "few"
    found["modules"] = counted(here, "modules", "run", "--quiet")
    found["told"] = counted(here, "calls", "run")
    found["validate modules"] = counted(here, "modules", "validate")
    found["validate"] = counted(here, "calls", "validate")
    found["version modules"] = counted(here, "modules", "--version")
    found["--version"] = counted(here, "calls", "--version")
    return found


def made(folder: Path, number: int, url: str) -> Path:
    folder.mkdir()
    folder.joinpath("gate.yml").write_text(CONFIG.format(url=url), encoding="utf-8")
    case = {
        "category": "x",
        "expected_facts": [{"value": "Paris", "required": True}],
        "relevant_doc_ids": ["kb-008"],
    }
    lines = [
        json.dumps({"id": f"c{n}", "input": f"Which town is it? ({n})", **case}) + "\n"
        for n in range(number)
    ]
    folder.joinpath("cases.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def counted(folder: Path, what: str, *arguments: str) -> dict[str, Any]:
    """In an environment in which nothing looks like a secret."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    file = folder / "counts.json"
    run = [sys.executable, "-m", "tests.support.counted", str(file), what, *arguments]
    told = subprocess.run(run, cwd=folder, env=env, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert found["code"] == 0, told.stdout + told.stderr
    return found


def ours(modules: list[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "gate"]


def below(modules: list[str], wanted: tuple[str, ...]) -> list[str]:
    return [m for m in modules if any(m == one or m.startswith(f"{one}.") for one in wanted)]


@pytest.mark.parametrize(
    ("when", "modules", "key"),
    [
        ("at the first request of a run", "modules", "first"),
        ("of a run", "modules", "end"),
        ("of validate", "validate modules", "end"),
        ("of --version", "version modules", "end"),
    ],
)
def test_modules_that_are_loaded(counts: dict[str, Any], when: str, modules: str, key: str) -> None:
    found = counts[modules][key]
    told = (when, len(found), len(ours(found)))
    assert len(found) <= MOST_MODULES[when], told
    assert len(ours(found)) <= MOST_OF_OURS[when], told


def test_what_a_plain_run_does_not_load(counts: dict[str, Any]) -> None:
    found = counts["modules"]
    assert below(found["first"], NOT_BEFORE_THE_FIRST_REQUEST) == []
    assert below(found["end"], NOT_AT_THE_END) == []


def test_calls_of_a_trial_and_of_a_run_beside_its_trials(counts: dict[str, Any]) -> None:
    few, more = (counts[name]["calls"] for name in CASES)
    a_trial = (more - few) / (CASES["more"] - CASES["few"])
    beside = few - a_trial * CASES["few"]
    assert a_trial <= MOST_CALLS["of a trial"], a_trial
    assert beside <= MOST_CALLS["of a run beside its trials"], beside
    told = counts["told"]["calls"] - few
    assert told <= MOST_CALLS["to tell the verdict"], told


@pytest.mark.parametrize("command", ["validate", "--version"])
def test_calls_of_a_command_that_asks_nobody(counts: dict[str, Any], command: str) -> None:
    assert counts[command]["calls"] <= MOST_CALLS[f"of {command}"], counts[command]["calls"]
