"""One comment per id on a pull request or merge request, updated in place, whatever runs at the
same time.

No server has a compare-and-set for comments, so an upsert converges instead: the oldest own comment
is the real one, it is written, the list is read again, and only then are own duplicates deleted.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from gate.errors import UsageError
from gate.github.api import ApiError
from gate.records import Report

TRIES = 5
# Characters and bytes; the first is GitHub's documented bound, the others for when it is less.
LIMITS = (65_536, 32_768, 8_192)

CommentMode = Literal["always", "on-change", "on-failure", "on-error", "never"]
COMMENT_MODES: tuple[str, ...] = get_args(CommentMode)
_MARKER = re.compile(
    r"<!-- agent-gate id=(\S+) sha=([0-9a-fA-F]+|unknown) run=(\d+)\.(\d+) v=1 -->\r?(?:\n|$)"
)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The hidden first line of a comment: whose it is, and which run of which commit wrote it."""

    id: str
    sha: str
    run: int = 0
    attempt: int = 1

    def __str__(self) -> str:
        return f"<!-- agent-gate id={self.id} sha={self.sha} run={self.run}.{self.attempt} v=1 -->"

    @property
    def order(self) -> tuple[int, int]:
        return self.run, self.attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What became of a comment. `reason` says why it was not written, with the next step."""

    action: Literal["created", "updated", "skipped", "failed"]
    url: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPace:
    """Waiting between two tries, 0.3 to 0.9 s, so that racing runs do not stay in step."""

    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


def marker(comment_id: str, sha: str | None, run: str | None, attempt: str | None) -> Marker:
    """Raises UsageError when the id could break out of the marker."""
    if not _ID.fullmatch(comment_id):
        raise UsageError(
            f"comment-id: '{comment_id[:80]}' is not a valid id; use letters, digits, "
            "dots, dashes, up to 64"
        )
    return Marker(
        id=comment_id,
        sha=sha or "unknown",
        run=_parse_integer(run),
        attempt=_parse_integer(attempt) or 1,
    )


def parse_marker(body: str) -> Marker | None:
    """The marker on the first line; one further down is text, not a marker."""
    match = _MARKER.match(body)
    if match is None:
        return None
    return Marker(id=match[1], sha=match[2], run=int(match[3]), attempt=int(match[4]))


def decide(mode: CommentMode, report: Report) -> Literal["write", "update", "nothing"]:
    """`update`: no new comment, but one that is there must not keep saying what is over."""
    if mode == "never":
        return "nothing"
    failed = report.outcome == "fail" or not report.passed
    moved = any(c.status in ("regression", "improvement") for c in report.comparisons)
    cases = report.cases.newly_failing or report.cases.newly_passing
    changed = moved or bool(cases) or report.outcome != "pass"
    wanted = {
        "always": True,
        "on-change": changed,
        "on-failure": failed,
        "on-error": report.outcome == "error",
    }[mode]
    return "write" if wanted else "update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One that is there. `is_own`: of the account that writes now, as far as that is known."""

    id: int
    body: str
    url: str = ""
    is_own: bool = True


class CommentStore(Protocol):
    """The comments of one pull request or merge request. Every method may raise ApiError."""

    def wait(self) -> None:
        """Until a write may follow the last one."""

    def head(self) -> str | None:
        """The newest commit; None if it is not known."""

    def read(self) -> Iterable[Comment]: ...

    def create(self, body: str) -> Comment | None:
        """The new comment; None if the answer is none."""

    def update(self, identifier: int, body: str) -> Comment | None: ...

    def delete(self, identifier: int) -> None: ...


def publish(
    store: CommentStore,
    mark: Marker,
    body: str,
    *,
    shorter: Callable[[int], str] | None = None,
    create: bool = True,
    unwanted: str = "nothing to report",
    pace: RetryPace | None = None,
) -> Published:
    """Writes the comment; never raises for what the server refuses, so it never changes a verdict.
    `create=False` only updates one that is there; `unwanted` says why.

    `shorter(limit)` renders at most `limit` characters; asked when the body is too long.
    """
    try:
        upsert = _Upsert(store, mark, unwanted="" if create else unwanted)
        return upsert.converge(_bodies(mark, body, shorter), pace or RetryPace())
    except ApiError as error:
        return Published(action="failed", reason=str(error))


class _Upsert:
    """One run's attempt to have its text in the one comment."""

    def __init__(self, store: CommentStore, mark: Marker, *, unwanted: str) -> None:
        self._store = store
        self._mark = mark
        self._unwanted = unwanted
        self._company = False  # another run of the same commit was seen

    def converge(self, bodies: Sequence[Callable[[], str]], pace: RetryPace) -> Published:
        created = False
        for _ in range(TRIES):
            # Nothing is waited for between the list and the write: who writes on an old list
            # overwrites. An old head mends itself: the newer head's run writes later.
            self._store.wait()
            stop = self._skip_if_outdated()
            own_comments = self._list_own_comments() if stop is None else []
            stop = stop or self._overtaken(own_comments) or self._skip_if_unwanted(own_comments)
            if stop is not None:
                self._take_back(own_comments)
                return stop
            written = self._write(own_comments, bodies)
            created = created or not own_comments
            if written is not None and self._is_settled(written) and self._stays(pace):
                return Published(action="created" if created else "updated", url=written.url)
            pace.sleep(0.3 + 0.6 * pace.jitter())
        return Published(
            action="failed", reason=f"other runs kept changing the comment '{self._mark.id}'"
        )

    def _list_own_comments(self) -> list[Comment]:
        """Our comments, oldest first, from all pages."""
        own_comments = [one for one in self._store.read() if one.is_own and self._is_ours(one)]
        marks = [mark for one in own_comments if (mark := parse_marker(one.body))]
        self._company |= any(m.sha == self._mark.sha and m.run != self._mark.run for m in marks)
        return sorted(own_comments, key=lambda one: one.id)

    def _is_ours(self, comment: Comment) -> bool:
        mark = parse_marker(comment.body)
        return mark is not None and mark.id == self._mark.id

    def _skip_if_outdated(self) -> Published | None:
        """Why nothing is written when this run judged another commit than the newest one."""
        head = self._store.head()
        if head is None or self._mark.sha in ("unknown", head):
            return None
        reason = f"the pull request is now at {head[:7]}, but this run judged {self._mark.sha[:7]}"
        return Published(action="skipped", reason=reason)

    def _overtaken(self, own_comments: Sequence[Comment]) -> Published | None:
        for comment in own_comments:
            there = parse_marker(comment.body)
            if there and self._later(there):
                reason = f"run {there.run}.{there.attempt} of the same commit wrote it already"
                return Published(action="skipped", reason=reason)
        return None

    def _later(self, there: Marker) -> bool:
        same = self._mark.sha in ("unknown", there.sha)
        return same and there.order > self._mark.order

    def _skip_if_unwanted(self, own_comments: Sequence[Comment]) -> Published | None:
        if own_comments or not self._unwanted:
            return None
        reason = f"{self._unwanted}; there is no earlier comment to update"
        return Published(action="skipped", reason=reason)

    def _write(
        self, own_comments: Sequence[Comment], bodies: Sequence[Callable[[], str]]
    ) -> Comment | None:
        """The written comment; None when it was deleted meanwhile."""
        for body in bodies:
            try:
                if own_comments:
                    return self._store.update(own_comments[0].id, body())
                return self._store.create(body())
            except ApiError as error:
                if error.status == 404 and own_comments:
                    return None
                if error.status != 422 or "too long" not in error.detail:
                    raise
        raise ApiError(
            "the comment was rejected as too long, even in its shortest form", status=422
        )

    def _is_settled(self, written: Comment) -> bool:
        """After a second look: the oldest own comment is ours; duplicates no newer run made go."""
        own_comments = self._list_own_comments()
        first = parse_marker(own_comments[0].body) if own_comments else None
        if first != self._mark or own_comments[0].id != written.id:
            return False
        for duplicate in own_comments[1:]:
            there = parse_marker(duplicate.body)
            if there is None or not self._later(there):  # else: it is about to move its text up
                self._delete(duplicate.id)
        return True

    def _stays(self, pace: RetryPace) -> bool:
        """A third look where another run of this commit writes too: it may have listed before we
        wrote and have written after we looked.
        """
        if not self._company:
            return True
        pace.sleep(0.3 + 0.6 * pace.jitter())
        own_comments = self._list_own_comments()
        there = parse_marker(own_comments[0].body) if own_comments else None
        return there is not None and (there == self._mark or self._later(there))

    def _take_back(self, own_comments: Sequence[Comment]) -> None:
        """Comments of this very run that another run's text made superfluous."""
        for duplicate in own_comments[1:]:
            if parse_marker(duplicate.body) == self._mark:
                self._delete(duplicate.id)

    def _delete(self, identifier: int) -> None:
        try:
            self._store.delete(identifier)
        except ApiError as error:
            if error.status != 404:  # another run was faster
                raise


def _bodies(
    mark: Marker, body: str, shorter: Callable[[int], str] | None
) -> tuple[Callable[[], str], ...]:
    """The text and its shorter renderings, each made when it is needed, each under our marker."""
    full_body = _add_marker(mark, body)
    room = len(str(mark)) + 1
    lesser = [(lambda n=n: _add_marker(mark, shorter(n - room))) for n in LIMITS] if shorter else []
    fits = max(len(full_body), len(full_body.encode())) <= LIMITS[0]
    return (lambda: full_body, *lesser[1:]) if fits or not lesser else tuple(lesser)


def _add_marker(mark: Marker, body: str) -> str:
    text = body.encode("utf-8", "replace").decode()
    return f"{mark}\n{_MARKER.sub('', text, count=1) if parse_marker(text) else text}"


def _parse_integer(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
