"""`openagent`: a session folder of the OpenAgent benchmark."""

from __future__ import annotations

import hashlib
import re
import statistics
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import ClassVar, TypeGuard

from gate.agents.http_client.route import format_address
from gate.agents.traces.spending import split
from gate.errors import Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import (
    as_amount,
    as_list,
    as_object,
    is_integer,
    is_number,
    line_or_none,
)
from gate.files.plain import JsonLine, json_lines
from gate.files.problems import Findings, refuse_problems
from gate.files.session_file import read_json, regular
from gate.files.sniff import FirstLook
from gate.files.timestamps import iso, moment_of
from gate.graders.openagent_rules.crosscheck import SHOWN, shorten_notes
from gate.graders.openagent_rules.declared import canonical_name
from gate.importers.trials import build, shapes
from gate.importers.trials.nobodys_fault import status_of
from gate.importers.trials.stated import Figure, compare_stated
from gate.plugins import IMPORTERS
from gate.records import (
    MOST_ROUNDS,
    CheckedEvidence,
    CheckedJson,
    Health,
    Json,
    LogRead,
    Response,
    Score,
    Trial,
    TrialStatus,
    Usage,
)
from gate.records.imported import Imported, ImportedSuite
from gate.text.shortening import tidy

_SESSION = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}")


@IMPORTERS.register("openagent")
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAgentSession:
    """One trial for each task and round, as upstream judged it."""

    reads: ClassVar[str] = "a session's folder"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Not a session of Agent Gate, which has the log of its trials beside them."""
        return "events.jsonl" not in found.names and {META, DETAILS} <= found.names

    def read(self, path: Path) -> Imported:
        files = detail_files(path)
        meta = _Meta.of(path)
        totals = _check_records(files, path)
        made = iso(meta.created_at)
        return Imported(
            files=tuple(file for file in (path / META, *files) if file.exists()),
            created_at=made,
            provenance=build.provenance_of(TOOL, meta.agent),
            suites={name: _suite(one, meta) for name, one in totals.items()},
            trials=lambda: (
                trial_of(record, made, meta.model) for record in refuse_problems(records(files))
            ),
            options={**meta.options, "session": meta.session_id},
            health=meta.health,
            notes=tuple(_notes(totals, meta)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Meta:
    """meta.json as far as it is needed; what it lacks is unknown."""

    session_id: str
    created_at: datetime
    model: str | None = None
    agent: str = "openagent"
    rounds: int = 0
    suites: tuple[str, ...] = ()
    health: Health | None = None
    options: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> _Meta:
        """Raises UsageError when nothing says which session it is: its id has the time."""
        data = read_object(folder / META) or {}
        session_id = data.get("session_id") or folder.resolve().name.removeprefix("session-")
        model, address = (line_or_none(data.get(key)) for key in ("model", "base_url"))
        agent = " ".join(filter(None, ("openagent", model)))
        suites, rounds = data.get("suites"), data.get("rounds")
        numbers = {key: data.get(key) for key in ("rounds", "max_attempts", "timeout_s")}
        return cls(
            session_id=str(session_id),
            created_at=_moment(session_id, folder / META),
            model=model,
            agent=f"{agent} at {format_address(address)}" if address else agent,
            rounds=int(rounds) if _count(rounds) else 0,
            suites=tuple(map(str, suites)) if isinstance(suites, list) else (),
            health=_health(data.get("health")),
            options={key: value for key, value in numbers.items() if _count(value)},
        )


def _moment(session_id: Json, file: Path) -> datetime:
    match = _SESSION.fullmatch(session_id) if isinstance(session_id, str) else None
    if match and (moment := moment_of(match[1].replace("-", "T"))):
        return moment
    raise UsageError(
        f"{file}: session_id: '{tidy(str(session_id), 80)}' must look like "
        "20260512-143052-1a2b3c4d (date, time, number); correct it, or remove the key and "
        "name the folder like that"
    )


def _count(value: Json) -> TypeGuard[float]:
    return is_number(value) and 0 < value <= MOST_ROUNDS


def _health(data: Json) -> Health | None:
    if not isinstance(data, dict) or not isinstance(data.get("ok"), bool):
        return None
    status = data.get("status")
    latency_ms = as_amount(data.get("latency_ms")) or 0.0
    return Health(
        ok=data["ok"], latency_ms=latency_ms, status=status if is_integer(status) else None
    )


def _check_records(files: Sequence[Path], folder: Path) -> dict[str, SuiteTotals]:
    """Totals by suite. Raises InvalidInput with all that is wrong with records and summary."""
    totals: dict[str, SuiteTotals] = {}
    problems = Findings()
    seen: dict[tuple[str, str, int], int | None] = {}
    for record in problems.keep_good(records(tuple(files))):
        if record.key in seen:
            message = f"has the same suite, task and round as line {seen[record.key]} - keep one"
            problems.add(record.place, message)
        else:
            seen[record.key] = record.place.line
            totals.setdefault(record.key[0], SuiteTotals()).add(record)
    if not problems and not totals:
        problems.add(Place(files[0].as_posix()), "has no record")
    summary = None if problems else read_object(folder / SUMMARY)
    if summary is not None:
        problems.take(*contradictions(summary, totals, (folder / SUMMARY).as_posix()))
    problems.refuse()
    return {name: totals[name] for name in sorted(totals)}


def _suite(own: SuiteTotals, meta: _Meta) -> ImportedSuite:
    return ImportedSuite(
        rounds=max(own.rounds, meta.rounds),
        cases=len(own.tasks),
        dataset="tasks of an imported session",
        graders=build.name_judge(TOOL),
    )


def _notes(totals: Mapping[str, SuiteTotals], meta: _Meta) -> Iterator[str]:
    yield (
        f"imported from session {tidy(meta.session_id, 80)} of the OpenAgent "
        "benchmark; the benchmark judged the answers"
    )
    for name, own in totals.items():
        if own.recovered:
            yield (
                f"{name}: {own.recovered} of the {own.passed} trials that passed needed more "
                "than one attempt; they count as passed, as in the benchmark (retry: any_failure)"
            )
    for name in meta.suites:
        if name not in totals:
            yield f"{tidy(name, 80)}: {META} names this suite, but it has no record"


# ------------------------------------------------------------------------------------------ summary
# Versions differ in the standard deviation (population, sample) and readers in whether a missing
# number counts as 0: any of these readings will do.


ROUNDED = 0.5e-4 + 1e-9  # of shares, written with four digits
_CLOSE = 0.005  # relative, of milliseconds and tokens, whatever their rounding
_NEAR = 0.51  # absolute


@dataclass(slots=True, kw_only=True)
class SuiteTotals:
    """What one suite's records come to, in any order."""

    records: int = 0
    passed: int = 0
    recovered: int = 0  # passed at a later attempt
    rounds: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    tasks: set[str] = field(default_factory=set)
    latencies: array[float] = field(default_factory=lambda: array("d"))
    tokens: array[float] = field(default_factory=lambda: array("d"))

    def add(self, record: BenchmarkRecord) -> None:
        data = record.data
        self.records += 1
        self.passed += data["ok"]
        self.recovered += data["ok"] and data["attempt"] > 1
        self.rounds = max(self.rounds, data["round"])
        self.codes.update(record.codes)
        self.tasks.add(data["task_id"])
        for values, name in ((self.latencies, "latency_ms"), (self.tokens, "total_tokens")):
            value = data.get(name)
            if value is not None:
                values.append(value)


def contradictions(
    summary: Mapping[str, Json], totals: Mapping[str, SuiteTotals], file: str
) -> Iterator[Problem]:
    """One problem for each figure that the records do not bear out."""
    suites = summary.get("suites")
    if not isinstance(suites, dict):
        message = "must be a JSON object with an entry for each suite - use the original file"
        yield Problem(Place(file, key="suites"), message)
        return
    total = sum(one.records for one in totals.values())
    figure = Figure("total_records", (total,), f"there are {total} records")
    yield from compare_stated(summary, [figure], Place(file))
    for name in sorted({*map(str, suites), *totals}):
        stated = suites.get(name)
        where = f"suites.{name[:80]}"
        if not isinstance(stated, dict):
            yield Problem(Place(file, key=where), "is in the records, but not in the summary")
        elif name not in totals:
            yield Problem(Place(file, key=where), "is in the summary, but has no record")
        else:
            yield from compare_stated(stated, _figures(totals[name]), Place(file, key=where))
            failures = Place(file, key=f"{where}.failures_top")
            yield from _compare_failures(stated.get("failures_top"), totals[name], failures)


def _figures(own: SuiteTotals) -> Iterator[Figure]:
    """What the summary states of a suite, as its records give it."""
    rate = own.passed / own.records
    shown = f"{own.passed} of {own.records} records are ok, {rate:.4f}"
    yield Figure("rounds", (own.records,), f"there are {own.records} records")
    yield Figure("success_rate", (rate,), shown, near=ROUNDED)
    for prefix, values in (("latency_ms", own.latencies), ("tokens", own.tokens)):
        readings = [values, array("d", [*values, *[0.0] * (own.records - len(values))])]
        means = [statistics.fmean(reading) for reading in readings if reading]
        yield _amount(f"{prefix}_mean", means)
        yield _amount(f"{prefix}_std", _spreads(readings))
    yield _amount("worst_latency_ms", [max(own.latencies)] if own.latencies else [])


def _amount(key: str, own: Sequence[float]) -> Figure:
    """A figure that is null or 0 where nothing was measured says nothing."""
    readings = own or [0.0]
    return Figure(key, readings, f"the records give {readings[0]:.2f}", near=_NEAR, rel=_CLOSE)


def _spreads(readings: Sequence[Sequence[float]]) -> list[float]:
    """Standard deviations of the population and of a sample; of one value 0."""
    spreads = [statistics.pstdev(reading) for reading in readings if reading]
    return spreads + [statistics.stdev(reading) for reading in readings if len(reading) > 1]


def _compare_failures(top: Json, own: SuiteTotals, place: Place) -> Iterator[Problem]:
    for entry in as_list(top):
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            yield Problem(place, "an entry is not a pair of a code and a number")
            continue
        count = own.codes[entry[0]]
        figure = Figure(entry[0][:80], (count,), f"{count} records have this code")
        yield from compare_stated({figure.key: entry[1]}, [figure], place)


TOOL = "openagent-agentbench"  # what measured, and what judged
NOT_KEPT = "failed; the source keeps only the last attempt of a task and round"


def trial_of(record: BenchmarkRecord, created_at: str, model: str | None) -> Trial:
    name, task, number = record.key
    suite, data, codes = build.ToolSuite(TOOL, name), record.data, tuple(record.codes)
    digest = hashlib.sha256(f"{TOOL}\n{name}\n{task}".encode()).hexdigest()[:16]
    api_error, parse_error = data.get("api_error"), data.get("parse_error")
    status: TrialStatus = "agent_error" if parse_error else "completed"
    if api_error:
        status = status_of(api_error, data.get("response_status"))
    passed = data["ok"] if status == "completed" else None
    score = Score(passed=passed, failures=codes, evidence=_evidence(data.get("evidence")))
    made = suite.trial(
        suite.case(task, category=data.get("category"), digest=digest, place=record.place),
        round=number,
        status=status,
        passed=data["ok"],
        failures=codes,
        scores={TOOL: score},
        response=_response(data, model),
        latency_ms=data.get("latency_ms"),
        error=api_error or parse_error or None,
        started_at=created_at,
    )
    # upstream stops at the first attempt that is ok
    return build.add_earlier(made, repeat(build.unkept_attempt(NOT_KEPT), data["attempt"] - 1))


def _response(data: Mapping[str, CheckedJson], model: str | None) -> Response | None:
    said = data.get("response_text")
    if said is None and (data.get("api_error") or data.get("parse_error")):
        return None
    parts = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = Usage(**split(*(data.get(name) for name in parts)))
    return Response(answer=said or "", usage=usage, model=model)


def _evidence(data: CheckedJson) -> CheckedEvidence | None:
    """What upstream found in the server's logs; it does not keep what the answer declares."""
    logs = (data or {}).get("log_verification")
    if not logs:
        return None

    def names(key: str) -> tuple[str, ...]:
        return tuple(filter(None, map(canonical_name, (logs.get(key) or ())[:SHOWN])))

    paths = shorten_notes(logs.get("log_paths_checked") or ())
    return CheckedEvidence(
        verdict=logs.get("tools_log_verdict") or "unknown",
        observed=names("tool_calls_observed_union") or None,
        required=names("required_tools"),
        missing=names("missing_tools_in_tool_log"),
        logs=tuple(
            LogRead(kind="console" if "console" in path else "access", path=path, bound="window")
            for path in paths
        ),
        notes=shorten_notes(logs.get("notes") or ()),
    )


# -------------------------------------------------------------------------------------------- files


META, SUMMARY, DETAILS = "meta.json", "summary.json", "details.jsonl"
MOST_JSON = 64 << 20  # of meta.json and summary.json
MOST_ATTEMPTS = 1000
_EXPECTED = f"{META}, {SUMMARY} and {DETAILS}"

# Folders of other tools: a file of theirs -> what to say.
_OTHERS = {
    "events.jsonl": "this is an Agent Gate session, which needs no import: all commands read it",
    **dict.fromkeys(
        ("overall.json", "runs.jsonl"),
        "this looks like an output folder of THUDM's AgentBench; use `gate import "
        "thudm-agentbench`",
    ),
}

_LOGS = shapes.object_of(
    null=True,
    tools_log_verdict={"enum": ["complete", "incomplete", "unknown", None]},
    tool_calls_observed_union=shapes.TEXTS,
    required_tools=shapes.TEXTS,
    missing_tools_in_tool_log=shapes.TEXTS,
    log_paths_checked=shapes.TEXTS,
    notes=shapes.TEXTS,
)
# It becomes a folder beside the files of a session.
_SUITE = r"^(?!.*\.(jsonl?|md|html|xml|lock)$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$(?!\n)"
_CHECK = SchemaCheck(
    shapes.object_of(
        *("suite", "task_id", "round", "attempt", "ok"),
        suite={"type": "string", "pattern": _SUITE},
        task_id=shapes.WORD,
        category=shapes.TEXT,
        round={"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS},
        attempt={"type": "integer", "minimum": 1, "maximum": MOST_ATTEMPTS},
        ok={"type": "boolean"},
        latency_ms=shapes.AMOUNT,
        total_tokens=shapes.COUNT,
        prompt_tokens=shapes.COUNT,
        completion_tokens=shapes.COUNT,
        response_status={**shapes.COUNT, "maximum": 999},
        api_error=shapes.TEXT,
        parse_error=shapes.TEXT,
        validation_errors=shapes.TEXTS,
        response_text=shapes.TEXT,
        evidence=shapes.object_of(null=True, log_verification=_LOGS),
        extra=shapes.OBJECT,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRecord:
    """A line of details.jsonl that is what it should be."""

    place: Place
    data: Mapping[str, CheckedJson]

    @property
    def key(self) -> tuple[str, str, int]:
        return self.data["suite"], self.data["task_id"], self.data["round"]

    @property
    def codes(self) -> list[str]:
        """The failure codes, as upstream counts them."""
        codes = list(self.data.get("validation_errors") or ())
        return codes + [name for name in ("api_error", "parse_error") if self.data.get(name)]


def detail_files(folder: Path) -> tuple[Path, ...]:
    """details.jsonl, else those of the suites. Raises UsageError if it is no such session."""
    if not folder.is_dir():
        there = "a file" if folder.exists() else "not there"
        raise UsageError(f"{folder}: {there}; give the folder of a session, with {_EXPECTED}")
    for name, looks in _OTHERS.items():
        if (folder / name).exists():
            raise UsageError(f"{folder}: {looks}")
    if not (folder / META).exists() and (folder.parent / META).exists():
        whole, name = folder.resolve().parent, folder.resolve().name
        raise UsageError(f"{folder}: is the folder of one suite; give {whole} and --suite {name}")
    common = folder / DETAILS
    if common.exists() or common.is_symlink():
        return (common,)
    parts = tuple(sorted(folder.glob(f"*/{DETAILS}")))
    linked = next((part.parent for part in parts if part.parent.is_symlink()), None)
    if linked:
        raise UsageError(f"{linked}: is a symbolic link; copy the folder itself")
    if not parts:
        raise UsageError(
            f"{folder}: has no {DETAILS}; a session of the OpenAgent benchmark has {_EXPECTED}"
        )
    return parts


def records(files: tuple[Path, ...]) -> Iterator[BenchmarkRecord | Problem]:
    """Every line of the files, in order. Raises UsageError for a link or a device."""
    for path in files:
        for line in json_lines(regular(path)):
            yield line if isinstance(line, Problem) else _check_record(line)


def _check_record(line: JsonLine) -> BenchmarkRecord | Problem:
    if wrong := _CHECK.list_problems(line.data, line.place):
        return wrong[0]
    record = BenchmarkRecord(place=line.place, data=as_object(line.data))
    if record.data["ok"] and record.codes:
        code = record.codes[0][:80]
        message = f"ok is true, but it failed with {code!r} - correct one of the two"
        return Problem(line.place, message)
    return record


def read_object(path: Path) -> dict[str, Json] | None:
    """meta.json or summary.json; None where it is missing. Raises UsageError."""
    if not path.exists() and not path.is_symlink():
        return None
    data = read_json(path, MOST_JSON)
    if not isinstance(data, dict):
        raise UsageError(f"{path}: must be a JSON object; use the original file")
    return data
