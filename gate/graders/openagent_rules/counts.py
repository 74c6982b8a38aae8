"""How many entries an answer in stages must have: by rules of the case, or by lines of its
prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.files.json_values import as_list
from gate.graders.openagent_rules.findings import DemandFinding
from gate.records import CheckedJson, Json

KEY = "count_rules"
_NUMBER: Json = {"type": "integer", "minimum": 0}
SCHEMA: Json = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"min": _NUMBER, "max": _NUMBER, "exact": _NUMBER},
        "additionalProperties": False,
        "minProperties": 1,
    },
}
_HEADING = re.compile(r"[#*\s]*hard requirements\b.{0,60}", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*•]\s+(.*)")
_LINE = re.compile(
    r"(?:each |every )?([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)(?: entries| items| elements)?"
    r"\s*(>=|<=|==|=|>|<|≥|≤)\s*(\d{1,6})(?: entries| items| elements)?\.?",
    re.IGNORECASE,
)
_NUMERIC = re.compile(r"\d|[<>=≥≤]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRule:
    """A limit on the entries of a field. `field`: a dotted path from the root of the answer or of a
    stage. A path through a list is checked in each of its entries.
    """

    field: str
    low: int | None = None
    high: int | None = None


def count_rules_of(keys: Mapping[str, CheckedJson], prompt: str) -> tuple[CountRule, ...]:
    """The rules in the case's `count_rules`; only without that key those in its prompt."""
    written = keys.get(KEY)
    if written is None:
        return tuple(found for found in _in_prompt(prompt) if isinstance(found, CountRule))
    return tuple(
        CountRule(
            field=field,
            low=rule.get("exact", rule.get("min")),
            high=rule.get("exact", rule.get("max")),
        )
        for field, rule in written.items()
    )


def faults(keys: Mapping[str, CheckedJson], prompt: str) -> Iterator[str]:
    """One sentence for each rule that contradicts itself, and each line of the prompt that looks
    like a rule but cannot be read.
    """
    if keys.get(KEY) is None:
        for line in _in_prompt(prompt):
            if isinstance(line, str):
                yield (
                    f"HARD REQUIREMENTS: '{line[:80]}' cannot be counted - write it as "
                    f"'- field >= 3', or all such lines as {KEY}"
                )
    for field, rule in (keys.get(KEY) or {}).items():
        if not all(field.split(".")):
            yield f"{KEY}: '{field}' is not a dotted path - write it as collect.sources"
        if "exact" in rule and len(rule) > 1:
            yield f"{KEY}.{field}: exact cannot be combined with min or max - remove them"
        elif rule.get("min", 0) > rule.get("max", rule.get("min", 0)):
            yield f"{KEY}.{field}: min is more than max - no answer can meet both"


def check(rule: CountRule, answer: Json, starts: Sequence[Json]) -> DemandFinding:
    """The finding for one rule. `starts`: where a path may begin that does not begin at the
    root.
    """
    path = rule.field.split(".")
    start: Json = next(
        (candidate for candidate in (answer, *starts) if _has(candidate, path[0])), None
    )
    counts = [count_filled(value) for value in _at(start, path)]
    fewest, most = min(counts), max(counts)
    if rule.low is not None and fewest < rule.low:
        message = f"{rule.field}: {fewest} with content, {_format_limit(rule)}"
        return DemandFinding(about="instruction", code=f"count_not_met:{rule.field}", told=message)
    if rule.high is not None and most > rule.high:
        message = f"{rule.field}: {most}, {_format_limit(rule)}"
        return DemandFinding(about="instruction", code=f"count_exceeded:{rule.field}", told=message)
    return DemandFinding(about="instruction")


def count_filled(value: Json) -> int:
    """The number of entries of a list, or keys of an object, that are not empty; 0 for anything
    else.
    """
    entries = value.values() if isinstance(value, dict) else as_list(value)
    return sum(not is_empty(one) for one in entries)


def is_empty(value: Json) -> bool:
    """Whether the value is null, a blank text, or a list or object in which everything is empty; 0
    and false are not.
    """
    waiting = [value]
    while waiting:
        value_inside = waiting.pop()
        if isinstance(value_inside, dict):
            waiting.extend(value_inside.values())
        elif isinstance(value_inside, list):
            waiting.extend(value_inside)
        elif value_inside is not None and not (
            isinstance(value_inside, str) and not value_inside.strip()
        ):
            return False
    return True


def _in_prompt(prompt: str) -> Iterator[CountRule | str]:
    """Rules in the list below the heading; a line with a number or a sign that is none as it is.
    Lines of words alone are no rules.
    """
    below = False
    for line in prompt.splitlines():
        bullet = _BULLET.fullmatch(line)
        if _HEADING.fullmatch(line):
            below = True
        elif below and bullet:
            yield from _read(bullet[1].strip())
        elif line.strip():
            below = False


def _read(line: str) -> Iterator[CountRule | str]:
    match = _LINE.fullmatch(line)
    if not match:
        yield from [line] if _NUMERIC.search(line) else []
        return
    field, sign, number = match[1], match[2], int(match[3])
    if sign in (">=", "≥", ">"):
        yield CountRule(field=field, low=number + (sign == ">"))
    elif sign in ("<=", "≤", "<"):
        yield CountRule(field=field, high=number - (sign == "<"))
    else:
        yield CountRule(field=field, low=number, high=number)


def _has(start: Json, key: str) -> bool:
    entries = start if isinstance(start, list) else [start]
    return any(isinstance(one, dict) and key in one for one in entries)


def _at(start: Json, path: Sequence[str]) -> list[Json]:
    """The values at the path, one for each entry of the lists on the way; None where it breaks
    off.
    """
    values = [start]
    for part in path:
        entries = [
            entry for value in values for entry in (value if isinstance(value, list) else [value])
        ]
        values = [entry.get(part) if isinstance(entry, dict) else None for entry in entries]
    return values or [None]


def _format_limit(rule: CountRule) -> str:
    if rule.low == rule.high:
        return f"expected exactly {rule.low}"
    return f"expected at most {rule.high}" if rule.low is None else f"expected at least {rule.low}"
