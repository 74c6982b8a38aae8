"""The variance of a number that is computed from cases drawn in strata."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


def number_strata(strata: Codes) -> Codes:
    """Numbers the strata from 0.

    The variance of a stratum with one case is unknown. If there is one, all cases count as one
    stratum, which overstates the variance.
    """
    _, codes, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    return np.zeros(len(strata), dtype=np.int64) if (sizes < 2).any() else codes.astype(np.int64)


def sum_without_one(values: Array, strata: Codes) -> Array:
    """The sums over the cases (first axis) without one case each, shape as `values`. The other
    cases
    of its stratum replace the missing one.
    """
    total = values.sum(axis=0)
    left = np.empty_like(values)
    for code in np.unique(strata):
        members = strata == code
        part, n = values[members].sum(axis=0), int(members.sum())
        left[members] = total - part + (part - values[members]) * (n / max(1, n - 1))
    return left


def jackknife_variance(left_out: Array, strata: Codes) -> float:
    """Variance of a statistic from its values without one case each (Jones 1974, stratified)."""
    total = 0.0
    for code in np.unique(strata):
        values = left_out[strata == code]
        n = len(values)
        total += (n - 1) / n * float(((values - values.mean()) ** 2).sum())
    return total


def covariance_of_totals(first: Array, second: Array, strata: Codes) -> float:
    """The covariance of two sums over the sampled cases, from the scatter within the strata."""
    total = 0.0
    for code in np.unique(strata):
        a, b = first[strata == code], second[strata == code]
        n = len(a)
        total += n / (n - 1) * float(((a - a.mean()) * (b - b.mean())).sum())
    return total


def effective_size(weights: Array) -> float:
    """The number of equally weighted cases that would be equally precise (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())
