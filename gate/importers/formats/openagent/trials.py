"""A record of the OpenAgent benchmark as a trial: whose failure it was, its codes, its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from gate.agents.traces.spending import split
from gate.graders.openagent_rules.crosscheck import SHOWN, shorten_notes
from gate.graders.openagent_rules.declared import canonical_name
from gate.importers.formats.openagent.files import BenchmarkRecord
from gate.importers.trials.nobodys_fault import is_nobodys
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

TOOL = "openagent-agentbench"  # what measured, and what judged
NOT_KEPT = "failed; of a task and round the source keeps one attempt, and it was a later one"


def trial_of(record: BenchmarkRecord, created_at: str, model: str | None) -> Trial:
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
    return "infra_error" if is_nobodys(said, data.get("response_status")) else "agent_error"


def _response(data: Mapping[str, Json], model: str | None) -> Response | None:
    said = data.get("response_text")
    if said is None and (data.get("api_error") or data.get("parse_error")):
        return None
    parts = ("prompt_tokens", "completion_tokens", "total_tokens")
    usage = Usage(**split(*(data.get(name) for name in parts)))
    return Response(answer=said or "", usage=usage, model=model)


def _evidence(data: Json) -> CheckedEvidence | None:
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
