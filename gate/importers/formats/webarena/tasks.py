"""WebArena's task configurations, from a list in JSON or as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, Problem
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_object
from gate.files.plain import JsonLine, json_lines, json_of, plain
from gate.files.problems import Findings
from gate.graders.webarena_rules.task import Checks, checks_of, faults_of, with_sites
from gate.importers.trials.build import case_of
from gate.records import Case, Json
from gate.text.escaping import one_line

TOOL = "webarena"
_MOST_DIGITS = 9  # of a task's id


@dataclass(frozen=True, slots=True, kw_only=True)
class WebTask:
    """`config` with the addresses of the sites in place of their names."""

    id: str
    config: Mapping[str, Json]
    checks: Checks

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(self.config["sites"])

    def case(self, suite: str) -> Case:
        return case_of(
            TOOL,
            suite,
            self.id,
            input=self.config["intent"],
            keys=self.config,
            category="+".join(self.sites),
            tags=self.checks.parts,
        )


def tasks_in(path: Path, sites: Mapping[str, str]) -> dict[str, WebTask]:
    """By id, in their order. Raises InvalidInput with all that is wrong with them."""
    found, tasks = Findings(), dict[str, WebTask]()
    for item in found.keep_good(items(path)):
        faults = list(_faults(item.data))
        if not faults and (known := id_of(item.data)) in tasks:
            faults.append(f"task_id: {known} is there twice - keep one")
        for fault in faults:
            found.add(item.place, fault)
        if not faults:
            config = with_sites(item.data, sites)
            task = WebTask(id=id_of(config), config=config, checks=checks_of(config["eval"]))
            tasks[task.id] = task
    if not found and not tasks:
        found.add(Place(path.as_posix()), "no task in it")
    found.refuse()
    return tasks


def items(path: Path) -> Iterator[JsonLine | Problem]:
    """The items of a JSON list, else the lines, each with its place. Raises InvalidInput."""
    with plain(path).open("rb") as file:
        begins = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    name = path.as_posix()
    if begins[:1] == b"[":
        for n, item in enumerate(json_of(path)):
            yield JsonLine(Place(name, key=f"[{n}]"), item)
    elif begins in (b"{\n", b"{\r"):  # one object over several lines
        yield JsonLine(Place(name), json_of(path))
    else:
        yield from json_lines(path)


def id_of(data: Json) -> str:
    """`task_id` as text; empty where it is none: a whole number from 0 on, or its digits."""
    value = as_object(data).get("task_id")
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return ""
    if isinstance(value, int):
        return str(value) if 0 <= value < 10**_MOST_DIGITS else ""
    plain_digits = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    return str(int(value)) if plain_digits else ""


def is_task(data: Json) -> bool:
    return isinstance(data, dict) and {"task_id", "intent", "eval"} <= data.keys()


def _faults(data: Json) -> Iterator[str]:
    if not isinstance(data, dict) or is_too_deep(data):
        yield "no object with task_id, sites, intent and eval"
        return
    if not id_of(data):
        yield f"task_id: '{one_line(str(data.get('task_id')), 40)}' is no whole number"
    if not isinstance(data.get("intent"), str) or not data["intent"].strip():
        yield "intent: no text"
    sites = data.get("sites")
    if not (isinstance(sites, list) and 0 < len(sites) < 20 and all(map(_is_name, sites))):
        yield "sites: no list of names"
    yield from faults_of(data.get("eval"))


def _is_name(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 40 and value.replace("_", "").isalnum()
