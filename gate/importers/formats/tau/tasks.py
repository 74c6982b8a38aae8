"""A task of tau2-bench as a case: what the user wants, and one good way there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gate.errors import Place
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_list, as_object
from gate.files.plain import json_of
from gate.files.problems import Findings
from gate.importers.formats.tau.bench import steps
from gate.importers.trials.build import case_of
from gate.records import Case, Json

TOOL = "tau2-bench"
_SAID = ("reason_for_call", "known_info", "unknown_info", "task_instructions")


def case_in(suite: str, task: str, data: Mapping[str, Json]) -> Case:
    """`data`: the task as tau2 writes it; empty where the run does not have it."""
    criteria = as_object(data.get("evaluation_criteria"))
    agents = [
        action
        for action in as_list(criteria.get("actions"))
        if as_object(action).get("requestor", "assistant") == "assistant"
    ]
    keys = {
        "reference_trajectory": steps(agents, "arguments") or None,
        **{key: criteria.get(key) or None for key in ("communicate_info", "nl_assertions")},
    }
    return case_of(
        TOOL,
        suite,
        task,
        input=_user_instructions(data),
        keys={key: value for key, value in keys.items() if value is not None},
    )


def _user_instructions(data: Mapping[str, Json]) -> str:
    """What the simulated user is told, or the ticket of a task without a user."""
    told = as_object(data.get("user_scenario")).get("instructions")
    if isinstance(told, dict):
        parts = (told.get(key) for key in _SAID)
        told = "\n\n".join(part for part in parts if isinstance(part, str) and part)
    ticket = data.get("ticket")
    return next((text for text in (told, ticket) if isinstance(text, str) and text), "")


def by_id(listed: Json, place: Place, found: Findings) -> dict[str, Mapping[str, Json]]:
    """The tasks of a list; what is none, or is there twice, goes to `found`."""
    tasks: dict[str, Mapping[str, Json]] = {}
    for n, item in enumerate(as_list(listed)):
        where = Place(place.file, key=f"{place.key}[{n}]")
        name = as_object(item).get("id")
        if not isinstance(name, str) or not 0 < len(name) <= 500:
            found.add(where, "no task of tau2-bench: its id is no text - leave it out")
        elif is_too_deep(item):
            found.add(where, "nested too deeply - leave it out")
        elif name in tasks and tasks[name] != item:
            found.add(where, f"the id '{name[:80]}' has another task, too - keep one")
        else:
            tasks[name] = item
    return tasks


def cases_of(path: Path, suite: str) -> Iterator[Case]:
    """The cases of a file that has tasks alone. Raises InvalidInput for what is wrong with them."""
    found, place = Findings(), Place(path.as_posix())
    tasks = by_id(json_of(path), place, found)
    if not tasks and not found:
        found.add(place, "no task in it - name a tasks.json of tau2-bench, or a run's results.json")
    found.refuse()
    yield from (case_in(suite, name, task) for name, task in tasks.items())
