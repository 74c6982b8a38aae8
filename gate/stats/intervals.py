"""Intervals of one number of one run: of shares, of means, and of positive numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gate.stats.distributions import (
    beta_quantile,
    interpolate_quantile,
    normal_cdf,
    normal_quantile,
    t_quantile,
)
from gate.stats.pairs import Array, case_means, case_variances

RESAMPLES = 2000
FEWEST = 30  # cases; with fewer, the interval contains the rate in as little as 92 % of suites


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """An interval; each bound is wrong with probability (1 - confidence) / 2 at most."""

    low: float
    high: float
    method: str
    drawn: bool = False  # computed with random numbers

    def within(self, low: float | None, high: float | None) -> Bounds:
        """The bounds cut at the ends of the scale; None: no end."""
        return Bounds(
            low=self.low if low is None else max(low, self.low),
            high=self.high if high is None else min(high, self.high),
            method=self.method,
            drawn=self.drawn,
        )


ALL_ZERO = Bounds(low=0.0, high=0.0, method="all are 0")


def wilson(share: float, n: float, confidence: float) -> Bounds:
    """Score interval of a binomial share (Wilson 1927).

    For trials of unlike cases it is conservative: a sum of unlike Bernoullis varies less than the
    binomial (Hoeffding 1956).
    """
    z = _z(confidence)
    centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * math.sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n))
    return Bounds(low=centre - half, high=centre + half, method="Wilson").within(0.0, 1.0)


def clopper_pearson(successes: float, n: float, confidence: float) -> Bounds:
    """Exact binomial interval (Clopper and Pearson 1934).

    It has its confidence at every share, also near the ends. For trials of unlike cases it is
    conservative: a sum of unlike Bernoullis varies less than the binomial (Hoeffding 1956).
    `successes` and `n` need not be whole numbers (weighted trials, partial scores).
    """
    tail = (1.0 - confidence) / 2.0
    k = min(max(0.0, successes), n)
    return Bounds(
        low=beta_quantile(tail, k, n - k + 1) if k > 0 else 0.0,
        high=beta_quantile(1.0 - tail, k + 1, n - k) if k < n else 1.0,
        method="Clopper-Pearson",
    )


def share_of_single_calls(values: Array, confidence: float) -> Bounds:
    """Interval of the mean of the case means, also for cases with a single round.

    `values`: cases x rounds, from 0 to 1, NaN is missing. It is Clopper-Pearson's, for as many
    equally weighted trials as are equally precise (Kish 1965), because the only call of a case
    weighs as much as all calls of another.
    """
    means, calls = case_means(values), (~np.isnan(values)).sum(axis=1)
    there = calls > 0
    n = float(there.sum()) ** 2 / float((1.0 / calls[there]).sum())
    return clopper_pearson(float(means[there].mean()) * n, n, confidence)


def mean_of_these_cases(
    values: Array, confidence: float, span: float | None, *, count: float = 0.0
) -> Bounds | None:
    """Interval of the mean of the case means when only run-to-run noise counts.

    `values`: cases x rounds, NaN is missing. `span`: width of the scale, None if unbounded;
    `count`: what one more counts, where things are counted. One call can move the mean by this /
    calls, which keeps identical rounds from proving too much. None: a case has a single round, so
    its noise is unknown.
    """
    means, variances = case_means(values), case_variances(values)
    calls = (~np.isnan(values)).sum(axis=1)
    if not np.any(calls) or np.any(calls == 1):
        return None
    there = calls > 0
    n, total = int(there.sum()), int(calls.sum())
    se = math.sqrt(float((variances[there] / calls[there]).sum())) / n
    return _around(
        float(means[there].mean()),
        se=se,
        quantile=_z(confidence) if span is not None else _t(confidence, total - n),
        step=(span or count) / total,
        method="within-case variance",
    )


def mean_over_cases(
    values: Array, confidence: float, span: float | None, *, count: float = 0.0
) -> Bounds:
    """Student's interval from the spread between cases; wider, and also for cases of one round.
    Arguments as in `mean_of_these_cases`.
    """
    means = case_means(values)
    means = means[~np.isnan(means)]
    n = len(means)
    if n < 2:
        return Bounds(low=-math.inf, high=math.inf, method="one case")
    return _around(
        float(means.mean()),
        se=float(means.std(ddof=1)) / math.sqrt(n),
        quantile=_t(confidence, n - 1),
        step=(span or count) / float((~np.isnan(values)).sum()),
        method="t, between cases",
    )


def mean_on_logs(
    value: float,
    amounts: Array,
    confidence: float,
    *,
    terms: Array | None = None,
    step: float = 0.0,
) -> Bounds:
    """Interval of a positive, skewed number, such as mean latency or cost per success: by the noise
    of the rounds or, if a case ran once, by the scatter between cases.

    `amounts`: cases x rounds of the skewed numbers (milliseconds, cost), at least 0, NaN is
    missing. `terms`: values whose mean moves as the logarithm of `value` does; None: `value` is the
    mean of the amounts. The noise is at least what it would be if the amounts of all cases varied
    by the same share: the few rounds of the case that costs most may happen to be alike. `step`:
    how far one call can move the logarithm.
    """
    if value <= 0.0:
        return ALL_ZERO
    calls = (~np.isnan(amounts)).sum(axis=1)
    if not calls.all():
        amounts, terms = amounts[calls > 0], None if terms is None else terms[calls > 0]
        calls = calls[calls > 0]
    n = len(calls)
    if np.any(calls == 1):
        noise = scatter_of_cases(
            case_means(amounts) / value if terms is None else case_means(terms)
        )
        most_df, method = n - 1.0, "between cases"
    else:
        means, variances = case_means(amounts), case_variances(amounts)
        own = variances / value**2 if terms is None else case_variances(terms)
        noise = np.maximum(own + _missing_noise(means, variances), 0.0) / calls / n**2
        most_df, method = float(calls.sum() - n), "within-case variance"
    return around_on_logs(value, noise, confidence, most_df=most_df, step=step, method=method)


def around_on_logs(
    value: float,
    noise: Array,
    confidence: float,
    *,
    most_df: float,
    freedom: float = 2.0,
    step: float = 0.0,
    method: str,
) -> Bounds:
    """Interval of a positive number, symmetrical around its logarithm; 0 to 0 of the value 0.

    `noise`: what each case adds to the variance of the logarithm. If few cases make up most of that
    sum, it is itself hardly known. So Student's t has `freedom` x (sum noise)^2 / sum noise^2
    degrees of freedom, and `most_df` at most. 2 are those of Satterthwaite (1946), if nothing is
    known of the tails of the noise.
    """
    if value <= 0.0:
        return ALL_ZERO
    if most_df < 1.0:
        return Bounds(low=0.0, high=math.inf, method="one case")
    total, df = float(noise.sum()), most_df
    if total > 0.0:
        df = max(1.0, min(df, math.floor(freedom * total**2 / float((noise**2).sum()))))
    half = math.hypot(_t(confidence, df) * math.sqrt(total), _z(confidence) ** 2 * step)
    low, high = (value * (math.exp(x) if x < 700.0 else math.inf) for x in (-half, half))
    return Bounds(low=low, high=high, method=f"{method}, on logarithms")


def scatter_of_cases(means: Array) -> Array:
    """What each case adds to the variance of the mean of all, by its distance from it."""
    n = len(means)
    scatter: Array = (means - means.mean()) ** 2 / (n * max(n - 1.0, 1.0))
    return scatter


def _missing_noise(means: Array, variances: Array) -> Array:
    """By how much the variance of each case's amounts, over the square of the mean of all, falls
    short of what it would be if all varied by the same share of their means; 0 if in all it does
    not.
    """
    positive = means > 0.0
    share = float((variances[positive] / means[positive] ** 2).mean())
    short = (share * means**2 - variances) / float(means.mean()) ** 2
    return short if short.sum() > 0.0 else np.zeros(len(short))


def _around(value: float, *, se: float, quantile: float, step: float, method: str) -> Bounds:
    half = quantile * math.sqrt(se**2 + (quantile * step) ** 2)
    return Bounds(low=value - half, high=value + half, method=method)


def width_of_one_call(span: float, calls: int, confidence: float) -> float:
    """How large a standard deviation may be although no call differed: the square of it moves by
    span^2 / calls if one of `calls` differs by the whole scale, `span` wide.
    """
    return _z(confidence) * span / math.sqrt(calls)


def _z(confidence: float) -> float:
    return normal_quantile(0.5 + confidence / 2.0)


def _t(confidence: float, df: float) -> float:
    return t_quantile(0.5 + confidence / 2.0, df)


def share_of_cases_like_these(
    values: Array, confidence: float, *, seed: int, resamples: int = RESAMPLES
) -> Bounds | None:
    """Interval of the mean of the case means, if the cases were drawn from many of their kind.

    `values`: cases x rounds of shares, NaN is missing. Whole cases are drawn with all their rounds,
    since the rounds of a case are alike. The bounds are BCa (Efron 1987), because plain percentiles
    of a share near 1 miss too often, and reach as far as Student's t does, because drawn means vary
    too little (Hesterberg 2015). Few cases, or cases with equal means, get Wilson's interval of
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
    n = len(means)
    reach = _t(confidence, n - 1.0) * math.sqrt(n / (n - 1.0))
    ends = (bias - reach, bias + reach)
    return [normal_cdf(bias + z / max(1.0 - skewness * z, 1e-6)) for z in ends]
