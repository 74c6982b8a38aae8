"""What a server's own logs show of a request, and how it fits what the answer claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gate.errors import Transport

LogKind = Literal["access", "console", "audit"]
# offset: the bytes that were appended while the request ran; window: lines by their time.
Bound = Literal["offset", "window"]
EvidenceVerdict = Literal["complete", "incomplete", "unknown"]


# Why calls are not known, as `ServerLogs.notes` has it.
NOTHING_READ = "no server log could be read"
NO_CALLS = "no log that was read shows tool calls"
NOT_ALONE = "other requests were under way"
SEVERAL = "the access log shows more than one request"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedCall:
    """A tool call that a server logged. `outcome`: what became of it, None: it does not say."""

    name: str
    log: LogKind
    outcome: Literal["success", "failure"] | None = None
    at: str | None = None  # ISO 8601, UTC; None: the line has no time


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRead:
    """One log that was looked for. `bound`: None where nothing could be read of it."""

    kind: LogKind
    path: str
    bound: Bound | None
    lines: int = 0
    # Whether lines say something of tool calls, be it that there was none.
    shows_calls: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLogs:
    """What the logs show of one request.

    `calls` is None where no log that was read shows tool calls. `requests`: chat completions that
    ended meanwhile, by the access log; None: it was not read. `alone`: no other request of this
    run was under way beside it, and the audit log has no calls of another chat.
    """

    calls: tuple[LoggedCall, ...] | None = None
    requests: int | None = None
    alone: bool = True
    logs: tuple[LogRead, ...] = ()
    started_ms: int = 0  # Unix time
    ended_ms: int = 0
    files: tuple[str, ...] | None = None  # below ./scratch/; None: not this machine's
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedEvidence:
    """The tool calls that an answer declares beside those that the server logged. Names are
    canonical: the part behind the last dot, lower case, `_` for `-`.
    """

    verdict: EvidenceVerdict
    declared: tuple[str, ...] = ()
    observed: tuple[str, ...] | None = None  # None: no log shows calls
    required: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # required, not observed
    fabricated: tuple[str, ...] = ()  # declared, not observed
    undeclared: tuple[str, ...] = ()  # observed, not declared
    logs: tuple[LogRead, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceCounts:
    """Over the trials of a suite whose evidence was checked."""

    complete: int = 0
    incomplete: int = 0
    unknown: int = 0
    fabricated: int = 0  # trials that declare a call which no log shows
    notes: tuple[tuple[str, int], ...] = field(default=())  # most frequent first
    # Case and tool, the first by case: required and not logged, declared and not logged.
    missing_calls: tuple[tuple[str, str], ...] = ()
    fabricated_calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnVerdict:
    """What a suite written as code says of an answer itself."""

    passed: bool
    failures: tuple[str, ...] = ()
    note: str = ""  # what else it says, one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the check before the first call found."""

    ok: bool
    latency_ms: float
    status: int | None = None  # of HTTP; None: nothing was asked by HTTP
    error: str = ""
    transport: Transport | None = None  # how it failed, where somebody answered
