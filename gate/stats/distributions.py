"""Distribution functions and quantiles that the standard library lacks: beta, Student's t."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_NORMAL = NormalDist()
_ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)


def normal_cdf(z: float) -> float:
    """Phi(z), accurate in both tails."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def upper_tail(z: Array) -> Array:
    """1 - Phi(z) of each entry, relative error below 2e-7: a Chebyshev fit of erfc (Press et al.,
    Numerical Recipes, 6.2).
    """
    size = np.abs(z) / math.sqrt(2.0)
    t = 1.0 / (1.0 + 0.5 * size)
    tail: Array = 0.5 * t * np.exp(-size * size + np.polynomial.polynomial.polyval(t, _ERFC))
    return np.where(z >= 0.0, tail, 1.0 - tail)


def normal_quantile(p: float) -> float:
    """z with Phi(z) = p, for 0 < p < 1."""
    return _NORMAL.inv_cdf(p)


def skew_corrected(z: float, skew: float) -> float:
    """z of a skewed sum, corrected to that of a normal one: the first Cornish-Fisher term, linear
    beyond |skew z| = 1, where the term would turn back.
    """
    bend = z if abs(skew * z) <= 1.0 else math.copysign(1.0 / abs(skew), z)
    return bend - skew * (bend**2 - 1.0) / 6.0 + (z - bend) * (1.0 - abs(skew * bend) / 3.0)


def t_cdf(t: float, df: float) -> float:
    """Student's t distribution function; from df = 1e6 on the normal one (off by < 1e-6)."""
    if df >= 1e6 or math.isinf(t):
        return normal_cdf(t)
    tail = 0.5 * beta_cdf(df / (df + t * t), df / 2.0, 0.5)
    return tail if t < 0 else 1.0 - tail


@lru_cache(maxsize=1024)
def t_quantile(p: float, df: float) -> float:
    """t with t_cdf(t, df) = p, by Newton's method, and by halving where a step leaves the
    bracket.
    """
    if df >= 1e6:
        return normal_quantile(p)
    if p < 0.5:
        return -t_quantile(1.0 - p, df)
    low, high = 0.0, 2.0
    while t_cdf(high, df) < p:
        low, high = high, high * 2.0
    log_peak = math.lgamma((df + 1.0) / 2.0) - math.lgamma(df / 2.0) - math.log(math.pi * df) / 2.0
    x = (low + high) / 2.0
    for _ in range(60):
        error = t_cdf(x, df) - p
        low, high = (x, high) if error < 0.0 else (low, x)
        density = math.exp(log_peak - (df + 1.0) / 2.0 * math.log1p(x * x / df))
        nearer = x - error / density if density > 0.0 else low
        nearer = nearer if low < nearer < high else (low + high) / 2.0
        if abs(nearer - x) <= 1e-15 * high:
            return nearer
        x = nearer
    return x


def beta_quantile(p: float, a: float, b: float) -> float:
    """x with beta_cdf(x, a, b) = p, by Newton's method, and by halving where a step leaves the
    bracket.
    """
    low, high, x = 0.0, 1.0, a / (a + b)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    for _ in range(100):
        error = beta_cdf(x, a, b) - p
        low, high = (x, high) if error < 0.0 else (low, x)
        density = math.exp((a - 1.0) * math.log(x) + (b - 1.0) * math.log1p(-x) - log_beta)
        nearer = x - error / density if density > 0.0 else low
        nearer = nearer if low < nearer < high else (low + high) / 2.0
        if abs(nearer - x) <= 1e-15:
            return nearer
        x = nearer
    return x


def gamma_quantile(p: float, shape: float) -> float:
    """x with P(X <= x) = p, for X from the gamma distribution with this shape and scale 1. Above a
    shape of 100 by Wilson and Hilferty (1931), which then is right to five digits.
    """
    if shape > 100.0:
        spread = 1.0 / (9.0 * shape)
        return shape * (1.0 - spread + normal_quantile(p) * math.sqrt(spread)) ** 3
    return bisect(lambda x: _gamma_cdf(x, shape) < p, 0.0, 400.0)


def _gamma_cdf(x: float, shape: float) -> float:
    """Regularised lower incomplete gamma function P(shape, x) by its series (DLMF 8.7.1)."""
    if x <= 0.0:
        return 0.0
    term = math.exp(shape * math.log(x) - x - math.lgamma(shape + 1.0))
    total, at = term, shape
    while term > 1e-16 * total:
        at += 1.0
        term *= x / at
        total += term
    return min(1.0, total)


def bisect(below: Callable[[float], bool], low: float, high: float) -> float:
    """The point between `low` and `high` where `below` changes from true to false."""
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if below(middle) else (low, middle)
    return (low + high) / 2.0


def beta_cdf(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b) by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):  # the fraction converges fast on the other side
        return 1.0 - beta_cdf(1.0 - x, b, a)
    log_front = (
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
        - math.log(a)
    )
    return math.exp(log_front) * _beta_fraction(x, a, b)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction 1/(1 + d1/(1 + d2/(1 + ...))) by Lentz's method."""
    tiny = 1e-300
    value, c, d = 1.0, 1.0 / tiny, 1.0
    for step in range(1, 10_000):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / (1.0 + term * d or tiny)
        c = 1.0 + term / c or tiny
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def interpolate_quantile(ordered: npt.NDArray[np.float64], tau: float) -> float:
    """The tau-quantile of sorted values, between the two nearest; NaN if there is a NaN.

    It equals np.quantile to the bit. np.quantile itself imports the masked arrays at its first
    call, which is slow.
    """
    last = len(ordered) - 1
    if math.isnan(ordered[last]):
        return math.nan
    at = last * tau
    low = math.floor(at)
    share, before, behind = at - low, ordered[low], ordered[min(low + 1, last)]
    step = behind - before
    from_before = share < 0.5 and last > 0  # numpy keeps a single -0.0
    return float(before + step * share if from_before else behind - step * (1 - share))
