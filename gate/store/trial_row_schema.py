"""The published form of a row of details.jsonl, key by key; trial_rows.py writes such rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.errors import Transport
from gate.records import (
    LARGEST,
    CheckedEvidence,
    CheckedJson,
    FailureMode,
    Json,
    Judging,
    LoggedViolation,
    ToolCall,
    TrialStatus,
    Usage,
)
from gate.records.codec import schema_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One try; `waited_ms` was spent on Retry-After and is in no latency."""

    n: int  # from 1
    status: TrialStatus
    passed: bool | None
    failures: tuple[str, ...]
    latency_ms: float | None
    waited_ms: float | None
    usage: Usage | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailsRow:
    """One trial. Null is unmeasured or unknown, never zero."""

    suite: str
    case_id: str
    case_digest: str
    category: str | None
    tags: tuple[str, ...]
    round: int  # from 1
    attempts: tuple[AttemptRow, ...]
    status: TrialStatus
    passed: bool | None
    failures: tuple[str, ...]  # codes
    scores: Mapping[str, float | None]  # metric column -> value
    dimension_scores: Mapping[str, float | None]
    reasons: Mapping[str, str]  # grader -> what it said
    unscored: Mapping[str, str]  # grader -> why it could not judge
    latency_ms: float | None
    cost_usd: float | None
    question: str
    error: str | None
    started_at: str  # ISO 8601, UTC
    usage: Usage | None
    model: str | None
    steps: tuple[ToolCall, ...] | None
    output: str | None
    retrieved_ids: tuple[str, ...] | None
    safety_violations: tuple[str, ...] | None
    # Key of the case -> what the dataset expects of it, in round 1.
    expected: Mapping[str, Json] = field(default_factory=dict)
    failed_by: tuple[str, ...] = ()  # graders that said no
    uncertain: Mapping[str, float] = field(default_factory=dict)  # grader of a judge -> 0 to 1
    judging: Judging | None = None  # null: no model was asked
    listed: tuple[str, ...] = ()  # models whose cost is counted by the list of their provider
    mode: FailureMode | None = None  # why it failed; null: it did not, or nobody answered
    violations: tuple[LoggedViolation, ...] | None = None  # null: nobody looked for any
    turns: int | None = None  # calls of the model
    finish_reason: str | None = None  # why the model stopped, in its own words
    omitted_steps: int = 0  # steps that are not in `steps`
    trace_faults: tuple[str, ...] = ()
    recovered: bool = False  # passed after a try that the agent had failed
    transport: Transport | None = None  # how it failed, where nothing of the agent could be read
    ungraded: bool = False  # the agent failed where no grader says pass or fail of any answer
    evidence: CheckedEvidence | None = None  # null: nobody looked at declared tool calls
    details: Mapping[str, Json] = field(default_factory=dict)  # grader -> what it found


def schema() -> dict[str, Json]:
    """JSON Schema of one line."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of details.jsonl of an Agent Gate session",
        **_bound_numbers(schema_of(DetailsRow)),
    }


def _bound_numbers(schema: dict[str, CheckedJson]) -> dict[str, CheckedJson]:
    """No number in it is too large to compute with."""
    inner = {
        key: {name: _bound_numbers(one) for name, one in value.items()}
        if key == "properties"
        else _bound_numbers(value)
        if isinstance(value, dict)
        else [_bound_numbers(one) if isinstance(one, dict) else one for one in value]
        if key in ("anyOf", "prefixItems")
        else value
        for key, value in schema.items()
    }
    kinds = schema.get("type", ())
    if {"number", "integer"} & set([kinds] if isinstance(kinds, str) else kinds):
        inner |= {"minimum": -LARGEST, "maximum": LARGEST}
    return inner
