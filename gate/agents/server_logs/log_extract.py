"""What was taken of one log for one request, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from gate.agents.server_logs.access import AccessLine, parse_access_line
from gate.agents.server_logs.audit import parse_audit
from gate.agents.server_logs.console import parse_console
from gate.records import Bound, LogKind, LogRead

_CHAT = "/chat/completions"  # in a line; cheaper than to read it
_LATE = timedelta(milliseconds=50)  # from the end of a request until its line has its time


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExtract:
    """`bound`: None where nothing could be read. `sound`: no line of the request is left out."""

    kind: LogKind
    shown: str
    bound: Bound | None
    lines: tuple[str, ...] = ()
    sound: bool = True
    notes: tuple[str, ...] = ()

    def record(self) -> LogRead:
        return LogRead(
            kind=self.kind,
            path=self.shown,
            bound=self.bound,
            lines=len(self.lines),
            shows_calls=self.kind != "access" and speaks(self.kind, self.lines),
            note="; ".join(self.notes),
        )


def speaks(kind: LogKind, lines: Iterable[str]) -> bool:
    """Whether the lines say something of calls, be it that there was none; of the access log:
    whether a chat completion ended.
    """
    if kind == "access":
        return any(True for _ in chats(lines))
    read = parse_console if kind == "console" else parse_audit
    return any(read((line,)).shows for line in lines)  # up to the first that does


def chats(lines: Iterable[str]) -> Iterator[AccessLine]:
    """The chat completions that ended."""
    for line in lines:
        access_line = parse_access_line(line) if _CHAT in line else None
        if access_line is not None and access_line.is_chat:
            yield access_line


def count_ended(lines: Iterable[str], late: int) -> int:
    """How many chat completions ended. Not counted are up to `late` that were over when the last
    one began: a server writes its line after the answer is sent.
    """
    ended = list(chats(lines))
    if not ended:
        return 0
    last = ended[-1]  # in seconds: the year 1 has no time before it
    took = last.duration_ms / 1e3 - _LATE.total_seconds()
    over = sum((one.at - last.at).total_seconds() + took <= 1e-6 for one in ended[:-1])
    return len(ended) - min(over, late)
