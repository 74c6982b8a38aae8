"""The bootstrap over cases of a suite's success rate: what tasks like these would have come to."""

from __future__ import annotations

import numpy as np

from gate.stats.distributions import interpolate_quantile, normal_cdf, normal_quantile
from gate.stats.intervals import Bounds, wilson
from gate.stats.pairs import Array, case_means

RESAMPLES = 2000
FEWEST = 10  # cases; drawn from fewer, the interval holds the rate in as few as 81 % of suites


def share_of_cases_like_these(
    values: Array, confidence: float, *, seed: int, resamples: int = RESAMPLES
) -> Bounds | None:
    """Interval of the mean of the case means, if the cases were drawn from many of their kind.

    `values`: cases x rounds of shares, NaN is missing. Whole cases are drawn with all their rounds,
    since the rounds of a case are alike; ends by BCa (Efron 1987), as the plain percentiles of a
    share near 1 miss too often. Wilson's interval of the cases where they are few, or all have the
    same mean, so that drawing shows no spread; and of the rounds of a single case. None: nothing
    was measured.
    """
    means = case_means(values)
    means = means[~np.isnan(means)]
    n = len(means)
    if n == 0:
        return None
    share = float(means.mean())
    if n == 1:
        return wilson(share, float((~np.isnan(values)).sum()), confidence)
    kinds, times = np.unique(means, return_counts=True)
    if len(kinds) == 1 or n < FEWEST:
        return wilson(share, n, confidence)
    # Cases of one mean are alike, so that it is enough to draw how many there are of each. A matrix
    # product would add them in another order on another machine.
    rng = np.random.default_rng(seed)
    drawn = (rng.multinomial(n, times / n, size=resamples) * kinds).sum(axis=1) / n
    ordered = np.sort(drawn)
    low, high = (interpolate_quantile(ordered, end) for end in _bca(means, drawn, confidence))
    method = f"BCa bootstrap over {n:,} cases, {resamples:,} resamples"
    return Bounds(low=low, high=high, method=method, drawn=True)


def _bca(means: Array, drawn: Array, confidence: float) -> list[float]:
    """Which quantiles of the drawn means are the ends: corrected for their bias and skewness."""
    share, least = float(means.mean()), 1.0 / len(drawn)
    below = float((drawn < share - 1e-12).mean() + (drawn <= share + 1e-12).mean()) / 2.0
    bias = normal_quantile(min(max(below, least), 1.0 - least))
    away = means - share  # as the jackknife has it, up to a factor that cancels
    skewness = float((away**3).sum()) / (6.0 * float((away**2).sum()) ** 1.5)
    ends = []
    for tail in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        z = bias + normal_quantile(tail)
        ends.append(normal_cdf(bias + z / max(1.0 - skewness * z, 1e-6)))
    return ends
