"""What k rounds of a case do together: all pass (pass^k), any passes (pass@k), all have the same
outcome, or the opposite.

Each is the share of all choices of k of the case's rounds that do: an unbiased estimate of the
chance in k new rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import normal_quantile
from gate.stats.intervals import Bounds, wilson
from gate.stats.pairs import Array

Counts = npt.NDArray[np.int64]
Wanted = Literal["all", "any", "alike", "none", "unlike"]
OPPOSITES: Mapping[Wanted, Wanted] = {"none": "any", "unlike": "alike"}
PASSED = 1.0 - 1e-6  # a value from here on is a pass; a partial score is not


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts:
    """Passed rounds and all rounds, one entry per case."""

    passed: Counts
    rounds: Counts

    def select(self, rows: npt.NDArray[np.bool_ | np.intp]) -> RoundCounts:
        return RoundCounts(passed=self.passed[rows], rounds=self.rounds[rows])


def count_rounds(values: Array) -> RoundCounts:
    """Rounds and passed rounds of each case. `values`: cases x rounds, NaN where a round has no
    value.
    """
    return RoundCounts(
        passed=np.asarray((values >= PASSED).sum(axis=1)),
        rounds=np.asarray((~np.isnan(values)).sum(axis=1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A draw of `k` rounds of a case, without replacement, and what these rounds should do."""

    k: int
    wanted: Wanted

    @property
    def opposite(self) -> Draw:
        """The opposite draw for `none` and `unlike`, which has the same noise; else this draw."""
        return replace(self, wanted=OPPOSITES.get(self.wanted, self.wanted))

    def share(self, cases: RoundCounts) -> Array:
        """Share of the draws that are as wanted; NaN for a case with fewer than k rounds.

        With s of R rounds passed: all C(s,k)/C(R,k), any 1 - C(R-s,k)/C(R,k), alike
        C(s,k)/C(R,k) + C(R-s,k)/C(R,k); none and unlike are what any and alike leave of 1.
        """
        if self.wanted in OPPOSITES:
            return 1.0 - self.opposite.share(cases)
        failed = cases.rounds - cases.passed
        if self.wanted == "any":
            return 1.0 - share_of_draws(self.k, failed, cases.rounds)
        passes = share_of_draws(self.k, cases.passed, cases.rounds)
        return (
            passes
            if self.wanted == "all"
            else passes + share_of_draws(self.k, failed, cases.rounds)
        )

    def quantum(self, cases: RoundCounts) -> float:
        """How far one call can move the mean of the cases' shares: k/R of a case, on average."""
        return float(np.mean(self.k / cases.rounds)) / len(cases.rounds)

    def noise(self, cases: RoundCounts) -> float:
        """The variance of a case's share by chance, averaged over the cases.

        The mean of a squared share is variance + chance^2. The mean of chance^2 is subtracted as
        far as the rounds show it, so the result is not too small.
        """
        if self.wanted in OPPOSITES:
            return self.opposite.noise(cases)
        shares = self.share(cases)
        return max(0.0, float(np.mean(shares**2)) - self._squares(cases, float(shares.mean())))

    def _squares(self, cases: RoundCounts, mean: float) -> float:
        """The mean of chance^2 over the cases; its lower bound if they have too few rounds."""
        usual = int(np.median(cases.rounds))
        other = RoundCounts(passed=cases.rounds - cases.passed, rounds=cases.rounds)
        if self.wanted != "alike":
            counts = cases if self.wanted == "all" else other
            square = _moment(counts, 2 * self.k, usual)
            return square if self.wanted == "all" else 2.0 * mean - 1.0 + square
        if usual < 2 * self.k:
            return mean**2
        both = _moment(cases, 2 * self.k, usual) + _moment(other, 2 * self.k, usual)
        return both + 2.0 * _both(self.k, cases)


def share_of_draws(k: int, chosen: Counts, rounds: Counts) -> Array:
    """C(chosen, k) / C(rounds, k); NaN where there are fewer than k rounds."""
    share = np.where(rounds < k, np.nan, 1.0)
    for i in range(k):
        share = share * np.maximum(chosen - i, 0) / np.maximum(rounds - i, 1)
    return share


def mean_share(values: Array, draw: Draw, confidence: float) -> Bounds | None:
    """Interval of the mean share of these cases: only run-to-run noise counts. None: no case has k
    rounds.

    It is Wilson's, for as many trials as have the variance noise / n, and at least z^2 q wide on
    each side, q = how far one call can move the mean. `values`: cases x rounds, NaN is missing.
    """
    cases = count_rounds(values)
    cases = cases.select(cases.rounds >= draw.k)
    n = len(cases.rounds)
    if not n:
        return None
    mean, variance = float(draw.share(cases).mean()), draw.noise(cases) / n
    low = high = mean
    if 0.0 < mean < 1.0 and variance > 0.0:
        scored = wilson(mean, mean * (1.0 - mean) / variance, confidence)
        low, high = scored.low, scored.high
    least = normal_quantile(0.5 + confidence / 2.0) ** 2 * draw.quantum(cases)
    return Bounds(
        low=mean - math.hypot(mean - low, least),
        high=mean + math.hypot(high - mean, least),
        method="Wilson, within-case variance",
    ).within(0.0, 1.0)


def _moment(cases: RoundCounts, j: int, usual: int) -> float:
    """The mean over the cases of the j-th power of a round's chance to pass.

    If the usual case has fewer than j rounds, it is the lower bound: moments on [0, 1] are
    log-convex, so they shrink no faster beyond the last known one than before it.
    """
    last = min(j, usual)
    highest = float(np.nanmean(share_of_draws(last, cases.passed, cases.rounds)))
    before = float(np.nanmean(share_of_draws(last - 1, cases.passed, cases.rounds)))
    return highest * (highest / before) ** (j - last) if before > 0.0 else 0.0


def _both(k: int, cases: RoundCounts) -> float:
    """The mean of (p (1-p))^k: k rounds passed and k others failed, over all choices of 2k."""
    shares = share_of_draws(k, cases.passed, cases.rounds)
    for i in range(k):
        left = np.maximum(cases.rounds - k - i, 1)
        shares = shares * np.maximum(cases.rounds - cases.passed - i, 0) / left
    return float(np.mean(shares[cases.rounds >= 2 * k]))
