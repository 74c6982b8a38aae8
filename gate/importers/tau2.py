"""`tau2`: the results of a tau2-bench run, or its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import Place
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_object, line_or_none
from gate.files.problems import Findings
from gate.files.sniff import FirstLook, look
from gate.files.timestamps import iso, moment_of
from gate.importers.formats.tau import rewards
from gate.importers.formats.tau.metrics import REWARD, USER_COST, TrialCounts, list_missing, metrics
from gate.importers.formats.tau.rows import trial_number
from gate.importers.formats.tau.simulations import (
    FOLDER,
    RESULTS,
    Simulation,
    SimulationFiles,
    compare_with_index,
    source_of,
)
from gate.importers.formats.tau.tasks import TOOL, by_id, case_in, cases_of
from gate.importers.formats.tau.tau2 import trial_in
from gate.importers.trials.build import import_cases, name_judge
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite


@IMPORTERS.register("tau2")
@dataclass(frozen=True, slots=True, kw_only=True)
class Tau2:
    """One trial for each simulation; `suite` is named after the domain where it is not given."""

    suite: str | None = None

    reads: ClassVar[str] = "results.json, a folder with simulations/, or a tasks.json"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            inside = any(name.startswith(f"{FOLDER}/") for name in found.names)
            return RESULTS in found.names and inside
        if _is_list(found):
            return found.has("id", "user_scenario", "evaluation_criteria")
        return b'"environment_info"' in found.head and found.has("info", "tasks")

    def read(self, path: Path) -> Imported:
        if _is_list(look(path)):
            return self._tasks(path)
        source = source_of(path)
        info = as_object(source.meta.get("info"))
        domain = line_or_none(as_object(info.get("environment_info")).get("domain_name"))
        suite = suite_name(self.suite or f"tau2-{domain or ''}", "tau2")
        checked = _check_simulations(source)
        agent = as_object(info.get("agent_info"))
        commit = line_or_none(info.get("git_commit"))
        return Imported(
            files=source.files,
            created_at=iso(moment_of(source.meta.get("timestamp"))) or None,
            provenance=Provenance(
                agent=line_or_none(agent.get("llm"))
                or line_or_none(agent.get("implementation"))
                or TOOL,
                tool_version=f"{TOOL} {commit[:12]}" if commit else TOOL,
                event="import",
            ),
            suites={suite: _suite(suite, checked)},
            trials=lambda: _trials(source, suite, checked),
            options=_options(info),
            notes=tuple(_notes(suite, checked)),
        )

    def _tasks(self, path: Path) -> Imported:
        suite = suite_name(self.suite or "tau2")
        cases = [*cases_of(path, suite)]
        return import_cases((path,), lambda: iter(cases), tool=TOOL, agent=TOOL)


def _is_list(found: FirstLook) -> bool:
    return found.head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"["


def _options(info: Mapping[str, Json]) -> dict[str, Json]:
    """Options of the run that are plain numbers and names."""
    user = line_or_none(as_object(info.get("user_info")).get("llm"))
    numbers = {key: trial_number(info.get(key)) for key in ("num_trials", "max_steps", "seed")}
    return {
        **{key: value for key, value in numbers.items() if value is not None},
        **({"user": user} if user else {}),
    }


@dataclass(slots=True)
class _SimulationTotals:
    """What the run comes to, without its conversations."""

    counted: TrialCounts = field(default_factory=TrialCounts)
    tasks: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    broken: int = 0  # infrastructure
    unjudged: int = 0
    total: int = 0


def _check_simulations(source: SimulationFiles) -> _SimulationTotals:
    """Raises InvalidInput with everything that is wrong with the simulations."""
    found, seen = Findings(), _SimulationTotals()
    place = Place(source.files[0].as_posix(), key="tasks")
    seen.tasks = by_id(source.meta.get("tasks"), place, found)
    known: dict[str, Simulation] = {}
    for one in source.simulations(found):
        if one.id in known:
            found.add(one.place, f"the id '{one.id[:80]}' is there twice - keep one")
            continue
        known[one.id] = replace(one, data={})
        if not seen.counted.add(one.task, one.trial, counts=one.counts):
            message = f"task {one.task[:80]} and trial {one.trial} are there twice - keep one"
            found.add(one.place, message)
        if is_too_deep(dict(one.data)):
            found.add(one.place, "nested too deeply - no simulation is")
        for message in rewards.contradictions(one):
            found.add(one.place, f"{message} - one of the two was changed")
        seen.total += 1
        seen.broken += not one.counts
        seen.unjudged += one.reward is None and one.counts
    found.take(*compare_with_index(source, known))
    if not found and not known:
        found.add(Place(place.file), "no simulation in it - name a run that has some")
    if len(seen.counted.rounds) > MOST_ROUNDS:
        found.add(place, f"more than {MOST_ROUNDS} different trials - import the run in parts")
    found.refuse()
    return seen


def _suite(suite: str, checked: _SimulationTotals) -> ImportedSuite:
    specs = (*metrics(checked.counted.least), *rewards.metrics())
    return ImportedSuite(
        rounds=len(checked.counted.rounds),
        cases=len(checked.counted.tasks),
        dataset=f"{suite}: tasks of {TOOL}",
        metrics=specs,
        graders=name_judge(
            f"{TOOL}: reward_basis",
            *(REWARD, USER_COST, *(name for name, _ in rewards.COMPONENTS.values())),
        ),
    )


def _notes(suite: str, checked: _SimulationTotals) -> Iterator[str]:
    if checked.broken:
        yield (
            f"{suite}: {checked.broken} of {checked.total} simulations ended with "
            "infrastructure_error; they are left out of every rate, as the benchmark does"
        )
    if checked.unjudged:
        yield (
            f"{suite}: {checked.unjudged} simulations have no reward_info: nobody evaluated them"
        )
    if missing := checked.counted.missing():
        first = list_missing(missing)
        yield (
            f"{suite}: {len(missing)} trials that other tasks have are not there "
            f"({first}); tau.pass^k is told up to k = {checked.counted.least}, the fewest "
            "trials of a task"
        )


def _trials(source: SimulationFiles, suite: str, checked: _SimulationTotals) -> Iterator[Trial]:
    found, rounds = Findings(), checked.counted.rounds
    cases = {
        task: case_in(suite, task, checked.tasks.get(task, {})) for task in checked.counted.tasks
    }
    for simulation in source.simulations(found):
        yield trial_in(suite, simulation, cases[simulation.task], rounds[simulation.trial])
    found.refuse()  # it was in order a moment ago
