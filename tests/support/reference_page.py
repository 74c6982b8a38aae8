"""docs/reference.md: exit codes, metrics, keys of summary.json and details.jsonl, as the code has
them. What a key means is the comment of its field.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from gate.commands.help import EXIT_CODES, OUTCOMES
from gate.records import Report
from gate.records.trial_row import TrialRow
from gate.records.trials import TRIAL_COLUMNS
from tests.support.grader_examples import all_metrics

HEAD = """# Reference

For everybody who writes programs on top of Agent Gate, or looks a name up. This page is made from
the code (`pytest tests/golden --update-golden`). `gate help --json` has commands, options, graders,
metrics and exit codes as one document for programs; `gate schema` prints JSON Schemas.
"""
WORDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def render() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *_exit_codes(), *_metrics(), *_records()])


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes\n\n| code | meaning |\n|--:|:--|"
    for code, about in EXIT_CODES.items():
        yield f"| {code} | {about} |"
    yield f"\nOutcomes, the worst first: {', '.join(f'`{one}`' for one in OUTCOMES)}.\n"


def _metrics() -> Iterator[str]:
    yield "## Metrics\n"
    yield (
        "[metrics.md](metrics.md) has formulas, and when there is no value. *Agent error* is the "
        "value of a trial in which the agent failed; of success, time, tokens and cost that page "
        "says it at its top.\n"
    )
    yield "| metric | what it is | unit, bounds | better | agent error |\n|:--|:--|:--|:--|:--|"
    for name, metric in sorted(all_metrics().items()):
        end = "up" if metric.high is None else f"to {metric.high:g}"
        failed = "left out" if metric.on_agent_error is None else f"{metric.on_agent_error:g}"
        cells = (
            f"`{name}`",
            _of_k(name, metric.description),
            f"{metric.unit}, {metric.low:g} {end}",
            metric.direction,
            "" if metric.column in TRIAL_COLUMNS else failed,
        )
        yield f"| {' | '.join(cells)} |"
    yield ""


def _of_k(name: str, description: str) -> str:
    """Of `recall@k` and the like, the number that the example has is a k."""
    numbered = name.endswith("k") or "rounds" in description
    return re.sub(r"\b\d+\b", "k", description) if numbered else description


def _records() -> Iterator[str]:
    yield "## summary.json\n"
    for record in reached(Report):
        yield from _record(record, record is Report)
    yield "## details.jsonl\n"
    yield from _record(TrialRow, True)


def reached(root: type) -> list[type]:
    """The record and those in it, each once, in the order in which they are named."""
    found: list[type] = []

    def visit(record: type) -> None:
        if record not in found:
            found.append(record)
            for hint in get_type_hints(record).values():
                for inner in _within(hint):
                    visit(inner)

    visit(root)
    return found


def _within(hint: Any) -> Iterator[type]:
    if is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from _within(part)


def _record(record: type, first: bool) -> Iterator[str]:
    if not first:
        yield f"### {record.__name__}\n"
    yield " ".join(inspect.cleandoc(record.__doc__ or "").split()) + "\n"
    yield "| key | is | meaning |\n|:--|:--|:--|"
    told = comments(record)
    for name, hint in get_type_hints(record, include_extras=True).items():
        yield f"| `{name}` | {_name(hint)} | {_plain(told.get(name, ''))} |"
    yield ""


def _plain(comment: str) -> str:
    """With JSON's words, and as a cell of a table."""
    words = {"None": "null", "True": "true", "False": "false", "|": "\\|"}
    return re.sub(r"\bNone\b|\bTrue\b|\bFalse\b|\|", lambda found: words[found[0]], comment)


def _name(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in WORDS:
        return WORDS[hint]
    if hint is type(None):
        return "null"
    if is_dataclass(hint) and isinstance(hint, type):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts if part != "")
    if origin in (Union, types.UnionType):
        return " or ".join(_name(part) for part in parts)
    if origin is NotRequired:
        return _name(parts[0])
    if origin in (tuple, list, Sequence):
        inner = [_name(part) for part in parts if part is not Ellipsis]
        return (
            f"list of {inner[0]}"
            if Ellipsis in parts or origin is not tuple
            else f"[{', '.join(inner)}]"
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _name(parts[1])
        return "object" if value == "any" else f"object of {value}"
    return "any"


def comments(record: type) -> dict[str, str]:
    """Field -> its comment: behind it, or on the lines above."""
    found: dict[str, str] = {}
    above: list[str] = []
    last = ""
    for line in inspect.getsource(record).splitlines():
        if field := re.match(r"    (\w+): .*?(?:  # (.*))?$", line):
            last = field[1]
            found[last] = " ".join([*above, field[2] or ""]).strip()
            above = []
        elif note := re.match(r"    # (.*)", line):
            above.append(note[1])
        elif tail := re.match(r"    \)  # (.*)", line):
            found[last] = tail[1]
        elif line.startswith("    def ") or line.startswith("    @"):
            break
        else:
            above = []
    return found
