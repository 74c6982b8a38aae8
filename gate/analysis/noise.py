"""How much one call of a metric varies around its own case, from rounds of an unchanged agent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gate.analysis.estimates import family_of
from gate.plugins import Array, Family
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.distributions import bisect
from gate.stats.fall import Fall
from gate.stats.pairs import case_variances, pair
from gate.text import figures

_SEED = 20_260_102  # the same baseline always gives the same plan
_MIXED = 10
_MEANS = ("rate", "mean")
_FAR = 1e6  # standard deviations of one call; what takes more cannot be reached


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNoise:
    """`size`: so many standard deviations of one call as a change for the worse on the scale that
    the metric is compared on, relative to the baseline's value where `relative`.
    """

    value: float
    relative: bool
    size: Callable[[float], float]
    cases: int  # that have a value
    rounds: float  # of a case, on average
    between: float = math.nan  # share of the variance of single calls that is between cases
    guess: str = ""  # why it is only a guess; empty: measured
    unknown: str = ""  # why nothing can be said; empty: something can
    fall: Fall | None = None  # on the same scale; None: values cannot fall to an end

    @property
    def sd(self) -> float:
        return self.size(1.0)

    def multiple(self, change: float) -> float:
        """The inverse of `size`; infinite for what cannot be reached."""
        if change <= 0.0:
            return 0.0
        high = 1.0
        while self.size(high) < change:
            high *= 2.0
            if high > _FAR:
                return math.inf
        return bisect(lambda m: self.size(m) < change, 0.0, high)


def measure_noise(spec: MetricSpec, values: Array, tolerance: Tolerance) -> CallNoise:
    """The noise of single calls of a metric, from the rounds of an unchanged agent.

    `values`: cases x rounds of the baseline, NaN is missing. `tolerance` only tells whether changes
    are relative.

    The rounds are compared with each other, half against half, by the metric's own test: what that
    finds is noise. With one round a case, half the variance of all calls is a first guess (for
    pass/fail that is p (1 - p) / 2).
    """
    family = family_of(spec)
    there = ~np.isnan(values)
    split, guess = _against_itself(family, spec, values, tolerance), ""
    if not split.is_known:
        mixed = _against_itself(family, spec, _mix_calls(values[there]), tolerance)
        split, guess = replace(mixed, factor=math.sqrt(0.5)), "from one round a case"
    value = family.reduce(values)
    floor = _least(spec, int(there.sum())) / ((abs(value) if split.relative else 0.0) or 1.0)
    return CallNoise(
        value=value,
        relative=split.relative,
        size=lambda m: max(split.size(m), floor * m),
        cases=int(there.any(axis=1).sum()),
        rounds=float(there.sum() / max(1, there.any(axis=1).sum())),
        between=_between(values),
        guess=guess,
        unknown=_unknown(split, floor, family, spec, values, tolerance),
        fall=_fall(spec, family, values, scale=abs(value) if split.relative else 1.0),
    )


def assume_noise(
    spec: MetricSpec, chance: float, tolerance: Tolerance, *, cases: int, rounds: float
) -> CallNoise:
    """The noise of a share that nobody has measured: a first guess from its value, chance (1 -
    chance) / 2.
    """
    bounded = (spec.low, spec.high) == (0.0, 1.0)
    scale = 1.0 / chance if tolerance.relative and chance > 0.0 else 1.0
    sd = (
        max(math.sqrt(max(0.0, chance * (1.0 - chance) / 2.0)), _least(spec, round(cases * rounds)))
        * scale
    )
    return CallNoise(
        value=chance if bounded else math.nan,
        relative=tolerance.relative and chance > 0.0,
        size=lambda m: sd * m,
        cases=cases,
        rounds=rounds,
        fall=_assume_fall(spec, chance, sd / scale, scale) if bounded else None,
        guess=f"from a value of {figures.value(chance, spec.unit)}, which is assumed",
        unknown="" if bounded else "nothing is known before it is measured",
    )


def _fall(spec: MetricSpec, family: Family, values: Array, *, scale: float) -> Fall | None:
    """How far a mean of bounded values can fall; the noise is taken out of the squares of the
    cases' means.
    """
    worst = spec.low if spec.direction == "higher" else spec.high
    if worst is None or spec.low is None or spec.high is None or spec.family not in _MEANS:
        return None
    far = np.abs(family.per_case(values) - worst)
    there = ~np.isnan(far)
    if not there.any():
        return None
    span, level = spec.high - spec.low, float(far[there].mean())
    noise = case_variances(values)[there] / (~np.isnan(values)).sum(axis=1)[there]
    square = float((far[there] ** 2 - np.nan_to_num(noise)).mean())
    flips = bool(np.isin(values[~np.isnan(values)], (spec.low, spec.high)).all())
    return Fall(
        level=level / scale,
        square=min(max(square, level**2), level * span) / scale**2,
        span=span / scale if flips else math.inf,
    )


def _assume_fall(spec: MetricSpec, chance: float, sd: float, scale: float) -> Fall:
    level = chance if spec.direction == "higher" else 1.0 - chance
    square = max(level**2, level - sd**2) * scale**2
    return Fall(level=level * scale, square=square, span=scale)


def share_never_changing(values: Array) -> float:
    """Share of the cases whose rounds all agree; NaN when no case has two."""
    variances = case_variances(values)
    measured = variances[~np.isnan(variances)]
    return float((measured == 0.0).mean()) if measured.size else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class _SplitComparison:
    """The noise that a comparison of two sides found; `root`: of its information."""

    evidence: Evidence
    root: float
    factor: float = 1.0

    @property
    def is_known(self) -> bool:
        return self.evidence.n_paired > 0 and math.isfinite(self.evidence.se)

    @property
    def relative(self) -> bool:
        return self.evidence.relative

    def size(self, multiple: float) -> float:
        """By the metric's own way from standard errors to changes, which need not be linear. Where
        the sides have unlike rounds it takes the larger of two standard errors: `se` is the one
        that is wanted.
        """
        unit = self._beyond(1.0)
        if not unit:
            return 0.0
        return self._beyond(multiple * self.root * self.factor * self.evidence.se / unit)

    def _beyond(self, errors: float) -> float:
        return self.evidence.size(errors)


def _against_itself(
    family: Family, spec: MetricSpec, values: Array, tolerance: Tolerance
) -> _SplitComparison:
    """Every other round on either side, so that what changes from run to run is on both."""
    first = np.argsort(np.isnan(values), axis=1, kind="stable")  # those that have a value
    rounds = np.take_along_axis(values, first, axis=1)
    odd, even = rounds[:, 0::2], rounds[:, 1::2]
    nothing = Tolerance(value=0.0, relative=tolerance.relative)
    evidence = family.compare(odd, even, spec, tolerance=nothing)
    weight = pair(_mark_values(odd), _mark_values(even)).weight
    return _SplitComparison(evidence=evidence, root=math.sqrt(float(weight.sum())))


def _mark_values(values: Array) -> Array:
    """1 where there is a value, else NaN."""
    return np.where(np.isnan(values), np.nan, 1.0)


def _between(values: Array) -> float:
    if np.iscomplexobj(values):  # a ratio has no value of a single call
        return math.nan
    variances, calls = case_variances(values), values[~np.isnan(values)]
    if np.isnan(variances).all() or not np.ptp(calls):
        return math.nan
    return max(0.0, 1.0 - float(np.nanmean(variances) / calls.var(ddof=1)))


def _mix_calls(calls: Array) -> Array:
    """Calls of all cases as rounds of a few: they vary as single calls do. Rows of ten, a last one
    that is shorter is left out.
    """
    size = min(_MIXED, len(calls))
    rows = len(calls) // size if size else 0
    return np.random.default_rng(_SEED).permutation(calls)[: rows * size].reshape(rows, size)


def _least(spec: MetricSpec, calls: int) -> float:
    """What one call that comes out differently would show: calls that all agree do not prove that
    there is no noise.
    """
    if spec.low is None or spec.high is None or not calls:
        return 0.0
    return (spec.high - spec.low) / math.sqrt(calls)


def _unknown(
    split: _SplitComparison,
    floor: float,
    family: Family,
    spec: MetricSpec,
    values: Array,
    tolerance: Tolerance,
) -> str:
    if np.isnan(values).all():
        return "the baseline has no value"
    too_few = family.compare(values, values, spec, tolerance=tolerance).too_few
    if too_few:
        return too_few
    if not split.is_known:
        return "calls like these cannot prove anything about it"
    if split.size(1.0) == 0.0 and not floor:
        return "it never varied"
    return ""
