"""What one trial costs, by stored trials."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gate.agents.pricing import cost_usd
from gate.analysis.estimates import estimates
from gate.analysis.table import Table
from gate.plugins import Array
from gate.records import Price, Usage

COST = "operational.estimated_cost_per_query"
_TOKENS = ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens")
_LOOKED_AT = 500  # trials that show whether the price is still the same
_SAME = 0.01  # relative: nearer costs are of one price


def price_per_call(
    table: Table | None, price: Price | None = None, *, other_model: bool = False
) -> float | None:
    """Mean cost of a trial in USD with all its tries, as stored; that of the table's mean tokens at
    the `price` where no cost is stored, where gate.yml has the price and the stored ones rest on
    another, or where they are an `other_model`'s. None is unknown.
    """
    if table is None:
        return None
    stored = None if other_model else _stored(table)
    if price is None or (stored is not None and _rests_on(table, price)):
        return stored
    today = cost_usd(_mean_usage(table), "", {"": price})
    return stored if today is None else today


def _stored(table: Table) -> float | None:
    spec = table.specs.get(COST)
    return estimates(table, {COST: spec})[COST].value if spec else None


def _rests_on(table: Table, price: Price) -> bool:
    """Whether most of the stored costs are those of the price, or nobody can tell. One that a
    provider's list says has not changed: the agent itself reports what an answer costs.
    """
    if price.source:
        return True
    ratios = [then / now if now else math.inf * then for then, now in _both_costs(table, price)]
    return not ratios or abs(float(np.median(ratios)) - 1.0) <= _SAME


def _both_costs(table: Table, price: Price) -> Iterator[tuple[float, float]]:
    """Of the first trials with tokens: what is stored, and what it would be; without free ones."""
    costs = table.column("cost_usd").ravel()
    tokens = [table.column(name).ravel() for name in _TOKENS]
    known = np.flatnonzero(~np.isnan(costs) & ~np.isnan(tokens[0]) & ~np.isnan(tokens[2]))
    for at in known[:_LOOKED_AT]:
        usage = Usage(**{n: _whole(column[at]) for n, column in zip(_TOKENS, tokens, strict=True)})
        now, then = cost_usd(usage, "", {"": price}), float(costs[at])
        if now is not None and (now or then):
            yield then, now


def _mean_usage(table: Table) -> Usage:
    return Usage(**{name: _mean(table.column(name)) for name in _TOKENS})


def _mean(values: Array) -> int | None:
    known = values[~np.isnan(values)]
    return _whole(known.mean()) if known.size else None


def _whole(number: float) -> int | None:
    return None if math.isnan(number) else round(float(number))
