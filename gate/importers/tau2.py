"""`tau2`: the results of a tau2-bench run, or its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from gate.errors import Place
from gate.files.json_stream import is_too_deep
from gate.files.json_values import CLOSE, as_amount, as_list, as_object, line_or_none
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.files.sniff import FirstLook, look
from gate.files.timestamps import iso, moment_of
from gate.importers.formats import tau
from gate.importers.trials.build import ToolSuite, import_cases, provenance_of
from gate.importers.trials.conversations import conversation
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Case, Json, Response, Score, Trial, TrialStatus
from gate.records.imported import Imported
from gate.text.shortening import tidy


@IMPORTERS.register("tau2")
@dataclass(frozen=True, slots=True, kw_only=True)
class Tau2:
    """One trial for each simulation; `suite` is named after the domain where it is not given."""

    suite: str | None = None

    reads: ClassVar[str] = "results.json, a folder with simulations/, or a tasks.json"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            inside = any(name.startswith(f"{tau.FOLDER}/") for name in found.names)
            return tau.RESULTS in found.names and inside
        if _is_list(found):
            return found.has("id", "user_scenario", "evaluation_criteria")
        return b'"environment_info"' in found.head and found.has("info", "tasks")

    def read(self, path: Path) -> Imported:
        if _is_list(look(path)):
            return self._tasks(path)
        source = tau.source_of(path)
        info = as_object(source.meta.get("info"))
        domain = line_or_none(as_object(info.get("environment_info")).get("domain_name"))
        suite = ToolSuite(TOOL, suite_name(self.suite or f"tau2-{domain or ''}", "tau2"))
        checked = _check_simulations(source)
        agent = as_object(info.get("agent_info"))
        names = (line_or_none(agent.get(key)) for key in ("llm", "implementation"))
        measured = next(filter(None, names), TOOL)
        commit = line_or_none(info.get("git_commit"))
        return Imported(
            files=source.files,
            created_at=iso(moment_of(source.meta.get("timestamp"))) or None,
            provenance=provenance_of(f"{TOOL} {commit[:12]}" if commit else TOOL, measured),
            suites={suite.name: checked.counted.suite(suite, "reward_basis", tau.reward_metrics())},
            trials=lambda: _trials(source, suite, checked),
            options=_options(info),
            notes=tuple(_notes(suite.name, checked)),
        )

    def _tasks(self, path: Path) -> Imported:
        cases = [*cases_of(path, ToolSuite(TOOL, suite_name(self.suite or "tau2")))]
        return import_cases((path,), lambda: iter(cases), tool=TOOL, agent=TOOL)


def _is_list(found: FirstLook) -> bool:
    return found.head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"["


def _options(info: Mapping[str, Json]) -> dict[str, Json]:
    """Options of the run that are plain numbers and names."""
    user = line_or_none(as_object(info.get("user_info")).get("llm"))
    numbers = {key: tau.trial_number(info.get(key)) for key in ("num_trials", "max_steps", "seed")}
    return {
        **{key: value for key, value in numbers.items() if value is not None},
        **({"user": user} if user else {}),
    }


@dataclass(slots=True)
class _SimulationTotals:
    """What the run comes to, without its conversations."""

    counted: tau.TrialCounts = field(default_factory=tau.TrialCounts)
    tasks: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    broken: int = 0  # infrastructure
    unjudged: int = 0
    total: int = 0


def _check_simulations(source: tau.SimulationFiles) -> _SimulationTotals:
    """Raises InvalidInput with everything that is wrong with the simulations."""
    findings, seen = Findings(), _SimulationTotals()
    place = Place(source.files[0].as_posix(), key="tasks")
    seen.tasks = by_id(source.meta.get("tasks"), place, findings)
    known: dict[str, tau.Simulation] = {}
    for one in source.simulations(findings):
        if one.id in known:
            findings.add(one.place, f"id '{one.id[:80]}' appears twice - keep one")
            continue
        known[one.id] = replace(one, data={})
        if not seen.counted.add(one.task, one.trial, counts=one.counts):
            message = f"task {one.task[:80]} has trial {one.trial} twice - keep one"
            findings.add(one.place, message)
        if is_too_deep(dict(one.data)):
            findings.add(one.place, "nested too deeply - export the results again")
        findings.take(*tau.find_contradictions(one))
        seen.total += 1
        seen.broken += not one.counts
        seen.unjudged += one.reward is None and one.counts
    findings.take(*tau.compare_with_index(source, known))
    if not findings and not known:
        findings.add(Place(place.file), "has no simulation - give a run that has some")
    if len(seen.counted.rounds) > MOST_ROUNDS:
        findings.add(place, f"more than {MOST_ROUNDS} different trials - import the run in parts")
    findings.refuse()
    return seen


def _notes(suite: str, checked: _SimulationTotals) -> Iterator[str]:
    if checked.broken:
        yield (
            f"{suite}: {checked.broken} of {checked.total} simulations ended with "
            "infrastructure_error; they are left out of every rate, as the benchmark does"
        )
    if checked.unjudged:
        yield (
            f"{suite}: {checked.unjudged} simulations have no reward_info: they were not evaluated"
        )
    yield from checked.counted.notes(suite)


def _trials(
    source: tau.SimulationFiles, suite: ToolSuite, checked: _SimulationTotals
) -> Iterator[Trial]:
    findings, rounds = Findings(), checked.counted.rounds
    cases = {
        task: case_in(suite, task, checked.tasks.get(task, {})) for task in checked.counted.tasks
    }
    for simulation in source.simulations(findings):
        yield trial_in(suite, simulation, cases[simulation.task], rounds[simulation.trial])
    findings.refuse()  # it was in order a moment ago


_AGENTS_FAULT = ("agent_error", "timeout", "unexpected_error")  # no answer of it is left


def trial_in(suite: ToolSuite, simulation: tau.Simulation, case: Case, round: int) -> Trial:
    status: TrialStatus = "agent_error" if simulation.reason in _AGENTS_FAULT else "completed"
    status = status if simulation.counts else "infra_error"
    passed, took = _has_passed(simulation), as_amount(simulation.data.get("duration"))
    return suite.trial(
        replace(case, place=simulation.place),
        round=round,
        status=status,
        passed=passed,
        failures=tau.list_failures(simulation) if passed is False else (),
        scores={TOOL: _score(simulation, status)},
        response=_response(simulation) if status == "completed" else None,
        latency_ms=None if took is None else took * 1000.0,
        error=None if status == "completed" else _error(simulation),
    )


def _has_passed(simulation: tau.Simulation) -> bool | None:
    """Whether it passed; None where it ended as it should and was not evaluated."""
    if simulation.reason not in tau.EARNING:
        return False
    return None if simulation.reward is None else abs(simulation.reward - 1.0) <= CLOSE


def _score(simulation: tau.Simulation, status: TrialStatus) -> Score:
    if _has_passed(simulation) is None:
        return Score(unscored="not evaluated: it has no reward_info")
    reward = simulation.reward or 0.0
    opinion = _has_passed(simulation) if status == "completed" else None
    return Score(
        values={
            **tau.components(simulation),
            tau.REWARD: min(reward, 1.0) if simulation.counts else None,
            tau.USER_COST: as_amount(simulation.data.get("user_cost")),
        },
        passed=opinion,
        failures=tuple(tau.list_failures(simulation)) if opinion is False else (),
        reason="" if simulation.reason in tau.EARNING else f"ended with {simulation.reason}",
    )


def _error(simulation: tau.Simulation) -> str:
    info = as_object(simulation.data.get("info"))
    said = next((info[key] for key in ("error", "message", "note") if info.get(key)), "")
    return tidy(f"{simulation.reason}: {said}" if said else simulation.reason, 500)


def _response(simulation: tau.Simulation) -> Response:
    said = conversation([*_messages(simulation.data)], shows_calls=True)
    cost = as_amount(simulation.data.get("agent_cost"))
    usage = said.usage if cost is None else replace(said.usage, cost_usd=cost)
    return replace(said, usage=usage, finish_reason=simulation.reason)


def _messages(data: Mapping[str, Json]) -> Iterator[Json]:
    """The agent's side: no calls of the user's own, and no greeting that no model wrote."""
    heard = False
    for message in _flat(as_list(data.get("messages"))):
        role, own = message.get("role"), message.get("requestor", "assistant") == "assistant"
        if role == "user":
            heard = True
            yield {"role": "user", "content": message.get("content")}
        elif role == "assistant" and not heard and not message.get("tool_calls"):
            if message.get("usage"):
                yield message
        elif role != "tool" or own:
            yield message


def _flat(listed: list[Json]) -> Iterator[Mapping[str, Json]]:
    """Several results in one message, one after the other."""
    for message in map(as_object, listed):
        inner = message.get("tool_messages")
        yield from map(as_object, inner) if isinstance(inner, list) else (message,)


TOOL = "tau2-bench"
_SAID = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


def case_in(suite: ToolSuite, task: str, data: Mapping[str, Json]) -> Case:
    """`data`: the task as tau2 writes it; empty where the run does not have it."""
    criteria = as_object(data.get("evaluation_criteria"))
    agents = [
        action
        for action in as_list(criteria.get("actions"))
        if as_object(action).get("requestor", "assistant") == "assistant"
    ]
    keys = {
        "reference_trajectory": tau.steps(agents, "arguments") or None,
        **{key: criteria.get(key) or None for key in ("communicate_info", "nl_assertions")},
    }
    known = {key: value for key, value in keys.items() if value is not None}
    return suite.case(task, input=_user_instructions(data), keys=known)


def _user_instructions(data: Mapping[str, Json]) -> str:
    """What the simulated user is told, or the ticket of a task without a user."""
    instructions = as_object(data.get("user_scenario")).get("instructions")
    if isinstance(instructions, dict):
        parts = (instructions.get(key) for key in _SAID)
        instructions = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    ticket = data.get("ticket")
    return next((text for text in (instructions, ticket) if isinstance(text, str) and text), "")


def by_id(listed: Json, place: Place, findings: Findings) -> dict[str, Mapping[str, Json]]:
    """The tasks of a list; what is none, or is there twice, goes to `findings`."""
    tasks: dict[str, Mapping[str, Json]] = {}
    for n, item in enumerate(as_list(listed)):
        where = Place(place.file, key=f"{place.key}[{n}]")
        task = as_object(item)
        name = task.get("id")
        if not isinstance(name, str) or not 0 < len(name) <= 500:
            findings.add(where, "not a task of tau2-bench: its id is not a string - remove it")
        elif is_too_deep(item):
            findings.add(where, "nested too deeply - remove this task")
        elif name in tasks and tasks[name] != task:
            findings.add(where, f"id '{name[:80]}' is used by two different tasks - keep one")
        else:
            tasks[name] = task
    return tasks


def cases_of(path: Path, suite: ToolSuite) -> Iterator[Case]:
    """The cases of a file that has tasks alone. Raises InvalidInput for what is wrong with them."""
    findings, place = Findings(), Place(path.as_posix())
    tasks = by_id(json_of(path), place, findings)
    if not tasks and not findings:
        findings.add(
            place, "has no task - give a tasks.json of tau2-bench, or a run's results.json"
        )
    findings.refuse()
    yield from (case_in(suite, name, task) for name, task in tasks.items())
