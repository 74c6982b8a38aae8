"""Checks gate.yml against its schema: variables are replaced, unknown keys refused, each problem
has its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gate.errors import InvalidInput, Place, Problem
from gate.files import bundled
from gate.files.json_schema import UNKNOWN, join_misspelt, mismatches
from gate.files.json_schema_mismatch import Mismatch
from gate.files.json_schema_quick import compile_check
from gate.files.json_values import as_list, as_objects, is_number
from gate.files.yaml import Path, YamlDocument
from gate.plugins import AGENTS, GRADERS, RETRIEVERS, Agent
from gate.records import Json
from gate.records.codec import schema_of
from gate.registry import Registry
from gate.suites.config.build import spell_out_graders
from gate.suites.config.inherit import fill_from_bundled
from gate.suites.config.json_schema import AGENT_KEYS, FORMS, JUDGE_TYPES, schema, schema_for
from gate.suites.config.variables import NOTHING, ConfigFault, replace_variables, secrets
from gate.text.suggestions import did_you_mean

_AGENT_KEYS = ("agent", "judge", "verifier", "control_agent")
_GATES = ("gates", "QUALITY_GATES")
_LIMITS = {"min", "max", "target"}  # of which a gate has at least one
_NOT_OF_CODE = ("dataset", "request")  # keys of a suite that has its cases in a dataset


def check_document(
    document: YamlDocument, env: Mapping[str, str], instead: Mapping[Path, str] = NOTHING
) -> tuple[dict[str, Json], list[Problem]]:
    """The valid data, and all problems. Invalid parts are left out: an unknown key alone, otherwise
    its section or its suite (which becomes None, so that the others keep their index). `instead`:
    as `replace_variables` takes it. Raises InvalidInput if nothing can be read.
    """
    written = {} if document.data is None else document.data
    if not isinstance(written, dict):
        raise InvalidInput([Problem(Place(document.file, 1), "the file must be a mapping of keys")])
    done = replace_variables(written, env, lambda path: _wants_text(written, path), instead)
    _spell_out(done.data)
    keys = list(secrets(written))
    hidden = done.hidden | {fault.path for fault in keys}
    found, secret_paths = _mismatches(done.data), {fault.path for fault in keys}
    public = [one for one in join_misspelt(found) if one.path not in secret_paths]
    other = [*keys, *done.faults, *_twice(done.data)]
    wrong, misspelt = (
        [_reword(mismatch, hidden, done.data) for mismatch in mismatched]
        for mismatched in (found, _join_other_type(public, done.data))
    )
    told = [*other, *misspelt]
    for fault in (*other, *wrong):
        _leave_out(done.data, fault)
    unique_problems = dict.fromkeys(
        Problem(document.place(fault.path), fault.message) for fault in told
    )
    return done.data, list(unique_problems)


def _mismatches(data: Mapping[str, Json]) -> list[Mismatch]:
    """Most files fit; then only the plug-ins that they name are imported."""
    agents = {_type(data, key) for key in _AGENT_KEYS}
    suites = as_objects(data.get("suites"))
    written = [grader for suite in suites for grader in as_list(suite.get("graders"))]
    graders = {str(name) for one in written if isinstance(one, dict) for name in one}
    used = schema_for(
        agents=[name for name in sorted(agents) if name in AGENTS],
        graders=[name for name in sorted(graders) if name in GRADERS],
        retrievers=[name for name in (_type(data, "retriever"),) if name in RETRIEVERS],
    )
    return [] if compile_check(used)(data) else mismatches(schema(), data)


def _join_other_type(found: Sequence[Mismatch], data: Mapping[str, Json]) -> list[Mismatch]:
    """With one problem of a section whose keys are all those of another type: it is the type that
    is wrong, not each of the keys, nor what is missing.
    """
    told = list(found)
    for section in (*_AGENT_KEYS, "retriever"):
        unknown = [
            str(one.path[1])
            for one in told
            if one.path[:1] == (section,) and len(one.path) == 2 and one.message.startswith(UNKNOWN)
        ]
        if len(unknown) < 2:  # nothing is to be looked up, which would load each type
            continue
        registry: Registry[Agent] = RETRIEVERS if section == "retriever" else AGENTS
        names = JUDGE_TYPES if section in ("judge", "verifier") else registry.names()
        fitting = [name for name in names if _has_options(registry, name, unknown)]
        if fitting:
            told = [
                one
                for one in told
                if one.path not in {(section, key) for key in unknown}
                and not (one.path == (section,) and one.rule == "required")
            ]
            meant = " or ".join(f"'{name}'" for name in sorted(fitting))
            message = f"'{_type(data, section)}' has no {', '.join(unknown)}"
            message += f" - did you mean {meant}?"
            told.append(Mismatch(path=(section, "type"), message=message, rule="const"))
    return told


def _has_options(registry: Registry[Agent], name: str, options: Sequence[str]) -> bool:
    return set(options) <= set(schema_of(registry.get_class(name))["properties"])


def _type(data: Mapping[str, Json], key: str) -> str:
    section = data.get(key)
    return str(section.get("type")) if isinstance(section, dict) else ""


def _spell_out(data: dict[str, Json]) -> None:
    """Graders in their long form, and what a suite leaves to the bundled one of its name."""
    suites = as_list(data.get("suites"))
    for number, suite in enumerate(suites):
        if isinstance(suite, dict):
            if isinstance(graders := suite.get("graders"), list):
                suite["graders"] = spell_out_graders(graders)
            suites[number] = fill_from_bundled(suite)


def _wants_text(written: Mapping[str, Json], path: Path) -> bool:
    """Whether the option at `path` is a text in the class of its agent type."""
    kind = _type(written, str(path[0]))
    registry: Registry[Any] = RETRIEVERS if path[0] == "retriever" else AGENTS
    wanted: Any = schema_of(registry.get_class(kind)) if kind in registry else {}
    for part in path[1:]:
        inner = wanted.get("items" if isinstance(part, int) else "additionalProperties")
        wanted = wanted.get("properties", {}).get(part, inner if isinstance(inner, dict) else {})
    kinds = [option.get("type") for option in wanted.get("anyOf", [wanted])]
    if path[:1] == ("agent",) and path[1:2] and path[1] in AGENT_KEYS:
        return True
    return path[1:] == ("type",) or any("string" in (kind or ()) for kind in kinds)


def _reword(mismatch: Mismatch, hidden: set[Path], data: Mapping[str, Json]) -> ConfigFault:
    path, message = mismatch.path, mismatch.message
    if path[:1] == ("suites",) and len(path) == 2 and mismatch.key == "dataset":
        message += _no_bundled(as_list(data.get("suites"))[int(path[1])])
    shows_value = not (message.startswith("unknown key") or mismatch.rule == "required")
    if shows_value and any(path[: len(h)] == h or h[: len(path)] == path for h in hidden):
        message = "the value is not valid (not shown, as it may be a secret)"
    if _is_grader(path) and message.startswith("unknown key"):
        name = str(path[-1])
        message = f"unknown grader '{name}'{did_you_mean(name, GRADERS.names())}"
        path = path[:-1]
    elif path[::2] == ("suites", "suite") and "have the form" in message:
        message = "does not name a class - write ./my_suite.py:MySuite"
    elif meant := FORMS.get(message.partition(" does not have the form ")[2]):
        message = f"{message.partition(' does not have the form ')[0]} is not {meant}"
    elif message.startswith(("null is not a mapping", "null is not a list")):
        message += ": nothing is written here - fill it in or remove it"
    elif _is_gate(path) and is_number(limit := _find(data, path)):
        message += f" - write {{min: {limit}}}, or {{max: {limit}}} where lower is better"
    elif path == ("report", "url") and "have the form" in message:
        message = "is no address - begin with https:// or http://, without blanks"
    elif _is_grader((*path, "")) and " is not " not in message:
        message = "a grader is its name, or its name with options: {name: {option: value}}"
    return ConfigFault(path=path, message=message)


def _no_bundled(suite: Json) -> str:
    """Why a suite without a dataset is not one of ours, whose names may be near."""
    name = suite.get("name") if isinstance(suite, dict) else None
    if not isinstance(name, str):
        return ""
    return f", and no bundled suite has this name{did_you_mean(name, bundled.suites())}"


def _is_grader(path: Path) -> bool:
    return len(path) == 5 and (path[0], path[2]) == ("suites", "graders")


def _is_gate(path: Path) -> bool:
    """Whether the rule of one metric stands there, for all suites or for one."""
    return (len(path) == 2 and path[0] in _GATES) or (
        len(path) == 4 and (path[0], path[2]) == ("suites", "gates")
    )


def _twice(data: Mapping[str, Json]) -> Iterator[ConfigFault]:
    """What is said in two ways, of which only one can count."""
    regression = data.get("regression")
    if "gates" in data and "QUALITY_GATES" in data:
        yield ConfigFault(
            path=("QUALITY_GATES",), message="sets the same as gates - keep one of the two"
        )
    if (
        "regression_threshold" in data
        and isinstance(regression, dict)
        and "tolerance" in regression
    ):
        message = "sets the same as regression.tolerance - keep one of the two"
        yield ConfigFault(path=("regression_threshold",), message=message)
    for number, suite in enumerate(as_list(data.get("suites"))):
        if isinstance(suite, dict) and "suite" in suite:
            for key in (key for key in _NOT_OF_CODE if suite.get(key)):
                message = "the class under `suite` already does this - remove it"
                yield ConfigFault(path=("suites", number, key), message=message)


def _matching(value: Json, pattern: Path, path: Path) -> Iterator[tuple[Path, Json]]:
    if not pattern:
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if pattern[0] in ("*", index):
                yield from _matching(item, pattern[1:], (*path, index))
    elif isinstance(value, dict) and pattern[0] in value:
        yield from _matching(value[pattern[0]], pattern[1:], (*path, pattern[0]))


def _find(data: Json, path: Path) -> Json:
    return next((found for _, found in _matching(data, path, ())), None)


def _leave_out(data: dict[str, Json], fault: ConfigFault) -> None:
    """Takes the broken part out; what a fault before it took is gone already."""
    path, suites, agent = fault.path, data.get("suites"), data.get("agent")
    if not path:
        return
    if fault.message.startswith(UNKNOWN):
        around = _find(data, path[:-1])
        if isinstance(around, dict):
            around.pop(str(path[-1]), None)
            # The unknown key may be the limit, misspelt: that none is left is not told, too.
            if _is_gate(path[:-1]) and not _LIMITS & around.keys():
                rules = _find(data, path[:-2])
                if isinstance(rules, dict):
                    rules.pop(str(path[-2]), None)
    elif path[0] == "suites" and len(path) > 1 and isinstance(suites, list):
        suites[int(path[1])] = None
    elif path[0] == "agent" and isinstance(agent, dict) and path[1:]:
        # The base's agent may be broken here; what tells the same agent again still counts.
        gone = {str(path[1])} if path[1] in AGENT_KEYS else agent.keys() - AGENT_KEYS
        data["agent"] = {k: v for k, v in agent.items() if k not in gone}
    else:
        data.pop(str(path[0]), None)
