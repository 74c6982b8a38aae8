"""The entry point: a mark before the request, and what the logs show after it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path

from gate.agents.server_logs.access import stamp
from gate.agents.server_logs.audit import audit_ms, parse_audit
from gate.agents.server_logs.console import parse_console
from gate.agents.server_logs.folder import sessions_in
from gate.agents.server_logs.log_extract import LogExtract, count_ended
from gate.agents.server_logs.options import LogOptions, moments, zone_of
from gate.agents.server_logs.paths import LogCandidate, candidates
from gate.agents.server_logs.wait_for_lines import settle
from gate.agents.server_logs.watched import LogMark, WatchedLog
from gate.agents.server_logs.window import Window, WindowLines, around, within
from gate.agents.traces.openagent_lines import NAMELESS
from gate.records import LoggedCall, LogKind, LogRead, ServerLogs
from gate.records.server_logs import NO_CALLS, NOT_ALONE, NOTHING_READ, SEVERAL
from gate.text.shortening import tidy

MOST_SESSIONS = 64  # of the audit folder that one window is looked for in, those written last

UNTIMED = "some of its lines have no time and are ignored"

MOST_CALLS = 2_000  # of one request; more are of no one request
_NAME = 200  # characters of a name

ODD = "decisions and calls in the console log disagree: calls may be missing or invented"
DIFFER = "console and audit log show different calls: the audit log is used"
CHATS = "the audit log has calls of several chats: some may belong to another request"
BROKEN = "some lines of the audit log are not records and were skipped"
PARTLY = "a log could not be read completely: its calls are ignored"
TOO_MANY = f"a log shows more than {MOST_CALLS} calls, too many for one request: all are ignored"

NO_CHAT = "the access log shows no chat completion: the server writes it only with runmode = dev"


class LogBook:
    """One for an agent; its methods may be called from several threads, each with its own mark."""

    def __init__(
        self,
        options: LogOptions,
        *,
        env: Mapping[str, str],
        root: Path,
        nearby: bool = True,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`nearby`: the server is on this machine, so that the usual places may hold its logs;
        False: only what options and variables name.
        """
        self._options = options
        self._zone = zone_of(options.timezone)
        self._candidates = candidates(options, env, root, nearby=nearby)
        self._clock, self._sleep = clock, sleep

    def find_logs(self) -> Mapping[LogKind, Path]:
        """The logs that are there now, as absolute paths (of the audit log its folder). With none,
        nothing is bound by offset, and a request need not be alone.
        """
        with self.before() as mark:
            there = [watched for kind in self._candidates if (watched := mark.first_present(kind))]
        return {one.candidate.kind: one.candidate.path.absolute() for one in there}

    def before(self) -> LogMark:
        """To be closed, or given to `after`."""
        return LogMark(self._candidates)

    def after(
        self, mark: LogMark, *, started_ms: int, ended_ms: int, alone: bool, late: int = 0
    ) -> ServerLogs:
        """Waits until the lines of the request are there, at most `settle_s`. Times: Unix ms.
        `late`: requests that ended just before; their access lines may come after the mark.
        """
        with mark:
            longest_s = self._options.settle_s if mark.expects_lines() else 0.0
            settle(mark.look, at_most_s=longest_s, clock=self._clock, sleep=self._sleep)
            mark.finish()
            extracts = self._read_extracts(mark, started_ms, ended_ms)
        absent = [_absent(one) for kind in self._candidates for one in mark.missing(kind)]
        calls, combined_notes = combine_logs(extracts)
        access = extracts.get("access")
        requests = count_ended(access.lines, late) if access and access.bound else None
        read = any(extract.bound for extract in extracts.values())
        settings = {
            NOT_ALONE: not alone,
            SEVERAL: (requests or 0) > 1,
            NO_CHAT: requests == 0,
            NO_CALLS: calls is None and read,
            NOTHING_READ: not read,
        }
        reads = [*(extract.record() for extract in extracts.values()), *absent]
        logs = [f"{one.kind} log: {one.note}" for one in reads if one.note]
        return ServerLogs(
            calls=calls,
            requests=requests,
            alone=alone and CHATS not in combined_notes,
            logs=tuple(reads),
            started_ms=started_ms,
            ended_ms=ended_ms,
            notes=(*(note for note, holds in settings.items() if holds), *combined_notes, *logs),
        )

    def _read_extracts(
        self, mark: LogMark, started_ms: int, ended_ms: int
    ) -> dict[LogKind, LogExtract]:
        """What the logs show of the request, for each kind of log that is there."""
        there = {
            kind: watched for kind in self._candidates if (watched := mark.first_present(kind))
        }
        if self._options.bind == "offset":
            return {kind: one.read_extract() for kind, one in there.items()}
        window = around(started_ms, ended_ms)
        return {kind: in_window(one, window, self._zone) for kind, one in there.items()}


def _absent(candidate: LogCandidate) -> LogRead:
    by = candidate.named_by
    note = f"{by}, but not there" if by == "configured" else f"{by} names it, but it is not there"
    return LogRead(
        kind=candidate.kind,
        path=candidate.shown,
        bound=None,
        note=note if by else "not there",
    )


def combine_logs(
    extracts: Mapping[LogKind, LogExtract],
) -> tuple[tuple[LoggedCall, ...] | None, tuple[str, ...]]:
    """The calls, None where no log that was read whole shows any, and notes. The audit log is taken
    where it shows calls: it knows which ran, and no tool prints to it.
    """
    audit = parse_audit(_lines(extracts, "audit"))
    console = parse_console(_lines(extracts, "console"))
    tellers = [one for kind, one in extracts.items() if kind != "access"]
    sound_by_kind = {teller.kind: teller.sound for teller in tellers}
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
        PARTLY: any(teller.lines and not teller.sound for teller in tellers),
        TOO_MANY: many,
    }
    calls = tuple(map(_clean_call, taken[0])) if taken else None
    return calls, tuple(note for note, holds in calls_by_kind.items() if holds)


def _lines(extracts: Mapping[LogKind, LogExtract], kind: LogKind) -> tuple[str, ...]:
    return extracts[kind].lines if kind in extracts else ()


def _tools(names: Iterable[str]) -> Counter[str]:
    """Without their servers, which only the console writes into a name."""
    return Counter(name.rpartition("__")[2].lower().replace("-", "_") for name in names)


def _clean_call(call: LoggedCall) -> LoggedCall:
    return replace(call, name=tidy(call.name, _NAME) or NAMELESS)


def in_window(watched: WatchedLog, window: Window, zone: tzinfo | None) -> LogExtract:
    """The lines of a log whose times lie in the window. The console has no times: its new lines
    are only counted.
    """
    candidate = watched.candidate
    if watched.cursor.problem:
        return watched.read_extract()
    if candidate.kind == "console":
        note = f"{len(watched.lines)} new lines have no time: `bind: window` ignores them"
        return LogExtract(
            kind="console", shown=candidate.shown, bound=None, sound=False, notes=(note,)
        )
    if candidate.kind == "access":
        taken = within(candidate.path, window, _access_times(zone))
    else:
        taken = _sessions(candidate.path, window)
    untimed = (UNTIMED,) if taken.untimed and candidate.kind == "audit" else ()
    problem = (f"it cannot be read: {taken.problem}",) if taken.problem else ()
    return LogExtract(
        kind=candidate.kind,
        shown=candidate.shown,
        bound=None if taken.problem else "window",
        lines=taken.lines,
        sound=not taken.cut and not taken.problem,
        notes=(*problem, *taken.notes, *untimed),
    )


def _sessions(folder: Path, window: Window) -> WindowLines:
    """The lines of the sessions that were written to since the window began."""
    listed = sessions_in(folder)
    touched = [
        (at.st_mtime, name) for name, at in listed.files.items() if at.st_mtime * 1000 >= window.low
    ]
    latest = [name for _, name in sorted(touched)[-MOST_SESSIONS:]]
    taken = [within(folder / name, window, _audit_times) for name in latest]
    return WindowLines(
        lines=tuple(line for one in taken for line in one.lines),
        untimed=sum(one.untimed for one in taken),
        cut=not listed.whole
        or len(latest) < len(touched)
        or any(one.cut or one.problem for one in taken),
        problem=listed.problem,
    )


def _access_times(zone: tzinfo | None) -> Callable[[str], tuple[int, ...]]:
    @cache  # clocks are changed at whole minutes
    def minute(begun: datetime) -> tuple[int, ...]:
        return moments(begun, zone)

    def times(line: str) -> tuple[int, ...]:
        at = stamp(line)
        if at is None:
            return ()
        begun = at.replace(second=0, microsecond=0)
        ms = at.second * 1000 + at.microsecond // 1000
        return tuple(time + ms for time in minute(begun))

    return times


def _audit_times(line: str) -> tuple[int, ...]:
    at = audit_ms(line)
    return () if at is None else (at,)
