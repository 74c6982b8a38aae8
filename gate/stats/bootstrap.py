"""The bootstrap over cases: the success rate that other cases of the same kind would have."""

from __future__ import annotations

import numpy as np

from gate.stats.distributions import interpolate_quantile, normal_cdf, normal_quantile
from gate.stats.intervals import Bounds, wilson
from gate.stats.pairs import Array, case_means

RESAMPLES = 2000
FEWEST = 10  # cases; with fewer, the interval contains the rate in as little as 81 % of suites


def share_of_cases_like_these(
    values: Array, confidence: float, *, seed: int, resamples: int = RESAMPLES
) -> Bounds | None:
    """Interval of the mean of the case means, if the cases were drawn from many of their kind.

    `values`: cases x rounds of shares, NaN is missing. Whole cases are drawn with all their rounds,
    since the rounds of a case are alike. The bounds are BCa (Efron 1987), because plain percentiles
    of a share near 1 miss too often. Few cases, or cases with equal means, get Wilson's interval of
    the cases; a single case gets that of its rounds. None: nothing was measured.
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
    # Only the number of drawn cases with each mean matters. No matrix product: it would add in
    # another order on another machine.
    rng = np.random.default_rng(seed)
    drawn = (rng.multinomial(n, times / n, size=resamples) * kinds).sum(axis=1) / n
    ordered = np.sort(drawn)
    low, high = (interpolate_quantile(ordered, end) for end in _bca(means, drawn, confidence))
    method = f"BCa bootstrap over {n:,} cases, {resamples:,} resamples"
    return Bounds(low=low, high=high, method=method, drawn=True)


def _bca(means: Array, drawn: Array, confidence: float) -> list[float]:
    """The two quantiles of the drawn means that are the bounds, corrected for bias and skewness."""
    share, least = float(means.mean()), 1.0 / len(drawn)
    below = float((drawn < share - 1e-12).mean() + (drawn <= share + 1e-12).mean()) / 2.0
    bias = normal_quantile(min(max(below, least), 1.0 - least))
    away = means - share  # as in the jackknife, up to a factor that cancels
    skewness = float((away**3).sum()) / (6.0 * float((away**2).sum()) ** 1.5)
    ends = []
    for tail in ((1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0):
        z = bias + normal_quantile(tail)
        ends.append(normal_cdf(bias + z / max(1.0 - skewness * z, 1e-6)))
    return ends
