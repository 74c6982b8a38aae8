"""What a baseline file may hold: its JSON Schema, and the checks of a text that others may have
made; every problem with file:line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NoReturn

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.json_schema import mismatches
from gate.files.json_schema_quick import compile_check
from gate.graders.trajectories.identity import DIGITS
from gate.graders.trajectories.path import ARGUMENTS, KEPT, TOOL
from gate.records import LARGEST, MOST_CASES, MOST_ROUNDS, CheckedJson, Json, MetricSpec, Provenance
from gate.records.baseline import AnchorHeader, BaselineRun
from gate.records.codec import schema_of, to_json

SCHEMA_VERSION = 1
MOST_MB = 256  # of a file, unless an option says otherwise
SHOWN = 20  # problems of one file
MODES = 50  # of a run
CASES = ("cases", "anchor_cases")  # lists, a case a line


def header_of(run: BaselineRun) -> dict[str, Json]:
    """The run as the file has it. What is unknown is left out, so that the digest of what a version
    without these fields wrote, to which somebody's consent is tied, stays the same.
    """
    header: dict[str, Json] = to_json(run)
    return {k: v for k, v in header.items() if v is not None or k not in ("trials", "modes")}


def fingerprint(provenance: Provenance, dataset_digest: str) -> dict[str, str]:
    """What a run was like, by name; a later run lists what differs (docs/semantics.md 5)."""
    facts = {
        "agent": provenance.agent,
        "agent_digest": provenance.agent_digest,
        "agent_options": provenance.agent_options,
        "judge": provenance.judge or "",
        "dataset": dataset_digest,
        "config": provenance.config_digest,
        "tool": provenance.tool_version,
    }
    return {name: fact for name, fact in facts.items() if fact}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceNote:
    """Somebody's word that a change is meant: the next run starts a new pool."""

    who: str
    when: str  # ISO 8601, UTC
    why: str
    old_digest: str  # `digest` of what was replaced
    metrics: tuple[str, ...] = ()  # empty: all


def moment_of(text: str) -> datetime:
    """When a run was made, from ISO 8601; the beginning of time where it cannot be read."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def schema() -> dict[str, Json]:
    """The published JSON Schema of a baseline file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Gate baseline",
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "suite": {"type": "string"},
            "metrics": {"type": "object", "additionalProperties": schema_of(MetricSpec)},
            "graders": {"type": "object", "additionalProperties": {"type": "string"}},
            "runs": {"type": "array", "items": _run_schema()},
            "accepted": {"type": "array", "items": schema_of(AcceptanceNote)},
            "anchor": _anchor_schema(),
            "cases": {"type": "array", "items": _case_schema()},
            "anchor_cases": {"type": "array", "items": _case_schema()},
        },
        "required": ["schema_version", "suite", "metrics", "graders", "runs", "accepted", "cases"],
        "additionalProperties": False,
    }


def _run_schema() -> dict[str, Json]:
    run = schema_of(BaselineRun)
    count_schema = {"type": "integer", "minimum": 0, "maximum": MOST_CASES}
    count = {**count_schema, "maximum": MOST_ROUNDS}
    mean = {"type": ["number", "null"], "minimum": -LARGEST, "maximum": LARGEST}
    means = {"type": "object", "additionalProperties": mean}
    modes = {
        "type": ["object", "null"],
        "patternProperties": {"^[a-z][a-z_]{0,40}$": count_schema},  # a later version may know more
        "additionalProperties": False,
        "maxProperties": MODES,
    }
    trials = {**count_schema, "type": ["integer", "null"], "maximum": MOST_CASES * MOST_ROUNDS}
    bounded = {"rounds": count, "kept": count, "cases": count_schema, "means": means}
    bounded |= {"trials": trials, "modes": modes}
    return {**run, "properties": {**run["properties"], **bounded}}


def _anchor_schema() -> dict[str, Json]:
    header = schema_of(AnchorHeader)
    bounded = {"type": "number", "minimum": 0, "maximum": LARGEST**2}
    step = {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 0, "maximum": MOST_CASES},
            "squares": bounded,
            "noise": bounded,
        },
        "required": ["count", "squares", "noise"],
        "additionalProperties": False,
    }
    wanted = {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS}
    properties = {
        **header["properties"],
        "runs": {"type": "array", "items": _run_schema()},
        "wanted": {"type": "object", "additionalProperties": wanted},
        "steps": {"type": "object", "additionalProperties": step},
        "accepted": {"type": "integer", "minimum": 0, "maximum": MOST_CASES},
    }
    return {**header, "properties": properties}


def _case_schema() -> dict[str, CheckedJson]:
    values = {"type": "array", "items": {"type": ["number", "null"]}}
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "digest": {"type": "string"},
            "category": {"type": ["string", "null"]},
            "values": {"type": "object", "additionalProperties": values},
            "path": _path_schema(),
        },
        "required": ["id", "digest", "category", "values"],
        "additionalProperties": False,
    }


def _path_schema() -> dict[str, CheckedJson]:
    """The steps of the newest run; absent where the agent did not tell them."""
    step = {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "pattern": rf"^[^\n]{{0,{TOOL}}}$"},
            "digest": {"type": "string", "pattern": rf"^([0-9a-f]{{{DIGITS}}})?$"},
            "arguments": {"type": "string", "pattern": rf"^[^\n]{{0,{ARGUMENTS}}}$"},
        },
        "required": ["tool", "digest"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": step, "maxItems": KEPT},
            "omitted": {"type": "integer", "minimum": 0, "maximum": LARGEST},
        },
        "required": ["steps"],
        "additionalProperties": False,
    }


def load(text: bytes, file: str, most_mb: int = MOST_MB) -> Json:
    if len(text) > most_mb << 20:
        raise UsageError(
            f"{file}: larger than {most_mb:,} MB; lower baseline.keep_rounds, or compare it with "
            "`gate compare --max-mb`"
        )
    try:
        loaded: Json = json.loads(text.decode("utf-8-sig"), parse_constant=_no_number)
        return loaded
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        reject(file, line, "not UTF-8; restore the file from the base branch")
    except json.JSONDecodeError as error:
        reject(file, error.lineno, _not_json(text, error))
    except (ValueError, RecursionError) as error:
        reject(file, None, f"not a baseline file ({error}); restore it from the base branch")


_OWN_HEAD, _HEAD_BYTES = b'"schema_version"', 200  # how every baseline file begins


def _not_json(text: bytes, error: json.JSONDecodeError) -> str:
    start = text.lstrip()[:1]
    if start == b"<" and not text.lstrip().startswith(b"<<<<<<<"):
        return "HTML or XML, not a baseline file; was a page saved instead of the file?"
    if re.search(rb"^<<<<<<< ", text, re.MULTILINE):
        return "has merge conflict marks; take one side and run `gate baseline save` again"
    if text.strip()[1:] and _OWN_HEAD not in text[:_HEAD_BYTES]:
        return "not a baseline file; name one that `gate baseline save` wrote, or a session"
    return f"incomplete JSON ({error.msg}): cut off or edited; restore it from the base branch"


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def check_header(data: Json, file: str) -> dict[str, CheckedJson]:
    """The data when everything but the cases fits the schema."""
    if not isinstance(data, dict):
        reject(file, 1, f"a JSON {type(data).__name__}, not a baseline file")
    if "outcome" in data and "suites" in data:
        reject(file, 1, "the summary of a session, not a baseline file; give the session's folder")
    version = data.get("schema_version")
    if "cases" not in data or not isinstance(version, int):
        reject(file, 1, "not a baseline file; `gate baseline save` writes one")
    if version > SCHEMA_VERSION:
        reject(file, 1, f"schema_version {version} is newer than {SCHEMA_VERSION}; update gate")
    lists: dict[str, Json] = {name: [] for name in CASES if isinstance(data.get(name), list)}
    wrong = mismatches(schema(), {**data, **lists})
    if wrong:
        places = [(".".join(map(str, m.path)), m.message) for m in wrong[:SHOWN]]
        raise InvalidInput([Problem(Place(file, 1, key), message) for key, message in places])
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedBaseline:
    """What a baseline file holds, once it fits the schema; `file`: its name in messages."""

    file: str
    data: Mapping[str, CheckedJson]


def check_text(text: bytes, file: str, most_mb: int = MOST_MB) -> CheckedBaseline:
    """Raises InvalidInput with file:line when this is no whole baseline file of this version,
    UsageError when it is larger.
    """
    data = check_header(load(text, file, most_mb), file)
    _check_cases(data, text, file)
    return CheckedBaseline(file=file, data=data)


def _check_cases(data: Mapping[str, Json], text: bytes, file: str) -> None:
    case_problems = list(_case_problems(data))
    if case_problems:
        lines = _case_lines(text)
        raise InvalidInput(
            [
                Problem(Place(file, lines[index] if index < len(lines) else None, key), message)
                for index, key, message in case_problems[:SHOWN]
            ]
        )


def _case_problems(data: Mapping[str, CheckedJson]) -> Iterator[tuple[int, str, str]]:
    """Index in the lists of cases, one after the other, key and message of everything wrong."""
    fits, before = compile_check(_case_schema()), 0
    for name, runs in (
        ("cases", data["runs"]),
        ("anchor_cases", data.get("anchor", {}).get("runs", [])),
    ):
        cases, rounds = data.get(name, []), sum(run["kept"] for run in runs)
        for index, key, message in _problems_of(cases, fits, rounds):
            yield before + index, key, message
        before += len(cases)


def _problems_of(
    cases: Sequence[CheckedJson], fits: Callable[[CheckedJson], bool], rounds: int
) -> Iterator[tuple[int, str, str]]:
    seen: set[str] = set()
    for index, case in enumerate(cases):
        if not fits(case):
            wrong = mismatches(_case_schema(), case)
            for mismatch in wrong:
                yield index, ".".join(map(str, mismatch.path)), mismatch.message
            if wrong:
                continue
        if case["id"] in seen:
            yield index, "id", f"'{case['id'][:80]}' appears twice; save the baseline again"
        seen.add(case["id"])
        for column, values in case["values"].items():
            if len(values) != rounds:
                message = f"{len(values)} values, but the runs kept {rounds} rounds"
                yield index, f"values.{column}", message


def _case_lines(text: bytes) -> list[int]:
    """The line on which each case's id stands, however the file was laid out."""
    start = re.search(rb'"cases"\s*:', text)
    at = start.end() if start else 0
    line, lines = text.count(b"\n", 0, at) + 1, []
    for match in re.compile(rb'"id"\s*:').finditer(text, at):
        line += text.count(b"\n", at, match.start())
        at = match.start()
        lines.append(line)
    return lines


def reject(file: str, line: int | None, message: str) -> NoReturn:
    raise InvalidInput([Problem(Place(file, line), message)])
