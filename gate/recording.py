"""Recorded answers, one JSON line a try: written by `--record`, asked again by `--replay`."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gate.codec import from_json, schema_of, to_json
from gate.encoding import decode
from gate.errors import AgentFailure, InfraFailure, InfrastructureError, InvalidInput, Place, Problem
from gate.errors import UsageError
from gate.fits import compiled
from gate.records import Case, Json, Response
from gate.schema import mismatches


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One try: a response, or one of the two failures. `input_digest` is of what was asked."""

    case_id: str
    input_digest: str
    round: int
    latency_ms: float
    response: Response | None = None
    agent_error: str | None = None
    infra_error: str | None = None


SCHEMA = schema_of(Line)
_FITS = compiled(SCHEMA)


def recording_line(
    case: Case, round: int, answer: Response | Exception, latency_ms: float
) -> str:
    """A line of the file, without its end. `answer` is a Response, AgentFailure or InfraFailure."""
    line: dict[str, Json] = {
        "case_id": case.id,
        "input_digest": input_digest(case),
        "round": round,
        "latency_ms": round_ms(latency_ms),
    }
    if isinstance(answer, Response):
        line["response"] = to_json(answer)
    else:
        kind = "infra_error" if isinstance(answer, InfraFailure) else "agent_error"
        line[kind] = str(answer)
    return json.dumps(line, separators=(",", ":"))


def round_ms(latency_ms: float) -> float:
    return round(latency_ms, 3)


def input_digest(case: Case) -> str:
    """Of the input alone: expected answers may change and the recorded answer still stands."""
    text = json.dumps(case.input, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
