"""OpenAgent's audit log: a record a line, with the time in UTC and what became of each call."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from gate.agents.traces.openagent_lines import NAMELESS, RAN
from gate.agents.traces.values import parse_text
from gate.records import Json, LoggedCall

_SHOWING = ("tool_call", "llm_call")  # types that are written only where calls are audited
_TRIED = (*RAN, "not_found")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCalls:
    """`calls` were executed; `tried` are names of these and of calls that found no tool. `broken`:
    lines that are no records. `chats`: how many called a tool or a model; a title may come late.
    """

    calls: tuple[LoggedCall, ...]
    tried: tuple[str, ...]
    shows: bool
    broken: int
    chats: int


def parse_audit(lines: Iterable[str]) -> AuditedCalls:
    """Calls in the order of their times; those without a time come first."""
    calls: list[LoggedCall] = []
    tried: list[str] = []
    chats = set()
    broken, shows = 0, False
    for line in lines:
        record = _record(line)
        if record is None:
            broken += 1
            continue
        kind, outcome = record.get("type"), record.get("outcome")
        if kind in _SHOWING:
            shows = True
            chats.add(str(record.get("sessionId")))
        if kind != "tool_call" or outcome not in _TRIED:
            continue
        tool = record.get("tool")
        name = tool if isinstance(tool, str) and tool else NAMELESS
        tried.append(name)
        if ran := next((one for one in RAN if one == outcome), None):
            calls.append(LoggedCall(name=name, log="audit", outcome=ran, at=_iso(record)))
    calls.sort(key=lambda call: call.at or "")
    return AuditedCalls(
        calls=tuple(calls),
        tried=tuple(tried),
        shows=shows,
        broken=broken,
        chats=len(chats),
    )


def audit_ms(line: str) -> int | None:
    """Unix time of a record; None: it has none."""
    record = _record(line)
    at = None if record is None else _time(record)
    return None if at is None else int(at.timestamp() * 1000)


def _record(line: str) -> dict[str, Json] | None:
    try:
        record = parse_text(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _time(record: dict[str, Json]) -> datetime | None:
    written = record.get("timestamp")
    if not isinstance(written, str):
        return None
    try:
        at = datetime.fromisoformat(written)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _iso(record: dict[str, Json]) -> str | None:
    at = _time(record)
    return None if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
