"""No command loads and calls more than tests/support/cost_bounds.py says: counts, never a clock.
They are the same on a busy machine.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.offline_text import answers
from gate.graders.facts import Facts
from gate.graders.hallucination import Hallucination
from tests.support.chat_server import ChatServer
from tests.support.cost_bounds import (
    MOST_BESIDE_TRIALS,
    MOST_CALLS,
    MOST_CALLS_OF_AN_ANSWER,
    MOST_CALLS_OF_AN_IMPORTED_CASE,
    MOST_MODULES,
    MOST_OF_A_TRIAL,
    MOST_OF_OURS,
    NOT_AT_THE_END,
    NOT_BEFORE_THE_FIRST_REQUEST,
)
from tests.support.counted import ANSWER, GRADERS, WORK, count_command, split_cost, write_suite
from tests.support.import_files import WRITERS, count_calls
from tests.support.paths import ROOT

CASES = (20, 120)
PLAIN = "facts, retrieval"

pytestmark = pytest.mark.xdist_group("cost")


@pytest.fixture(scope="module")
def agent() -> Iterator[ChatServer]:
    with ChatServer(lambda question, nth: ANSWER) as server:
        yield server


@pytest.fixture(scope="module")
def counts(agent: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run, a check and a question for the version load and do."""
    folder = tmp_path_factory.mktemp("cost")
    found: dict[str, Any] = {}
    once = write_suite(folder / "once", 1, agent.url, PLAIN)
    for command in (("run",), ("validate",)):  # whatever is compiled or looked up once
        count_command(once, "work", *command)
    for graders in GRADERS:
        runs = []
        for cases in CASES:
            inner = write_suite(folder / f"{graders}{cases}", cases, agent.url, graders)
            runs.append(count_command(inner, "work", "run", "--quiet"))
        found[graders] = split_cost(runs[0], runs[1], CASES)
        found["quiet"] = runs[0]
    here = folder / f"{PLAIN}{CASES[0]}"
    found["modules"] = count_command(here, "modules", "run", "--quiet")
    found["told"] = count_command(here, "work", "run")
    found["validate modules"] = count_command(here, "modules", "validate")
    found["validate"] = count_command(here, "work", "validate")
    own = copy_own_project(folder / "own")
    found["validate own modules"] = count_command(own, "modules", "validate")
    found["validate own"] = count_command(own, "work", "validate")
    found["version modules"] = count_command(here, "modules", "--version")
    found["--version"] = count_command(here, "work", "--version")
    return found


def copy_own_project(folder: Path) -> Path:
    """This repository's gate.yml with its datasets and baselines: two suites, twelve gates."""
    for name in ("datasets", "baselines"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "gate.yml", folder)
    return folder


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
        ("of validate, own project", "validate own modules", "end"),
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


@pytest.mark.parametrize("graders", GRADERS)
@pytest.mark.parametrize("kind", WORK)
def test_what_a_trial_costs(counts: dict[str, Any], graders: str, kind: str) -> None:
    a_trial, _ = counts[graders][kind]
    assert a_trial <= MOST_OF_A_TRIAL[graders][kind], a_trial


@pytest.mark.parametrize("kind", WORK)
def test_what_a_run_costs_beside_its_trials(counts: dict[str, Any], kind: str) -> None:
    _, beside = counts[PLAIN][kind]
    assert beside <= MOST_BESIDE_TRIALS[kind], beside


def test_calls_that_tell_the_verdict(counts: dict[str, Any]) -> None:
    told = counts["told"]["calls"] - counts["quiet"]["calls"]
    assert told <= MOST_CALLS["to tell the verdict"], told


@pytest.mark.parametrize("command", ["validate", "validate own", "--version"])
def test_calls_of_a_command_that_asks_nobody(counts: dict[str, Any], command: str) -> None:
    most = MOST_CALLS["of " + command.replace(" own", ", own project")]
    assert counts[command]["calls"] <= most, counts[command]["calls"]


def test_calls_that_grade_the_numbers_of_an_answer() -> None:
    facts, hallucination = Facts(), Hallucination()
    calls = 0

    def count(frame: object, event: str, details: object) -> None:
        nonlocal calls
        calls += event == "call"

    for seed in (1, 2):  # the first answers compile what is compiled once
        calls = 0
        pairs = list(answers(20, seed))
        sys.setprofile(count)
        for case, response in pairs:
            facts.grade(case, response)
            hallucination.grade(case, response)
        sys.setprofile(None)
    assert calls / len(pairs) <= MOST_CALLS_OF_AN_ANSWER, calls / len(pairs)


@pytest.mark.parametrize("tool", WRITERS)
def test_calls_of_an_imported_case(tool: str, tmp_path: Path) -> None:
    calls = count_calls(tool, tmp_path, (10, 40))
    assert calls <= MOST_CALLS_OF_AN_IMPORTED_CASE[tool], calls
