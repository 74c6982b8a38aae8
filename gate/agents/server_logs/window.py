"""Lines bound to a request by their time: the fallback where requests run side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gate.agents.server_logs.cursor import MOST_BYTES, LogCursor

BEFORE_MS = 15_000
AFTER_MS = 5_000
_LOOKS = (MOST_BYTES // 48, MOST_BYTES // 6, MOST_BYTES)  # bytes from the end; mostly one is enough

LONGER = f"the last {MOST_BYTES // 1024 // 1024} MB of it begin after the request did"
AMBIGUOUS = (
    "its times are ambiguous, because the clock was changed: lines of either reading were used"
)
OLDER = "its last line is older than the request: another server's, or `timezone` is wrong"
NEWER = "its last line is newer than the request: another server's, or `timezone` is wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Unix times in ms, both ends included."""

    low: int
    high: int

    def holds(self, times: Iterable[int]) -> bool:
        return any(self.low <= time <= self.high for time in times)


def around(started_ms: int, ended_ms: int) -> Window:
    """A server's clock and ours differ, and its last line may come late."""
    return Window(low=started_ms - BEFORE_MS, high=ended_ms + AFTER_MS)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLines:
    """The lines of a window, oldest first. `untimed`: lines that were passed by without a time.
    `cut`: the log could not be read back far enough.
    """

    lines: tuple[str, ...] = ()
    untimed: int = 0
    cut: bool = False
    problem: str = ""
    notes: tuple[str, ...] = ()


def within(path: Path, window: Window, times: Callable[[str], tuple[int, ...]]) -> WindowLines:
    """`times`: the moments that a line's time can mean, none where it has none."""
    taken = WindowLines()
    for back in _LOOKS:
        cursor = LogCursor(path, back=back)
        lines = [*cursor.lines(), *cursor.rest()]
        cursor.close()
        if cursor.problem:
            return WindowLines(problem=cursor.problem)
        taken = _walk(lines, window, times, whole=cursor.whole)
        if not taken.cut:
            break
    return taken


def _walk(
    lines: list[str],
    window: Window,
    times: Callable[[str], tuple[int, ...]],
    *,
    whole: bool,
) -> WindowLines:
    """From the end back to the first line that is surely older."""
    taken: list[str] = []
    untimed = 0
    cut, ambiguous = not whole, False
    last: tuple[int, ...] = ()
    for line in reversed(lines):
        moments = times(line)
        last = last or moments
        if not moments:
            untimed += 1
        elif max(moments) < window.low:
            cut = False
            break
        elif window.holds(moments):
            taken.append(line)
            ambiguous = ambiguous or len(moments) > 1
    notes = {
        LONGER: cut,
        AMBIGUOUS: ambiguous,
        OLDER: bool(last) and max(last) < window.low,
        NEWER: bool(last) and min(last) > window.high,
    }
    return WindowLines(
        lines=tuple(reversed(taken)),
        untimed=untimed,
        cut=cut,
        notes=tuple(note for note, holds in notes.items() if holds),
    )
