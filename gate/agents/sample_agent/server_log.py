"""Writes an OpenAgent server's logs, and counts what `/api/metrics` tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from gate.agents.sample_agent.server_lines import (
    ConsoleFormat,
    EndedRequest,
    access_line,
    audit,
    console,
    outcome,
)
from gate.errors import UsageError
from gate.records import Response

ACCESS, CONSOLE = "openagent.log", "openagent_console.log"


class ServerLog:
    """One writer for all connections. Each record is appended as a whole and closed, so that a
    file may be moved away meanwhile.
    """

    def __init__(
        self,
        *,
        logs: Path | None,
        audits: Path | None,
        form: ConsoleFormat,
        now: Callable[[], datetime],
    ) -> None:
        """Makes the folders and, as a server does when it starts, empty logs; None: nothing is
        written there. Raises UsageError when it cannot.
        """
        self._logs, self._audits, self._form, self._now = logs, audits, form, now
        self._lock = Lock()
        try:
            for folder in filter(None, (logs, audits)):
                folder.mkdir(parents=True, exist_ok=True)
            for path in (logs / ACCESS, logs / CONSOLE) if logs else ():
                self._append(path, ())
        except OSError as error:
            place = error.filename or logs
            raise UsageError(f"--log-dir, --audit-dir: {place}: {error.strerror}") from error

    def log_answer(self, response: Response, *, chat: str, offered: int) -> None:
        """What an answer with tools leaves, before it is sent."""
        if self._logs:
            lines = console(response.steps or (), self._form, offered=offered)
            self._append(self._logs / CONSOLE, lines)
        if self._audits:
            at = self._now().astimezone(UTC)
            self._append(self._audits / f"{chat}.jsonl", audit(response, session=chat, at=at))

    def log_request(self, request: EndedRequest) -> None:
        """The line of a request, after its answer has been sent."""
        if not self._logs:
            return
        line = access_line(request, at=self._now().astimezone())
        self._append(self._logs / ACCESS, [line])

    def _append(self, path: Path, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        with self._lock, path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


class Counters:
    """What the server did since it started."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._calls: Counter[tuple[str, ...]] = Counter()
        self._tokens: Counter[tuple[str, ...]] = Counter()

    def count_answer(self, response: Response) -> None:
        with self._lock:
            self._calls.update((step.name, outcome(step)) for step in response.steps or ())
            self._tokens["prompt",] += response.usage.input_tokens or 0
            self._tokens["completion",] += response.usage.output_tokens or 0

    def count_request(self, request: EndedRequest) -> None:
        path = request.path if request.known else "other"
        with self._lock:
            self._requests[request.method, path, str(request.status)] += 1

    def text(self) -> str:
        """Prometheus' text format."""
        with self._lock:
            return "".join(
                [
                    *_metric("http_requests", ("method", "path", "status"), self._requests),
                    *_metric("tool_calls", ("tool", "outcome"), self._calls),
                    *_metric("tokens", ("kind",), self._tokens),
                ]
            )


def _metric(
    name: str, labels: tuple[str, ...], counts: Mapping[tuple[str, ...], int]
) -> Iterable[str]:
    yield f"# TYPE openagent_{name}_total counter\n"
    for values, count in sorted(counts.items()):
        pairs = ",".join(f'{label}="{value}"' for label, value in zip(labels, values, strict=True))
        yield f"openagent_{name}_total{{{pairs}}} {count}\n"
