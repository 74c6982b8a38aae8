"""The votes of a judge on one answer: medians, preferences, and how certain they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from gate.graders.rubrics.prompt import FIRST, TIE
from gate.graders.rubrics.rubric import Rubric
from gate.records import CheckedJson, Reply
from gate.text.shortening import shorten

REASON_LIMIT = 240  # characters of a judge's words on one criterion

Vote = Mapping[str, CheckedJson]
Points = Mapping[str, float]  # criterion -> points


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricResult:
    """The result of the votes. `points`: for each criterion, on its own scale. `uncertainty`: 0
    sure, 1 undecided. `injection`: at least half of the votes say that the answer tries to instruct
    its judge.
    """

    points: Points
    reason: str
    uncertainty: float
    injection: bool


def score_votes(
    rubric: Rubric, votes: Sequence[Vote], nearness: Callable[[Points], float]
) -> RubricResult:
    """The median of each criterion; `votes` has at least one. The uncertainty is the distance of
    the votes as a share of the scale, for the criterion where it is largest; for a single vote it
    is `nearness` (0 to 1), how near the score is to a limit.
    """
    points, reasons, spread = {}, [], 0.0
    for name in rubric.criteria:
        word = rubric.asked_as(name)
        scores = [int(vote[word]["score"]) for vote in votes]
        low, high = rubric.bounds(name)
        points[name] = float(median(scores))
        spread = max(spread, (max(scores) - min(scores)) / (high - low))
        closest = min(votes, key=lambda vote: abs(int(vote[word]["score"]) - points[name]))
        given = f" (votes {', '.join(map(str, scores))})" if len(scores) > 1 else ""
        why = shorten(str(closest[word]["reason"]), REASON_LIMIT)
        reasons.append(f"{name} {points[name]:g} of {high:g}{given}: {why}")
    return _sum_up(points, reasons, spread if len(votes) > 1 else nearness(points), votes)


def compare_votes(rubric: Rubric, first: Sequence[Vote], second: Sequence[Vote]) -> RubricResult:
    """1 if the agent's answer is better, 0 if the other is, 0.5 for a tie or if the two orders
    disagree; each order by the majority of its votes. `first`: the votes with the agent's answer
    first; `second`: with it second.
    """
    points, reasons, unsure = {}, [], 0.0
    for name in rubric.criteria:
        ahead = [_preference(vote, name, first=True) for vote in first]
        behind = [_preference(vote, name, first=False) for vote in second]
        when_first, when_second = _majority(ahead), _majority(behind)
        swayed = when_first != when_second
        points[name] = 0.5 if swayed else when_first
        others = max(_share(ahead, when_first), _share(behind, when_second))
        unsure = 1.0 if swayed else max(unsure, others)
        words = "depends on the order" if swayed else _WORDS[when_first]
        why = shorten(str(first[0][name]["reason"]), REASON_LIMIT)
        reasons.append(f"{name}: {words}: {why}")
    return _sum_up(points, reasons, unsure, [*first, *second])


def read_votes(replies: Sequence[Reply]) -> tuple[list[Vote], str]:
    """The valid votes; and, if there are none or fewer than half, why there is no score."""
    votes = [reply.data for reply in replies if reply.data is not None]
    if votes and 2 * len(votes) >= len(replies):
        return votes, ""
    failures = dict.fromkeys(shorten(reply.failure) for reply in replies if reply.failure)
    if not replies:
        return votes, "no judge was asked"
    return votes, f"{len(votes)} of {len(replies)} votes came: {'; '.join(failures)}"


_WORDS = {1.0: "better", 0.5: "a tie", 0.0: "worse"}


def _preference(vote: Vote, name: str, *, first: bool) -> float:
    better = vote[name]["better"]
    if better == TIE:
        return 0.5
    return float((better == FIRST) is first)


def _majority(preferences: Sequence[float]) -> float:
    for side in (0.0, 1.0):
        if 2 * preferences.count(side) > len(preferences):
            return side
    return 0.5


def _share(preferences: Sequence[float], result: float) -> float:
    return 1.0 - preferences.count(result) / len(preferences)


def _sum_up(
    points: Points, reasons: list[str], unsure: float, votes: Sequence[Vote]
) -> RubricResult:
    addressed = sum(vote["addressed_judge"] is True for vote in votes)
    if addressed:
        reasons = [f"tries to instruct the judge (say {addressed} of {len(votes)} votes)", *reasons]
    return RubricResult(
        points=points,
        reason="; ".join(reasons),
        uncertainty=1.0 if addressed else unsure,
        injection=addressed > 0 and 2 * addressed >= len(votes),
    )
