"""`otel`: evaluation events of OpenTelemetry's GenAI conventions, as OTLP in JSON Lines."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from gate.plugins import EXPORTERS, Rows
from gate.records import CheckedJson, Json, Report, TrialRow

EVENT = "gen_ai.evaluation.result"
VERDICT = "agent_gate.passed"  # the name of the evaluation that says pass or fail
BATCH = 200  # events a line
TEXT = 4_000  # characters of an explanation
_INFO = 9  # severity number
_LABELS = {True: "pass", False: "fail", None: "unscored"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Event = dict[str, Json]


@EXPORTERS.register("otel")
@dataclass(frozen=True, slots=True, kw_only=True)
class OTel:
    """Each line is the body of an OTLP/HTTP request to /v1/logs, with up to 200 events: of each
    trial one that says whether it passed, one a score and one a grader that could not judge. Ids
    are made of session, suite, case and round: exporting twice gives the same.
    """

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]:
        resource, scope = _resource(report), {"name": "agent-gate"}
        fallback = _nanoseconds(report.created_at) or 0
        events = (event for row in rows() for event in _events(row, report.session_id, fallback))
        while batch := list(islice(events, BATCH)):
            logs = [{"scope": scope, "logRecords": batch}]
            request = {"resourceLogs": [{"resource": resource, "scopeLogs": logs}]}
            yield json.dumps(request, ensure_ascii=False, separators=(",", ":")) + "\n"


def _resource(report: Report) -> Event:
    p = report.provenance
    attributes = {
        "service.name": "agent-gate",
        "service.version": p.tool_version,
        "agent_gate.session.id": report.session_id,
        "agent_gate.agent": p.agent,
        "vcs.ref.head.revision": p.commit,
        "vcs.repository.name": p.repository,
    }
    return {"attributes": _attributes(attributes)}


def _events(row: TrialRow, session_id: str, fallback: int) -> Iterator[Event]:
    of = (session_id, row["suite"], row["case_id"], row["round"])
    moment = str(_nanoseconds(row["started_at"]) or fallback)
    common = {
        "agent_gate.suite": row["suite"],
        "agent_gate.case.id": row["case_id"],
        "agent_gate.round": row["round"],
        "gen_ai.response.model": row["model"],
    }
    for event in (_verdict(row), *_scores(row), *_unscored_events(row)):
        name = event["gen_ai.evaluation.name"]
        yield {
            "timeUnixNano": moment,
            "observedTimeUnixNano": moment,
            "severityNumber": _INFO,
            "severityText": "INFO",
            "eventName": EVENT,
            "attributes": _attributes({**event, **common, "log.record.uid": _id(32, *of, name)}),
            "traceId": _id(32, *of),
            "spanId": _id(16, *of),
        }


def _verdict(row: TrialRow) -> Event:
    passed, failed = row["passed"], row["status"] != "completed"
    reasons = [f"{name}: {text}" for name, text in row["reasons"].items()]
    reasons_given = [*row["failures"], *reasons, *([row["error"]] if row["error"] else [])]
    return {
        "gen_ai.evaluation.name": VERDICT,
        "gen_ai.evaluation.score.value": None if passed is None else float(passed),
        "gen_ai.evaluation.score.label": _LABELS[passed],
        "gen_ai.evaluation.explanation": "\n".join(reasons_given)[:TEXT] or None,
        "error.type": row["status"] if failed else None,
    }


def _scores(row: TrialRow) -> Iterator[Event]:
    for name, value in row["scores"].items():
        if value is not None and math.isfinite(value):
            yield {
                "gen_ai.evaluation.name": name,
                "gen_ai.evaluation.score.value": float(value),
            }


def _unscored_events(row: TrialRow) -> Iterator[Event]:
    for name, why in row["unscored"].items():
        yield {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.explanation": why[:TEXT],
            "error.type": "unscored",
        }


def _attributes(values: Mapping[str, CheckedJson]) -> list[Event]:
    """Without what is unknown."""
    return [{"key": key, "value": _value(one)} for key, one in values.items() if one is not None]


def _value(value: Json) -> Event:
    """As OTLP's JSON has it: a whole number is written as a text."""
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _id(digits: int, *of: Json) -> str:
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()[:digits]


def _nanoseconds(text: str) -> int | None:
    """Since 1970; None for what is no time after it."""
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        return None
    nanoseconds = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000
    return nanoseconds if 0 < nanoseconds < 2**64 else None
