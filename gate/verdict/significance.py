"""From evidence to statuses: alpha shared by Holm, the boundary of this look, what is settled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gate.analysis.pairing import Pairing
from gate.records import (
    Evidence,
    Level,
    MetricSpec,
    RegressionRules,
    Sight,
    Status,
    Tolerance,
)
from gate.stats.boundaries import SUSPICIOUS, strong_suspicion
from gate.stats.multiplicity import benjamini_hochberg, step_down
from gate.verdict.comparability import Standing
from gate.verdict.early_end import ChangeInterval, StopRules, find_interval
from gate.verdict.interim_looks import LookBoundary, LookPosition, find_boundary
from gate.verdict.reasons import describe_blindness

EPSILON = 1e-9  # 0.82 - 0.80 is no more than 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPair:
    """One metric of one suite. `fixed`: its status, whatever a test says."""

    standing: Standing
    pairing: Pairing
    spec: MetricSpec
    tolerance: Tolerance
    level: Level
    fixed: Status | None
    tested: bool  # there are numbers to compare
    why: str
    where: LookPosition

    @property
    def is_awaited(self) -> bool:
        """Whether it has no value so far, and the planned trials may bring one."""
        return self.fixed == "inconclusive"

    @property
    def blocks(self) -> bool:
        return self.level == "block" and (self.fixed is None or self.is_awaited)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonStatus:
    """A pair with its evidence. `worse`, `better`: p-values adjusted for the other metrics and for
    earlier and later looks, at most alpha where the boundary is reached.
    """

    pair: MetricPair
    evidence: Evidence
    worse: float
    better: float
    alpha: float
    interval: ChangeInterval
    allowed: float  # the tolerance on the scale of delta, or as a share where there is none
    relative: bool  # whether it is a share
    mde: float  # searched for once the run has ended: no look needs it
    status: Status
    settled: bool  # more trials are not asked for
    unseen: str = ""  # that no result of this size could have been called a change


def judge_comparisons(
    tested: Sequence[MetricPair],
    seen: Sequence[Evidence],
    pairs: Sequence[MetricPair],
    rules: RegressionRules,
    *,
    ended: bool,
    alone: bool,
) -> list[ComparisonStatus]:
    """`pairs`: all of the run; alpha is shared by those that block. `ended`: the intervals are
    those of a run that has ended. `alone`: no gate decides when it ends.
    """
    sharing = max(1, sum(pair.blocks for pair in pairs))
    worse = _adjust_p_values(tested, [e.p_worse for e in seen], sharing, rules)
    better = _adjust_p_values(tested, [e.p_better for e in seen], sharing, rules)
    return [
        _judge_pair(pair, evidence, w, b, sharing, rules, ended=ended, alone=alone and sharing == 1)
        for pair, evidence, w, b in zip(tested, seen, worse, better, strict=True)
    ]


def _judge_pair(
    pair: MetricPair,
    e: Evidence,
    worse: float,
    better: float,
    sharing: int,
    rules: RegressionRules,
    *,
    ended: bool,
    alone: bool,
) -> ComparisonStatus:
    boundary = find_boundary(rules.alpha / (sharing if pair.blocks else 1), rules.power, pair.where)
    shown = find_boundary(rules.alpha, rules.power, pair.where)
    allowed, relative = pair.tolerance.value, pair.tolerance.relative or e.relative
    if relative and not e.relative and e.n_paired and math.isfinite(e.baseline):
        allowed, relative = allowed * abs(e.baseline), False
    stops = StopRules(
        boundary=boundary,
        blocks=ended and pair.blocks,
        alone=alone and ended and pair.blocks,
        both=rules.stop == "both",
        allowed=allowed,
        doubt=strong_suspicion(boundary.alpha),
    )
    interval = find_interval(e, pair.spec.direction, shown, stops)
    claim = _Claim(pair=pair, e=e, allowed=allowed, interval=interval)
    status = claim.status(worse, better, rules.alpha)
    settled = status in ("regression", "accepted") or _is_settled(
        claim, boundary, status, both=rules.stop == "both"
    )
    sight = boundary.sight(rules.power, settled=settled)
    open_ended = status in ("no_regression", "suspected") and sight.share >= 1.0
    blind = e.blind(sight.level) if open_ended else None
    if blind is not None and status == "no_regression":
        status = "inconclusive"
    return ComparisonStatus(
        pair=pair,
        evidence=e,
        worse=worse,
        better=better,
        alpha=rules.alpha,
        interval=interval,
        allowed=allowed,
        relative=relative,
        mde=_least_seen(e, sight, allowed) if ended else math.inf,
        status=status,
        settled=settled,
        unseen=describe_blindness(blind) if blind is not None else "",
    )


def _least_seen(e: Evidence, sight: Sight, allowed: float) -> float:
    """The smallest change that is caught: none is larger than all there is to lose, which is caught
    each time where that is significant. Infinite where none is caught.
    """
    size = e.detectable(sight)
    if size <= e.room:
        return size
    caught = e.room >= allowed - EPSILON and e.all_lost(sight.level)
    return e.room if caught else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """docs/semantics.md 1, on the scale of the evidence; harm is positive."""

    pair: MetricPair
    e: Evidence
    allowed: float
    interval: ChangeInterval

    @property
    def harm(self) -> float:
        return self.side(self.e.delta)

    def side(self, delta: float) -> float:
        return -delta if self.pair.spec.direction == "higher" else delta

    def harm_at_most(self, low: float, high: float) -> float:
        return -low if self.pair.spec.direction == "higher" else high

    def status(self, worse: float, better: float, alpha: float) -> Status:
        status = self.pair.fixed or self._status_of_value(worse, better, alpha)
        if status in ("regression", "suspected") and self.pair.standing.data.accepts_all:
            return "accepted"
        return status

    def _status_of_value(self, worse: float, better: float, alpha: float) -> Status:
        if self.e.too_few:
            return "inconclusive"
        # An interim estimate that has just crossed the boundary exaggerates.
        convicting = self.allowed + (0.0 if self.pair.where.last else self.e.se) - EPSILON
        if worse <= alpha and self.harm >= convicting and self.harm > 0.0:
            return "regression"
        if better <= alpha and -self.harm >= convicting and self.harm < 0.0:
            return "improvement"
        surely_small = (
            self.harm_at_most(self.interval.low, self.interval.high) < self.allowed - EPSILON
        )
        if worse <= alpha and self.harm > 0.0 and surely_small:
            return "within_tolerance"
        large = self.harm >= self.allowed - EPSILON and self.harm > 0.0
        if self.e.p_worse <= SUSPICIOUS and large:
            return "suspected"
        return "no_regression"


def _is_settled(claim: _Claim, boundary: LookBoundary, status: Status, *, both: bool) -> bool:
    """Whether this look ends the question: the last one, harmless enough, or proved harmless. If
    `both` sides are asked about, it must be improved, or no improvement either.
    """
    pair, e = claim.pair, claim.e
    if pair.where.last or pair.fixed is not None:
        return True
    if e.too_few:  # the planned trials may be enough; more than those are for doubts
        return pair.standing.data.complete
    if status == "suspected" and e.p_worse <= strong_suspicion(boundary.alpha):
        return False
    if both and status != "improvement" and e.p_better < boundary.futility:
        return False
    if e.p_doubt >= boundary.futility:
        return True
    return claim.harm_at_most(*e.bounds(boundary.proof)) < claim.allowed - EPSILON


# ---------------------------------------------------------------------------------- shared alpha


def _adjust_p_values(
    pairs: Sequence[MetricPair], p_values: Sequence[float], sharing: int, rules: RegressionRules
) -> list[float]:
    """Holm over the blocking pairs of the run, each at the boundary of its look; false discovery
    rate over those only shown.
    """
    blocking = [(pair.where, p) for pair, p in zip(pairs, p_values, strict=True) if pair.blocks]
    stepped = iter(
        step_down(
            [p for _, p in blocking],
            lambda i, share: _worth(blocking[i][0], share, rules),
            sharing,
            rules.alpha,
        )
    )
    rest = [
        min(1.0, p * _worth(pair.where, 1, rules))
        for pair, p in zip(pairs, p_values, strict=True)
        if not pair.blocks
    ]
    others = iter(benjamini_hochberg(rest).tolist())
    return [next(stepped) if pair.blocks else next(others) for pair in pairs]


def _worth(where: LookPosition, sharing: int, rules: RegressionRules) -> float:
    """The factor that makes a p-value of this look comparable with alpha."""
    return rules.alpha / find_boundary(rules.alpha / sharing, rules.power, where).harm
