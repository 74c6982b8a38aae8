"""What lies in a request's window, of an access log or of a folder of audit logs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path

from gate.agents.server_logs.access import stamp
from gate.agents.server_logs.audit import audit_ms
from gate.agents.server_logs.folder import sessions_in
from gate.agents.server_logs.log_extract import LogExtract
from gate.agents.server_logs.watched import WatchedLog
from gate.agents.server_logs.window import Window, WindowLines, within
from gate.agents.server_logs.zones import moments

MOST_SESSIONS = 64  # of the audit folder that one window is looked for in, those written last

UNTIMED = "some of its lines have no time and are ignored"


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
