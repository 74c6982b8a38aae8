"""What other tools do to decide whether an agent got worse, as plug-ins of a verdict simulator.

Its contract: `baseline` and `candidate` are arrays of cases x rounds x metrics, pass/fail as 1 and
0, every call made; the answer is a status a metric. None of the rules has a tolerance or stops
early. A raw threshold, the paired t test on case means and McNemar's mid-p test come with the
simulator.

    PYTHONPATH=. python "$GATE_TOOLS/verdict_sim.py" --method benchmarks.other_rules:unpaired_z \
        --alpha .05 --reps 1000 --seed 1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Decision = Callable[[Array, Array, float], bool]  # baseline, candidate, alpha -> is it worse?
Rule = Callable[..., list[str]]
RESAMPLES = 1000
NORMAL = NormalDist()


def rule(worse: Decision) -> Rule:
    """The simulator's plug-in for a decision about one metric at one-sided level alpha."""

    @wraps(worse)
    def judge(baseline: Array, candidate: Array, *, alpha: float, **_: object) -> list[str]:
        return [
            "regression" if worse(baseline[:, :, j], candidate[:, :, j], alpha) else "inconclusive"
            for j in range(candidate.shape[2])
        ]

    return judge


@rule
def any_drop(was: Array, now: Array, _alpha: float) -> bool:
    """The mean is lower than the baseline's, by however little."""
    return bool(now.mean() < was.mean())


@rule
def unpaired_z(was: Array, now: Array, alpha: float) -> bool:
    """Two proportions: all calls in two pots, as if no case had been run on both sides."""
    pooled = (was.sum() + now.sum()) / (was.size + now.size)
    variance = pooled * (1.0 - pooled) * (1.0 / was.size + 1.0 / now.size)
    z = (now.mean() - was.mean()) / math.sqrt(variance) if variance > 0.0 else 0.0
    return bool(NORMAL.cdf(z) <= alpha)


@rule
def unpaired_fisher(was: Array, now: Array, alpha: float) -> bool:
    """Fisher's exact test on the same two pots."""
    calls, drawn = was.size + now.size, now.size
    passed, seen = round(was.sum() + now.sum()), round(now.sum())
    fewest = max(0, drawn - (calls - passed))
    logs = [
        _log_ways(passed, k) + _log_ways(calls - passed, drawn - k) - _log_ways(calls, drawn)
        for k in range(fewest, seen + 1)
    ]
    return sum(map(math.exp, logs)) <= alpha


@rule
def paired_bootstrap(was: Array, now: Array, alpha: float) -> bool:
    """Cases drawn with replacement; worse when the percentile bound of their mean difference is
    below zero.
    """
    resampled = _resampled_means(now.mean(axis=1) - was.mean(axis=1))
    return bool(np.quantile(resampled, 1.0 - alpha) < 0.0)


@rule
def paired_bootstrap_bca(was: Array, now: Array, alpha: float) -> bool:
    """The same with the bias-corrected and accelerated bound (Efron 1987)."""
    differences = now.mean(axis=1) - was.mean(axis=1)
    resampled, seen = _resampled_means(differences), float(differences.mean())
    below = float((resampled < seen).mean() + (resampled == seen).mean() / 2.0)
    if not 0.0 < below < 1.0:  # all cases changed alike
        return seen < 0.0
    centred = seen - differences  # the jackknife's deviations, up to a factor
    squares = float((centred**2).sum())
    acceleration = float((centred**3).sum()) / (6.0 * squares**1.5) if squares > 0.0 else 0.0
    bias = NORMAL.inv_cdf(below)
    moved = bias + NORMAL.inv_cdf(1.0 - alpha)
    level = NORMAL.cdf(bias + moved / (1.0 - acceleration * moved))
    return bool(np.quantile(resampled, level) < 0.0)


@rule
def hierarchical_bootstrap(was: Array, now: Array, alpha: float) -> bool:
    """Cases drawn with replacement, then each one's rounds too; the percentile bound as above."""
    rng = np.random.default_rng(0)
    cases = rng.integers(len(was), size=(RESAMPLES, len(was), 1))
    means = [
        arm[cases, rng.integers(arm.shape[1], size=(*cases.shape[:2], arm.shape[1]))].mean((1, 2))
        for arm in (was, now)
    ]
    return bool(np.quantile(means[1] - means[0], 1.0 - alpha) < 0.0)


def _log_ways(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _resampled_means(values: Array) -> Array:
    return _draws(len(values)) @ values / len(values)


@cache
def _draws(cases: int) -> Array:
    """How often each case is drawn, for every resample; the same for all runs of the simulator."""
    rng = np.random.default_rng(0)
    return rng.multinomial(cases, np.full(cases, 1.0 / cases), size=RESAMPLES).astype(np.float64)
