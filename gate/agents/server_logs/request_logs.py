"""The entry point: a mark before the request, and what the logs show after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gate.agents.server_logs.combined import CHATS, combine_logs
from gate.agents.server_logs.in_window import in_window
from gate.agents.server_logs.log_extract import LogExtract, count_ended
from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.paths import LogCandidate, candidates
from gate.agents.server_logs.wait_for_lines import settle
from gate.agents.server_logs.watched import LogMark
from gate.agents.server_logs.window import around
from gate.agents.server_logs.zones import zone_of
from gate.records import LogKind, LogRead, ServerLogs
from gate.records.server_logs import NO_CALLS, NOT_ALONE, NOTHING_READ, SEVERAL

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
        shown = combine_logs(extracts)
        access = extracts.get("access")
        requests = count_ended(access.lines, late) if access and access.bound else None
        read = any(one.bound for one in extracts.values())
        settings = {
            NOT_ALONE: not alone,
            SEVERAL: (requests or 0) > 1,
            NO_CHAT: requests == 0,
            NO_CALLS: shown.calls is None and read,
            NOTHING_READ: not read,
        }
        reads = [*(one.record() for one in extracts.values()), *absent]
        logs = [f"{one.kind} log: {one.note}" for one in reads if one.note]
        return ServerLogs(
            calls=shown.calls,
            requests=requests,
            alone=alone and CHATS not in shown.notes,
            logs=tuple(reads),
            started_ms=started_ms,
            ended_ms=ended_ms,
            notes=(*(note for note, holds in settings.items() if holds), *shown.notes, *logs),
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
