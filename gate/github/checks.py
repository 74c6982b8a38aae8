"""An optional check run on the head commit: in progress from the start, concluded at every end.

Off by default, since GitHub alone picks the suite that it shows in. Why it is the only sign of
progress: docs/decisions/0011-in-progress.md. Where they are refused, a commit status shows the
verdict.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gate.github.api import Api, ApiError
from gate.github.comments import Published
from gate.records import Json, Report
from gate.report.wording.headline import is_doubted
from gate.report.wording.notes import Note, NoteLevel, notes
from gate.text.escaping import clean, one_line
from gate.text.shortening import shorten
from gate.text.spans import plain, prose

STATUS_NEEDS = "statuses: write"
STATUS_DESCRIPTION = 140  # characters that GitHub takes

NEEDS = "checks: write"
SUMMARY_LIMIT = 65_535  # GitHub counts characters; we never send more bytes either
TITLE = 250
PER_REQUEST = 50  # annotations; a later request appends to those before
MOST = 200  # annotations in all: more are four requests, and nobody reads them
WAIT_S = 6.0  # for the answer to the creation, which is tried once
CANCEL_WAIT_S = 1.5  # GitHub kills 10 s after it cancels

Conclusion = Literal["success", "failure", "neutral", "cancelled"]
_LEVELS: Mapping[NoteLevel, str] = {"error": "failure", "warning": "warning", "notice": "notice"}
_ROOM = 200  # bytes of the summary for the sentence on what is not annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """How a run ended, as a check shows it; `summary` is at most SUMMARY_LIMIT bytes of Markdown.
    `judged`: there is a verdict.
    """

    conclusion: Conclusion
    title: str
    summary: str
    annotations: tuple[Mapping[str, Json], ...] = ()
    judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIdentity:
    """Which check run: the head commit, the name, and the run and attempt that it is of."""

    head_sha: str
    name: str
    run: str = "0"
    attempt: int = 1
    run_url: str | None = None

    @property
    def external_id(self) -> str:
        return f"{self.run}.{self.attempt}"


@dataclass(slots=True)
class _Created:
    """What the creation came to, told by its thread."""

    id: int | None = None
    url: str = ""
    error: ApiError | None = None
    known: threading.Event = field(default_factory=threading.Event)


def conclusion(report: Report) -> Conclusion:
    """What a required check sees; neutral lets a merge through, so the policy decides that."""
    if not report.passed:
        return "failure"
    well = report.outcome == "pass" and not is_doubted(report)
    return "success" if well else "neutral"


def verdict(
    report: Report, summary: Callable[[int], str], redact: Callable[[str], str]
) -> CheckResult:
    """A report as a check run shows it. `summary(limit)` is at most `limit` bytes of Markdown."""
    placed = [one for note in notes(report) for one in _annotation(note, redact)]
    text = redact(summary(SUMMARY_LIMIT - _ROOM))
    if len(placed) > MOST:
        text += (
            f"\n\n{MOST} of {len(placed):,} findings are annotated; the others are in report.md."
        )
    return CheckResult(
        conclusion=conclusion(report),
        title=redact(one_line(f"{report.outcome}: {plain(prose(report.reason))}", TITLE)),
        summary=text,
        annotations=tuple(placed[:MOST]),
    )


class CheckRun:
    """One check run. No method raises for what GitHub refuses.

    `connect` makes an Api for the thread that creates it.
    """

    def __init__(self, identity: CheckIdentity, connect: Callable[[], Api | None]) -> None:
        self._identity = identity
        self._connect = connect
        self._created = _Created()
        self._begun = False
        self._concluded = False

    @property
    def forbidden(self) -> bool:
        """The token may not write check runs: they are for apps with `checks: write`."""
        error = self._created.error
        return error is not None and error.forbidden

    def begin(self) -> None:
        """Creates it in a thread, so that the agent is asked without waiting for GitHub."""
        self._begun = True
        threading.Thread(target=self._create, daemon=True).start()

    def finish(self, api: Api, ended: CheckResult) -> Published:
        """Concludes it, with all annotations; creates it where that did not work before."""
        if self._begun:
            self._created.known.wait(WAIT_S)
        if self.forbidden:
            return Published(action="failed", reason=str(self._created.error))
        try:
            self._find(api)
            return self._conclude(api, ended)
        except ApiError as error:
            self._created.error = error
            return Published(action="failed", reason=str(error))

    def cancel(self, api: Api, ended: CheckResult) -> None:
        """One quick try, and only when it is there and says that it goes on."""
        if self._begun:
            self._created.known.wait(CANCEL_WAIT_S)
        if self._created.id is None or self._concluded:
            return
        try:
            path = f"check-runs/{self._created.id}"
            api.write("PATCH", path, _completed_body(ended), needs=NEEDS, once=True)
            self._concluded = True
        except ApiError:
            return  # nothing is left to tell it with

    def _create(self) -> None:
        api = self._connect()
        try:
            if api is not None:
                body = {**self._new(), "status": "in_progress"}
                self._take(api.write("POST", "check-runs", body, needs=NEEDS, once=True))
        except ApiError as error:
            self._created.error = error
        finally:
            self._created.known.set()
        if api is not None:
            self._end_older(api)
            api.close()

    def _new(self) -> dict[str, Json]:
        this = self._identity
        body = {"name": this.name, "head_sha": this.head_sha, "external_id": this.external_id}
        return {**body, **({"details_url": this.run_url} if this.run_url else {})}

    def _take(self, created: Json) -> None:
        """Notes number and address of what GitHub has."""
        if isinstance(created, dict) and isinstance(created.get("id"), int):
            url = created.get("html_url")
            self._created.url = url if isinstance(url, str) else ""
            self._created.id = created["id"]

    def _find(self, api: Api) -> None:
        """An answer that never came, or a gateway's, may be of a check run that was made."""
        if self._created.id is None and self._created.error is not None:
            for run in self._list_open_runs(api):
                if run.get("external_id") == self._identity.external_id:
                    self._take(run)

    def _conclude(self, api: Api, ended: CheckResult) -> Published:
        """All annotations, the conclusion with the last of them: what is concluded stays as it is.
        A batch that is refused is left out, the conclusion never is.
        """
        rest = list(ended.annotations)
        while len(rest) > PER_REQUEST:
            try:
                self._write(api, {"output": _output(ended, rest[:PER_REQUEST])})
            except ApiError as error:
                if error.forbidden:
                    raise
                rest = []
            rest = rest[PER_REQUEST:]
        try:
            self._write(api, _completed_body(ended, rest))
        except ApiError as error:
            if error.status != 422 or not rest:
                raise
            self._write(api, _completed_body(ended))
        self._concluded = True
        return Published(action="created", url=self._created.url)

    def _write(self, api: Api, body: Mapping[str, Json]) -> None:
        if self._created.id is not None:
            api.write("PATCH", f"check-runs/{self._created.id}", body, needs=NEEDS)
            return
        new = {**self._new(), "status": "in_progress", **body}
        self._take(api.write("POST", "check-runs", new, needs=NEEDS))

    def _end_older(self, api: Api) -> None:
        """A killed attempt could not end its check run. Attempts of one run follow each other, so
        those before this one are over; other runs may still go on and are left alone.
        """
        older = {f"{self._identity.run}.{n}" for n in range(1, self._identity.attempt)}
        if not older or self._created.id is None:
            return
        over = CheckResult(
            conclusion="cancelled",
            title="ended without a verdict",
            summary="This attempt was stopped before it reached a verdict; a later one is running.",
        )
        try:
            for run in self._list_open_runs(api):
                if run.get("external_id") in older and isinstance(run.get("id"), int):
                    path = f"check-runs/{run['id']}"
                    api.write("PATCH", path, _completed_body(over), needs=NEEDS)
        except ApiError:
            return  # it is a courtesy

    def _list_open_runs(self, api: Api) -> Iterator[Mapping[str, Json]]:
        """Those of this name on this commit that are in progress."""
        query = {"check_name": self._identity.name, "status": "in_progress", "filter": "all"}
        path = f"commits/{self._identity.head_sha}/check-runs"
        return api.pages(path, query, key="check_runs", needs=NEEDS)


def _completed_body(
    ended: CheckResult, annotations: Sequence[Mapping[str, Json]] = ()
) -> dict[str, Json]:
    output = _output(ended, annotations)
    return {"status": "completed", "conclusion": ended.conclusion, "output": output}


def _output(ended: CheckResult, annotations: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    output: dict[str, Json] = {"title": ended.title, "summary": ended.summary}
    return {**output, "annotations": [dict(one) for one in annotations]} if annotations else output


def _annotation(note: Note, redact: Callable[[str], str]) -> Iterator[dict[str, Json]]:
    """None for a note without a line to stand at."""
    if note.place is None or note.place.line is None:
        return
    yield {
        "path": note.place.file,
        "start_line": note.place.line,
        "end_line": note.place.line,
        "annotation_level": _LEVELS[note.level],
        "title": redact(one_line(note.title, TITLE)),
        "message": redact(clean(note.message)),
    }


def post_status(
    api: Api, ended: CheckResult, *, head_sha: str, context: str, run_url: str | None
) -> Published:
    """Replaces the status of the same `context`; never raises for what GitHub refuses."""
    body: dict[str, Json] = {
        "state": _status_state(ended),
        "context": context,
        "description": shorten(ended.title, STATUS_DESCRIPTION),
    }
    if run_url:
        body["target_url"] = run_url
    try:
        api.write("POST", f"statuses/{head_sha}", body, needs=STATUS_NEEDS)
    except ApiError as error:
        return Published(action="failed", reason=str(error))
    return Published(action="created")


def _status_state(ended: CheckResult) -> str:
    """A status has no neutral: what the policy lets through is a success."""
    if not ended.judged:
        return "error"
    return "failure" if ended.conclusion == "failure" else "success"
