"""A run as plain values, to be put aside, and as a trial when it is asked for."""

from __future__ import annotations

import hashlib
import marshal
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

from gate.importers.formats.otel.evaluations import TOOL, SpanScore
from gate.importers.formats.otel.group_spans import Group
from gate.importers.formats.otel.runs import Naming, Oddities, TracedRun, run_of
from gate.importers.trials.build import AT_THE_SOURCE, case_of, trial_of
from gate.records import Document, Response, ToolCall, Trial, TrialStatus, Usage

_FAILED = "agent_error"
_PARTS = {kind: tuple(field.name for field in fields(kind)) for kind in (ToolCall, Usage, Document)}
_TAKEN = {kind: attrgetter(*names) for kind, names in _PARTS.items()}
_PLAIN = ("answer", "model", "finish_reason", "turns", "omitted_steps", "trace_faults")
_plain = attrgetter(*_PLAIN)
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def runs_of(request: tuple[str, str, list[Any]]) -> tuple[Any, ...]:
    """The entry and the data of each run of the groups, as plain values, and what is odd about
    them.
    """
    case, suite, groups = request
    naming, odd = Naming(case=case, suite=suite), Oddities()
    found = []
    for group in groups:
        run = run_of(Group._make(group), naming, odd)
        if run is not None:
            found.append((_entry(run), pack_run(run)))
    return found, odd.wrong, dict(odd.counted)


def _entry(run: TracedRun) -> list[Any]:
    """What is to be known of it before it is a trial."""
    asked = hashlib.sha256(run.question.encode()).digest()[:8]
    metrics = [(result.metric, result.passed is not None) for result in run.results]
    return [run.suite, run.case, run.start, run.key, asked, metrics]


def pack_run(run: TracedRun) -> bytes:
    response = run.response
    documents = response.retrieved
    return marshal.dumps(
        (
            *run[:-2],
            tuple(map(tuple, run.results)),
            (
                _plain(response),
                tuple(map(_TAKEN[ToolCall], response.steps or ())),
                _TAKEN[Usage](response.usage),
                None if documents is None else tuple(map(_TAKEN[Document], documents)),
            ),
        )
    )


def unpack_run(data: bytes) -> TracedRun:
    *own, results, (plain, steps, usage, documents) = marshal.loads(data)  # noqa: S302 - ours
    response = Response(
        **dict(zip(_PLAIN, plain, strict=True)),
        steps=tuple(ToolCall(**dict(zip(_PARTS[ToolCall], s, strict=True))) for s in steps),
        usage=Usage(**dict(zip(_PARTS[Usage], usage, strict=True))),
        retrieved=None
        if documents is None
        else tuple(Document(**dict(zip(_PARTS[Document], d, strict=True))) for d in documents),
    )
    return TracedRun._make((*own, tuple(map(SpanScore._make, results)), response))


def trial(run: TracedRun, number: int) -> Trial:
    """`number`: which time it was, from 1, that the case was asked."""
    status: TrialStatus = "completed"
    if run.failed is not None:
        status = "infra_error" if run.nobodys else "agent_error"
    return trial_of(
        TOOL,
        run.suite,
        case_of(TOOL, run.suite, run.case, input=run.question),
        round=number,
        status=status,
        passed=run.passed,
        failures=(_FAILED,) if status == "agent_error" else (),
        scores={result.metric: result.score() for result in run.results},
        response=run.response,
        latency_ms=run.latency_ms,
        error=run.failed,
        started_at=AT_THE_SOURCE if run.start is None else moment(run.start),
    )


def moment(ns: int) -> str:
    """ISO 8601, UTC, to the millisecond, rounded down."""
    found = _BEGINNING + timedelta(milliseconds=ns // 1_000_000)
    return found.isoformat(timespec="milliseconds").replace("+00:00", "Z")
