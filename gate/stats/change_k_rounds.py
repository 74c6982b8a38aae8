"""The case-stratified shuffle test for what k rounds of a case do together, such as pass^k.

Each case's rounds are shuffled between baseline and current run. Given how many of them passed, the
number in the current run is hypergeometric. So the difference of a case has few values, and the
mean over the cases has an exact distribution.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np

from gate.records import Evidence
from gate.stats.change import ChangeQuestion, evidence_without_pairs, scale_change
from gate.stats.distributions import t_cdf
from gate.stats.fall import Fall
from gate.stats.k_rounds import Draw, RoundCounts, count_rounds
from gate.stats.lattice import Numbers, tails
from gate.stats.noise import ChangeNoise
from gate.stats.pairs import Array
from gate.stats.permutation_test import ROUNDING, SIGNS_UP_TO, find_enough, hypergeometric

FINEST = 10**18  # steps; a finer lattice counts as none
PLENTY = 60  # rounds of one case that are enough for any level


def change_in_share(
    baseline: Array, current: Array, draw: Draw, question: ChangeQuestion
) -> Evidence:
    """The change in the mean share of draws that are as wanted, over cases with k rounds in both.

    `baseline`, `current`: arrays of cases x rounds, rows are the same cases, NaN is missing.
    """
    was, now = count_rounds(baseline), count_rounds(current)
    both = np.minimum(was.rounds, now.rounds) >= draw.k
    if not both.any():
        too_few = f"no case has {draw.k} rounds in both runs"
        return replace(evidence_without_pairs(), too_few=too_few)
    was, now = was.select(both), now.select(both)
    before, after = float(draw.share(was).mean()), float(draw.share(now).mean())
    test = _shuffle_test(was, now, draw)

    def least(cases: int, more: int) -> float:
        """The smallest p-value with this many cases, and `more` rounds of each now."""
        wider = RoundCounts(passed=now.passed, rounds=now.rounds + more)
        rows = np.resize(np.arange(len(was.rounds)), cases)
        return _smallest_p(was.select(rows), wider.select(rows), draw.opposite)

    noise = ChangeNoise(
        delta=after - before,
        variance=test.variance,
        quantum=draw.quantum(now),
        tolerance=question.tolerance.value * (before if question.tolerance.relative else 1.0),
        least_p=least(len(was.rounds), 0),
        limit=1.0,
        drift=question.drift,
        cases=len(was.rounds),
        weight=float((was.rounds * now.rounds / (was.rounds + now.rounds)).mean()),
        rounds_b=float(was.rounds.mean()),
        fall=_fall(draw.share(was), question),
    )
    rising = question.direction == "lower"
    worse, better = (test.ups, test.downs) if rising else (test.downs, test.ups)
    change = Evidence(
        baseline=before,
        current=after,
        delta=noise.delta,
        relative=False,
        se=math.hypot(test.se, math.sqrt(question.drift)),
        p_worse=noise.add_drift(max(worse)),
        p_better=noise.add_drift(max(better)),
        p_doubt=noise.add_drift(min(worse)),
        bounds=noise.bounds,
        detectable=noise.detectable,
        size=noise.size,
        n_paired=len(was.rounds),
        method=test.method,
        blind=lambda level: find_enough(
            least, level, cases=len(was.rounds), rounds=int(now.rounds.max())
        ),
        room=_room(before, draw, question),
        all_lost=lambda level: _is_total_loss_significant(was, now, draw, question, level),
    )
    if question.tolerance.relative and before > 0.0:
        return scale_change(change, 1.0 / before, relative=True)
    return change


def _room(before: float, draw: Draw, question: ChangeQuestion) -> float:
    """How far the share can get worse if failed rounds are the worst; else infinite: unknown."""
    if draw.opposite.wanted == "alike":
        return math.inf
    return before if question.direction == "higher" else 1.0 - before


def _is_total_loss_significant(
    was: RoundCounts, now: RoundCounts, draw: Draw, question: ChangeQuestion, level: float
) -> bool:
    """Whether a run in which every round failed would be significant."""
    if question.drift:
        return False
    failed = RoundCounts(passed=np.zeros_like(now.passed), rounds=now.rounds)
    test = _shuffle_test(was, failed, draw)
    return max(test.downs if question.direction == "higher" else test.ups) <= level


def _fall(shares: Array, question: ChangeQuestion) -> Fall:
    far = shares if question.direction == "higher" else 1.0 - shares
    return Fall(level=float(far.mean()), square=float((far**2).mean()), span=math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shuffled:
    """Chances of a difference at least this low (`downs`) and this high (`ups`): by shuffling, and
    for unequal rounds also with each run's own noise, because a run that only became flakier would
    look significant otherwise.
    """

    downs: tuple[float, ...]
    ups: tuple[float, ...]
    se: float  # of the difference if nothing changed
    variance: float  # the larger of the two
    method: str


def _shuffle_test(was: RoundCounts, now: RoundCounts, draw: Draw) -> _Shuffled:
    differences = draw.share(now) - draw.share(was)
    n, total = len(differences), float(differences.sum())
    numbers = _numbers(was, now, draw)
    pooled, chances = numbers.variance / n**2, tails(numbers, total)
    downs, ups, variance = [chances.down], [chances.up], pooled
    if np.any(was.rounds != now.rounds):
        separate = (draw.noise(was) + draw.noise(now)) / n
        z = 0.0
        if abs(total) > ROUNDING * n:
            z = (
                total / n / math.sqrt(separate)
                if separate > 0.0
                else math.copysign(math.inf, total)
            )
        df = float(max(1, n - 1))  # the noise is known from as many numbers as there are cases
        downs.append(t_cdf(z, df))
        ups.append(t_cdf(-z, df))
        variance = max(pooled, separate)
    return _Shuffled(
        downs=tuple(downs),
        ups=tuple(ups),
        se=math.sqrt(pooled),
        variance=variance,
        method="exact shuffle test" if chances.exact else "shuffle test",
    )


def _numbers(was: RoundCounts, now: RoundCounts, draw: Draw) -> Numbers:
    """The distribution of each case's difference under shuffling, without cases whose rounds all
    agree.
    """
    rounds, passed = was.rounds + now.rounds, was.passed + now.passed
    mixed = (passed > 0) & (passed < rounds)
    columns = (was.rounds[mixed], now.rounds[mixed], passed[mixed])
    sizes = tuple(int(column.max(initial=0)) + 1 for column in columns)
    rows, counts = np.unique(np.ravel_multi_index(columns, sizes), return_counts=True)
    kinds = list(zip(*(row.tolist() for row in np.unravel_index(rows, sizes)), strict=True))
    values = np.zeros((len(kinds), sizes[1]))
    chances = np.zeros((len(kinds), sizes[1]))
    for row, (rounds_b, rounds_c, both) in enumerate(kinds):
        values[row, : rounds_c + 1] = _differences(rounds_b, rounds_c, both, draw)
        chances[row, : rounds_c + 1] = hypergeometric(rounds_b + rounds_c, rounds_c, both)
    drawn = {*chain.from_iterable(kind[:2] for kind in kinds)}
    steps = math.lcm(*(math.comb(rounds, draw.k) for rounds in drawn))
    return Numbers(values=values, chances=chances, counts=counts, steps=min(steps, FINEST))


def _differences(rounds_b: int, rounds_c: int, passed: int, draw: Draw) -> Array:
    """Share now - share before, if 0, 1, ..., `rounds_c` of the passed rounds are in this run."""
    was = np.clip(passed - np.arange(rounds_c + 1), 0, rounds_b)
    return _shares(rounds_c, draw) - _shares(rounds_b, draw)[was]


@lru_cache(maxsize=256)
def _shares(rounds: int, draw: Draw) -> Array:
    """Shares of wanted draws for a case that passed 0, 1, ..., `rounds` of its rounds."""
    return draw.share(RoundCounts(passed=np.arange(rounds + 1), rounds=np.full(rounds + 1, rounds)))


def _smallest_p(was: RoundCounts, now: RoundCounts, draw: Draw) -> float:
    """The p-value of the worst possible result; if it is above alpha, nothing is significant."""
    if len(was.rounds) > SIGNS_UP_TO:
        return 0.0
    pairs = zip(was.rounds.tolist(), now.rounds.tolist(), strict=True)
    counted = Counter(pairs)
    if any(min(pair) >= PLENTY for pair in counted):
        return 0.0
    return 0.5 * math.prod(_worst(*pair, draw) ** number for pair, number in counted.items())


def _worst(rounds_b: int, rounds_c: int, draw: Draw) -> float:
    """The smallest chance of a result as bad as any possible one, if the baseline always passed."""
    least = []
    for passed in range(rounds_c + 1):
        differences = _differences(rounds_b, rounds_c, rounds_b + passed, draw)
        chances = hypergeometric(rounds_b + rounds_c, rounds_c, rounds_b + passed)
        worst = differences <= differences[passed] + ROUNDING
        least.append(float(chances[worst].sum()))
    return min(least)
