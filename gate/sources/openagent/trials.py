"""A record of the OpenAgent benchmark as a trial: whose failure it was, its codes, its evidence."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from gate.records import (
    Attempt,
    Case,
    CheckedEvidence,
    Json,
    LogRead,
    Response,
    Score,
    Trial,
    TrialStatus,
    Usage,
)
from gate.sources.openagent.files import Record
from gate.validators.crosscheck import SHOWN, told
from gate.validators.declared import canonical
from gate.wire.chat import is_nobodys_fault

TOOL = "openagent-agentbench"  # what measured, and what judged
NOT_KEPT = "failed; of a task and round the source keeps one attempt, and it was a later one"
# docs/semantics.md 4, whose failure: nobody answered.
_NOBODY = frozenset({401, 403, 407, 429, 502, 503, 504})
_STATUS = re.compile(r"\bHTTP(?: Error|/\d(?:\.\d)?)?:? (\d{3})\b", re.IGNORECASE)
_UNREACHED = re.compile(
    r"refused|reset by peer|unreachable|getaddrinfo|name or service|nodename|name resolution"
    r"|no route|remote end closed|\bssl\b|certificate",
    re.IGNORECASE,
)


def trial_of(record: Record, created_at: str, model: str | None) -> Trial:
    suite, task, number = record.key
    digest = hashlib.sha256(f"{TOOL}\n{suite}\n{task}".encode()).hexdigest()[:16]
    last = record.data["attempt"]
    earlier = (_unkept(n) for n in range(1, last))
    return Trial(
        suite=suite,
        case=Case(
            id=task,
            input="",
            keys={},
            category=record.data.get("category"),
            digest=digest,
            place=record.place,
        ),
        round=number,
        attempts=(*earlier, _attempt(record.data, record.codes, model)),
        started_at=created_at,
        judged=last - 1,
    )


def _unkept(n: int) -> Attempt:
    """Upstream stops at the first attempt that is ok."""
    return Attempt(n=n, status="agent_error", latency_ms=None, passed=False, error=NOT_KEPT)


def _attempt(data: Mapping[str, Json], codes: Sequence[str], model: str | None) -> Attempt:
    status, error = _status(data), data.get("api_error") or data.get("parse_error")
    evidence = _evidence(data.get("evidence"))
    passed = None if status == "infra_error" else bool(data["ok"])
    opinion = passed if status == "completed" else None
    score = Score(passed=opinion, failures=tuple(codes), evidence=evidence)
    return Attempt(
        n=data["attempt"],
        status=status,
        latency_ms=data.get("latency_ms"),
        response=_response(data, model),
        scores={TOOL: score},
        passed=passed,
        failures=tuple(dict.fromkeys(codes)),
        error=error or None,
    )


def _status(data: Mapping[str, Json]) -> TrialStatus:
    said = data.get("api_error")
    if not said:
        return "agent_error" if data.get("parse_error") else "completed"
    spoken = _STATUS.search(said)
    status = int(spoken[1]) if spoken else data.get("response_status")
    if status in _NOBODY or is_nobodys_fault(said) or _UNREACHED.search(said):
        return "infra_error"
    return "agent_error"


def _response(data: Mapping[str, Json], model: str | None) -> Response | None:
    said = data.get("response_text")
    if said is None and (data.get("api_error") or data.get("parse_error")):
        return None
    usage = Usage(
        input_tokens=data.get("prompt_tokens"), output_tokens=data.get("completion_tokens")
    )
    return Response(answer=said or "", usage=usage, model=model)


def _evidence(data: Json) -> CheckedEvidence | None:
    """What upstream found in the server's logs; it does not keep what the answer declares."""
    logs = (data or {}).get("log_verification")
    if not logs:
        return None

    def names(key: str) -> tuple[str, ...]:
        return tuple(filter(None, map(canonical, (logs.get(key) or ())[:SHOWN])))

    paths = told(logs.get("log_paths_checked") or ())
    return CheckedEvidence(
        verdict=logs.get("tools_log_verdict") or "unknown",
        observed=names("tool_calls_observed_union") or None,
        required=names("required_tools"),
        missing=names("missing_tools_in_tool_log"),
        logs=tuple(
            LogRead(kind="console" if "console" in path else "access", path=path, bound="window")
            for path in paths
        ),
        notes=told(logs.get("notes") or ()),
    )
