"""What asking models came to: replies added up to one Judging a try, and tries to one a trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gate.records import NOBODY_ASKED, Attempt, Judging, Reply, Role, Score

MOST_FAILURES = 3  # different ones that a trial keeps
STOPPED = "the run is being stopped"
NOT_ASKED, GIVEN_UP = f"was not asked: {STOPPED}", f"was cancelled: {STOPPED}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderReplies:
    """One grader's questions on one answer, and whether a score came of the replies."""

    role: Role
    scored: bool
    replies: Sequence[Reply]
    decides: bool = True  # on passing
    flagged: bool = False  # the answer tries to instruct the judge; that is a judgement


def judging(asked: Iterable[GraderReplies]) -> Judging:
    """Adds up what the models were asked about one attempt. Only judges count for the coverage: a
    number that no verifier looked at is counted by the grader itself.
    """
    total = NOBODY_ASKED
    for replies in asked:
        judged = replies.role == "judge"
        total = replace(
            total,
            asked=total.asked + judged,
            scored=total.scored + (judged and replies.scored),
            undecided=total.undecided + (replies.decides and not replies.scored),
            flagged=total.flagged + replies.flagged,
            lost=total.lost + (not replies.scored and _is_out(replies.replies)),
        )
        for reply in replies.replies:
            total = _plus(total, reply)
    return total


def unless_out(score: Score, replies: Sequence[Sequence[Reply]]) -> Score:
    """The score, unless nobody could be asked for any vote on one of the questions: what a grader
    makes of their absence says nothing of the answer.
    """
    out = [votes for votes in replies if _is_out(votes) and all(v.data is None for v in votes)]
    if score.unscored is not None or not out:
        return score
    return Score(unscored=next((vote.failure for vote in out[0] if vote.failure), NOT_ASKED))


def _is_out(votes: Iterable[Reply]) -> bool:
    return any(vote.cause == "unreachable" for vote in votes)


def sum_attempts(attempts: Iterable[Attempt], counts: Attempt) -> Judging:
    """Money and calls of all tries; what was asked and scored is that of the try that counts."""
    total = counts.judging
    for other in attempts:
        if other is not counts:
            more = other.judging
            total = replace(
                total,
                calls=total.calls + more.calls,
                cached=total.cached + more.cached,
                input_tokens=total.input_tokens + more.input_tokens,
                output_tokens=total.output_tokens + more.output_tokens,
                usd=total.usd + more.usd,
                unknown=total.unknown + more.unknown,
                listed=_unite(total.listed, more.listed),
            )
    return total


def _plus(total: Judging, reply: Reply) -> Judging:
    failures = dict.fromkeys((*total.failures, *([reply.failure] if reply.failure else [])))
    return replace(
        total,
        calls=total.calls + reply.calls,
        cached=total.cached + (reply.data is not None and not reply.calls),
        input_tokens=total.input_tokens + (reply.usage.input_tokens or 0),
        output_tokens=total.output_tokens + (reply.usage.output_tokens or 0),
        usd=total.usd + (reply.cost_usd or 0.0),
        unknown=total.unknown + (reply.calls > 0 and reply.cost_usd is None),
        unreachable=total.unreachable + (reply.cause == "unreachable"),
        stopped=total.stopped + (reply.cause == "stopped"),
        failures=tuple(failures)[:MOST_FAILURES],
        listed=_unite(total.listed, (reply.listed,) if reply.listed else ()),
    )


def _unite(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second))) if second else first
