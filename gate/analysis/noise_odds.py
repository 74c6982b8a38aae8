"""How often an agent like the one that was stored would break a limit by noise alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gate.analysis.estimates import family_of
from gate.analysis.session_effect import is_mean
from gate.plugins import Array, Family
from gate.records import GateRule, MetricSpec, NoiseOdds, Rule
from gate.stats.distributions import bisect, normal_quantile
from gate.stats.noise_odds import Level, RoundPlan, Side, estimate_level, odds_beyond
from gate.stats.quantiles import calls_needed

NO_BASELINE = "there is no baseline"
NOT_STORED = "the baseline has no value of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """How much a run measures. `level`: one-sided, of the interval of a limit."""

    cases: float
    rounds: int
    max_rounds: int  # = rounds where a value in doubt gets no more
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _LimitSide:
    """One limit as a limit on a mean of calls."""

    level: Level
    limit: float
    side: Side
    at_end: bool = False  # of the scale: no interval lies beyond it
    block: int = 1  # rounds that make up one value of a case


def estimate_odds(
    gate: GateRule, spec: MetricSpec, values: Array, size: RunSize, *, drift: float = 0.0
) -> NoiseOdds:
    """How often an agent like the stored one misses the gate's limit by noise alone.

    `values`: stored rounds of an unchanged agent, cases x rounds, NaN is missing. `drift`: the
    variance of its session effect.

    Every family is led back to a mean. A p95 is at most a limit when 95 % of the calls are; the
    largest call, when all are; a ratio X / Y, when the mean of x - limit * y is at most 0; what k
    rounds of a case do together is a mean over blocks of as many rounds as the run makes.
    """
    sides = list(_sides(gate, spec, values, size, drift))
    if not sides:
        return NoiseOdds(why=_unknown(spec, values))
    chance = sum(_chance(side, gate.effective_rule, size) for side in sides)
    guess = "from one stored round a case" if any(side.level.is_guess for side in sides) else ""
    return NoiseOdds(chance=min(1.0, chance), why=guess)


def _chance(bound: _LimitSide, rule: Rule, size: RunSize) -> float:
    z = normal_quantile(1.0 - size.level)
    planned = max(1.0, size.rounds / bound.block)
    by_value = rule == "point" or bound.at_end
    more = size.max_rounds / bound.block if by_value and not bound.at_end else planned
    limit = bound.limit
    if not by_value:
        beyond = bound.level.half_width(planned, z) * (1.0 if rule == "proven" else -1.0)
        limit += beyond if bound.side == "below" else -beyond
    rounds = RoundPlan(planned=planned, cap=max(planned, more), z=z)
    return odds_beyond(bound.level, limit, bound.side, rounds)


def _sides(
    gate: GateRule, spec: MetricSpec, values: Array, size: RunSize, drift: float
) -> Iterator[_LimitSide]:
    """The limits of the gate that can be told; none where the family permits nothing."""
    if gate.min is not None:
        yield from _side(gate.min, "below", spec, values, size, drift)
    if gate.max is not None:
        yield from _side(gate.max, "above", spec, values, size, drift)


def _side(
    limit: float, side: Side, spec: MetricSpec, values: Array, size: RunSize, drift: float
) -> Iterator[_LimitSide]:
    at_end = limit == (spec.high if side == "below" else spec.low)
    block, low, high = 1, spec.low, spec.high
    if is_mean(spec):
        factor = float(family_of(spec).reduce(np.ones((1, 1))))  # 100: per hundred calls
        limit, drift = limit / factor, drift / factor**2
        low, high = (None if end is None else end / factor for end in (low, high))
    elif spec.family == "ratio":
        values, limit = np.real(values) - limit * np.imag(values), 0.0
        low = high = None
    elif spec.family == "quantile" and size.cases * size.rounds < calls_needed(_share(spec)):
        return
    elif spec.family == "quantile" or (spec.family == "max" and side == "above"):
        values, limit = _mark_kept(values, limit, side, spec)
        side, low, high = "below", 0.0, 1.0
    elif spec.family == "k_rounds":
        values, block = _blocks(values, family_of(spec), size.rounds), size.rounds
    else:
        return
    level = estimate_level(values, low=low, high=high, cases=size.cases, shared=drift)
    if level is not None and not (level.is_guess and block > 1):
        yield _LimitSide(level=level, limit=limit, side=side, at_end=at_end, block=block)


def _mark_kept(values: Array, limit: float, side: Side, spec: MetricSpec) -> tuple[Array, float]:
    """1 for each call that keeps the limit on a quantile, else 0, and the least share of them."""
    q = _share(spec)
    kept = values <= limit if side == "above" else values >= limit
    marks = np.where(np.isnan(values), np.nan, kept.astype(np.float64))
    return marks, q if side == "above" else 1.0 - q


def _share(spec: MetricSpec) -> float:
    """The share of calls that are at most the value: q of a quantile, 1 of the largest call."""
    return float(getattr(family_of(spec), "q", 1.0))


def _blocks(values: Array, family: Family, rounds: int) -> Array:
    """The cases' values in each block of so many rounds, newest block last; a rest is left out."""
    number = values.shape[1] // rounds
    rest = values[:, values.shape[1] - number * rounds :]
    parts = [family.per_case(rest[:, at * rounds : (at + 1) * rounds]) for at in range(number)]
    return np.column_stack(parts) if parts else np.full((len(values), 1), np.nan)


def _unknown(spec: MetricSpec, values: Array) -> str:
    if not np.any(~np.isnan(values)):
        return NOT_STORED
    if spec.family == "quantile":
        return "its calls are too few for this quantile"
    if spec.family == "k_rounds":
        return "it needs two runs of main with as many rounds as this one"
    return f"the noise of a {spec.family} is unknown"


# ---------------------------------------------------------------------------------------- planning


def assume_odds(gate: GateRule, spec: MetricSpec, size: RunSize) -> NoiseOdds:
    """Where nothing is measured: of an agent that is at the gate's target, if it has one."""
    if gate.target is None or (spec.low, spec.high) != (0.0, 1.0) or not is_mean(spec):
        return NoiseOdds(why=NO_BASELINE)
    noise = gate.target * (1.0 - gate.target) / 2.0
    level = Level(
        value=gate.target,
        noise=noise,
        spread=2.0 * noise,
        cases=size.cases,
        low=0.0,
        high=1.0,
    )
    limits: tuple[tuple[float | None, Side], ...] = ((gate.min, "below"), (gate.max, "above"))
    chance = sum(
        _chance(_LimitSide(level=level, limit=limit, side=side), gate.effective_rule, size)
        for limit, side in limits
        if limit is not None
    )
    why = f"{NO_BASELINE}; the estimate is for an agent exactly at the target"
    return NoiseOdds(chance=min(1.0, chance), why=why)


def safer_limit(
    gate: GateRule, spec: MetricSpec, values: Array, size: RunSize, *, drift: float, odds: float
) -> float | None:
    """The limit nearest to the gate's that noise alone misses at most so often, to three digits;
    None where there are two limits, or none is so.
    """
    limit = gate.max if gate.min is None else gate.min
    if limit is None or (gate.min is not None and gate.max is not None):
        return None
    way = 1.0 if gate.min is None else -1.0
    end = spec.high if way > 0 else spec.low
    width = abs(limit if end is None else end - limit) or 1.0

    def often(by: float) -> float:
        at = limit + way * by * width
        moved = replace(gate, max=at) if gate.min is None else replace(gate, min=at)
        rounded = estimate_odds(moved, spec, values, size, drift=drift)
        return 0.0 if rounded.chance is None else rounded.chance

    if often(1.0) > odds:
        return None
    by = bisect(lambda part: often(part) > odds, 0.0, 1.0)
    digit = 10.0 ** (math.floor(math.log10(abs(limit) or 1.0)) - 2)
    round_out = math.floor if way < 0 else math.ceil
    rounded = float(f"{round_out((limit + way * by * width) / digit) * digit:.12g}")
    return rounded if end is None or abs(rounded - limit) < abs(end - limit) else None


def measuring_share(values: Array) -> float:
    """Share of the cases that have a value; 1 where none has."""
    there = (~np.isnan(values)).any(axis=1)
    return float(there.mean()) if there.any() else 1.0
