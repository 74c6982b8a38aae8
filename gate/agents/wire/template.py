"""`{{placeholders}}` in a JSON template, and dotted paths into a JSON answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gate.agents.traces.values import list_keys
from gate.errors import AgentFailure, UsageError
from gate.plugins import OptionPath
from gate.records import Case, CheckedJson, Json
from gate.text.late_pattern import late_pattern

_HOLE = late_pattern(r"\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")
_KNOWN = "input, question, id, case.KEY"


def check(template: Json, setting: str) -> None:
    """Raises UsageError for a placeholder that does not exist."""
    for name in names_in(template):
        if name not in ("input", "question", "id") and not name.startswith("case."):
            raise UsageError(f"{setting}: unknown placeholder {{{{{name}}}}} - known: {_KNOWN}")


def fill(template: Json, case: Case, setting: str) -> CheckedJson:
    """The template with the case's values; one that is a whole string keeps its JSON type.

    Raises UsageError when the case has no such key.
    """
    if isinstance(template, str):
        hole = _HOLE.fullmatch(template)
        if hole:
            return _value(hole[1], case, setting)
        return fill_text(template, case, setting, str)
    if isinstance(template, dict):
        return {key: fill(item, case, setting) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, case, setting) for item in template]
    return template


def fill_text(template: str, case: Case, setting: str, quote: Callable[[str], str]) -> str:
    """The same within a text: every value goes through `quote`."""
    return _HOLE.sub(lambda hole: quote(str(_value(hole[1], case, setting))), template)


def at(data: Json, path: str, setting: str) -> Json:
    """What stands at `a.b.0.c`. Raises AgentFailure, naming the path as far as it goes."""
    value, gone = data, []
    for part in path.split("."):
        gone.append(part)
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            nothing = f"the answer has nothing at '{'.'.join(gone)}' ({setting}: {path})"
            raise AgentFailure(nothing + _tell_keys(value, gone[:-1]))
    return value


def _tell_keys(value: Json, path: Sequence[str]) -> str:
    """What is there instead: whoever wrote the agent sees which key is meant."""
    if not isinstance(value, dict):
        return ""
    where = f"'{'.'.join(path)}'" if path else "it"
    return f"; {where} {list_keys(value)}"


def _value(name: str, case: Case, setting: str) -> CheckedJson:
    if name == "input":
        return case.input
    if name == "question":
        return case.question
    if name == "id":
        return case.id
    key = name.removeprefix("case.")
    if key not in case.keys:
        raise UsageError(f"{setting}: {{{{{name}}}}}: {case.place}: the case has no '{key}'")
    return case.keys[key]


def names_in(template: Json) -> list[str]:
    """The names of all placeholders, in the order in which they stand."""
    if isinstance(template, str):
        return _HOLE.findall(template)
    if isinstance(template, dict):
        return [name for item in template.values() for name in names_in(item)]
    if isinstance(template, list):
        return [name for item in template for name in names_in(item)]
    return []


def list_case_keys(template: Json, path: OptionPath) -> Iterator[tuple[OptionPath, str]]:
    """The keys of a case that the template is filled with, and the path of each placeholder;
    `path`: that of the template.
    """
    if isinstance(template, str):
        for name in _HOLE.findall(template):
            if name.startswith("case."):
                yield path, name.removeprefix("case.")
    elif isinstance(template, dict):
        for key, item in template.items():
            yield from list_case_keys(item, (*path, key))
    elif isinstance(template, list):
        for index, item in enumerate(template):
            yield from list_case_keys(item, (*path, index))
