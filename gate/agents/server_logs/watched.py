"""The logs of a request while it runs: opened before it, looked at after it."""

from __future__ import annotations

from collections.abc import Mapping

from gate.agents.server_logs.cursor import LogCursor
from gate.agents.server_logs.folder import FolderCursor
from gate.agents.server_logs.log_extract import LogExtract, speaks
from gate.agents.server_logs.paths import LogCandidate
from gate.agents.server_logs.wait_for_lines import LogPoll
from gate.records import LogKind


class WatchedLog:
    """A log that is there or may appear. `speaks`: its new lines say what they are read for."""

    def __init__(self, candidate: LogCandidate) -> None:
        self.candidate = candidate
        opened = FolderCursor if candidate.kind == "audit" else LogCursor
        self.cursor: FolderCursor | LogCursor = opened(candidate.path)
        self.lines: list[str] = []
        self.speaks = False

    def look(self) -> bool:
        """Whether there is something new."""
        return self._take(self.cursor.lines())

    def finish(self) -> None:
        """Takes what has no end, too."""
        self._take(self.cursor.rest())

    def read_extract(self) -> LogExtract:
        """What was appended."""
        problem = self.cursor.problem
        return LogExtract(
            kind=self.candidate.kind,
            shown=self.candidate.shown,
            bound=None if problem else "offset",
            lines=() if problem else tuple(self.lines),
            sound=not problem and not self.cursor.cut,
            notes=((f"it cannot be read: {problem}",) if problem else ()) + self.cursor.notes,
        )

    def _take(self, lines: list[str]) -> bool:
        self.lines += lines
        self.speaks = self.speaks or speaks(self.candidate.kind, lines)
        return bool(lines)


class LogMark:
    """Where the logs stood before a request. Closed by `LogBook.after`, or by leaving `with`."""

    def __init__(self, candidates: Mapping[LogKind, tuple[LogCandidate, ...]]) -> None:
        self._watched: dict[LogKind, list[WatchedLog]] = {}
        for kind, some in candidates.items():
            watched = self._watched[kind] = []
            for candidate in some:
                watched.append(WatchedLog(candidate))
                if watched[-1].cursor.there:
                    break  # what comes behind it is not looked at

    def __enter__(self) -> LogMark:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the files; a second time does nothing."""
        for watched in self.all():
            watched.cursor.close()

    def all(self) -> list[WatchedLog]:
        """The access log first: once it shows the end of a request, the others are complete."""
        return [one for kind in self._watched.values() for one in kind]

    def first_present(self, kind: LogKind) -> WatchedLog | None:
        """The first that is there."""
        return next((one for one in self._watched[kind] if one.cursor.there), None)

    def missing(self, kind: LogKind) -> list[LogCandidate]:
        """Those that are named and not there; of the usual places the first, if none is there."""
        absent = [one.candidate for one in self._watched[kind] if not one.cursor.there]
        named = [one for one in absent if one.named_by]
        return named or ([] if self.first_present(kind) else absent[:1])

    def expects_lines(self) -> bool:
        """Whether there is anything to wait for."""
        return any(one.cursor.there or one.candidate.named_by for one in self.all())

    def look(self) -> LogPoll:
        grew = [one for one in self.all() if one.look()]
        access = self.first_present("access")
        others = [watched for kind in ("console", "audit") if (watched := self.first_present(kind))]
        return LogPoll(
            grew=bool(grew),
            ended=access is not None
            and access.speaks
            and all(other.speaks or other.cursor.problem for other in others),
            pending=any(one.cursor.pending for one in self.all()),
        )

    def finish(self) -> None:
        """Takes the lines that never ended."""
        for watched in self.all():
            watched.finish()
