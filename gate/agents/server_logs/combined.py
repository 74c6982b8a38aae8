"""The calls that several logs of one request show, each counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gate.agents.server_logs.audit import parse_audit
from gate.agents.server_logs.console import parse_console
from gate.agents.server_logs.log_extract import LogExtract
from gate.agents.traces.openagent_lines import NAMELESS
from gate.records import LoggedCall, LogKind
from gate.text.escaping import one_line

MOST_CALLS = 2_000  # of one request; more are of no one request
_NAME = 200  # characters of a name

ODD = "decisions and calls in the console log disagree: calls may be missing or invented"
DIFFER = "console and audit log show different calls: the audit log is used"
CHATS = "the audit log has calls of several chats: some may belong to another request"
BROKEN = "some lines of the audit log are not records and were skipped"
PARTLY = "a log could not be read completely: its calls are ignored"
TOO_MANY = f"a log shows more than {MOST_CALLS} calls, too many for one request: all are ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """`calls`: None where no log that was read whole shows calls."""

    calls: tuple[LoggedCall, ...] | None
    notes: tuple[str, ...]


def combine_logs(extracts: Mapping[LogKind, LogExtract]) -> Combined:
    """The audit log is taken where it shows calls: it knows which ran, and no tool prints to it."""
    audit = parse_audit(_lines(extracts, "audit"))
    console = parse_console(_lines(extracts, "console"))
    tellers = [one for kind, one in extracts.items() if kind != "access"]
    sound_by_kind = {one.kind: one.sound for one in tellers}
    many = max(len(audit.tried), len(console.names)) > MOST_CALLS
    taken: list[tuple[LoggedCall, ...]] = []
    if audit.shows and sound_by_kind["audit"] and not many:
        taken.append(audit.calls)
    if console.shows and sound_by_kind["console"] and not many and not console.odd:
        taken.append(tuple(LoggedCall(name=name, log="console") for name in console.names))
    calls_by_kind = {
        ODD: console.odd,
        DIFFER: len(taken) > 1 and _tools(console.names) != _tools(audit.tried),
        CHATS: audit.chats > 1,
        BROKEN: audit.broken > 0,
        PARTLY: any(one.lines and not one.sound for one in tellers),
        TOO_MANY: many,
    }
    return Combined(
        calls=tuple(map(_clean_call, taken[0])) if taken else None,
        notes=tuple(note for note, holds in calls_by_kind.items() if holds),
    )


def _lines(extracts: Mapping[LogKind, LogExtract], kind: LogKind) -> tuple[str, ...]:
    return extracts[kind].lines if kind in extracts else ()


def _tools(names: Iterable[str]) -> Counter[str]:
    """Without their servers, which only the console writes into a name."""
    return Counter(name.rpartition("__")[2].lower().replace("-", "_") for name in names)


def _clean_call(call: LoggedCall) -> LoggedCall:
    return replace(call, name=one_line(call.name, _NAME) or NAMELESS)
