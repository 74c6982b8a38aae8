"""What a run spent: the calls that it made, planned and spared, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gate.agents.list_prices import LIST_PRICES
from gate.agents.pricing import listed_price
from gate.analysis.tally import Tally
from gate.records import Calls, Config, Cost, Outcome
from gate.verdict.reasons import with_calls
from gate.verdict.suite_data import SuiteData

_DIGITS = 12  # of a sum in USD, so that the order of the trials does not matter


def count_calls(measured: Sequence[SuiteData]) -> Calls:
    """Trials of all suites and of their control. Calls that the verdict spared count as saved;
    calls that a budget left unmade do not.
    """
    planned = sum(round(one.planned * (1 + one.partners)) for one in measured)
    made = sum(tally.calls for tally in _tallies(measured))
    cut = any(one.not_run for one in measured)
    return Calls(
        planned=planned,
        cap=sum(round(one.cap * (1 + one.partners)) for one in measured),
        made=made,
        saved=0 if cut else max(0, planned - made),
    )


def reason_with_calls(reason: str, outcome: Outcome, measured: Sequence[SuiteData]) -> str:
    """The reason of an outcome, with the calls that an early verdict spared."""
    trials = sum(tally.trials for tally in _tallies(measured))
    return with_calls(reason, outcome, count_calls(measured), trials=trials)


def sum_cost(measured: Sequence[SuiteData], config: Config) -> Cost:
    """USD of all suites, of their control and of judges, as far as prices are known."""
    models: Counter[str] = Counter()
    tallies = _tallies(measured)
    for tally in tallies:
        models.update(tally.unknown_models)
    beside = [one.control for one in measured if one.control is not None]
    return Cost(
        usd=_spent(tallies),
        baseline_usd=None if beside else _baseline_cost(measured),
        budget_usd=config.budget.usd,
        control_usd=_spent(beside),
        unknown_models=tuple(sorted(models)),
        unknown_trials=sum(models.values()),
        judge_usd=_judged_for(tallies),
        judge_calls=sum(tally.judge_calls for tally in tallies),
        judge_unknown=sum(tally.judge_unknown for tally in tallies),
        listed=tuple(
            listed_price(model)
            for model in sorted(set().union(*(tally.listed for tally in tallies)))
            if model in LIST_PRICES  # not, in rows that a later version wrote
        ),
    )


def _judged_for(tallies: Sequence[Tally]) -> float | None:
    """None where no judge was asked, or the price of none of its votes is known."""
    usd = round(sum(tally.judge_usd for tally in tallies), _DIGITS)
    asked = any(tally.judge_calls for tally in tallies)
    unknown = any(tally.judge_unknown for tally in tallies)
    return usd if usd or (asked and not unknown) else None


def _tallies(measured: Sequence[SuiteData]) -> list[Tally]:
    """One of each agent that was asked, the controls included."""
    beside = [one.control for one in measured if one.control is not None]
    return [one.tally for one in measured] + beside


def _spent(tallies: Sequence[Tally]) -> float | None:
    """None where no price is known."""
    usd = round(sum(tally.usd for tally in tallies), _DIGITS)
    return usd if any(tally.priced for tally in tallies) else None


def _baseline_cost(measured: Sequence[SuiteData]) -> float | None:
    """What as many trials cost at the baseline's mean cost a trial; None when that is unknown."""
    total = 0.0
    for one in measured:
        if one.baseline is None:
            return None
        costs = one.baseline.column("cost_usd")
        known = costs[costs == costs]  # NaN is unknown
        if not known.size:
            return None
        total += float(known.mean()) * one.tally.trials
    return total
