"""`gate run --dry-run`: what a run would do, after every check that it makes before it asks."""

from __future__ import annotations

from collections.abc import Iterator

from gate.run.options import Host, RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup, set_up
from gate.text import figures
from gate.verdict.planning.plan import price_per_call


def describe_run(options: RunOptions, host: Host) -> Iterator[str]:
    """Sentences for people; nobody is asked and nothing is written. Raises what the run would."""
    setup = set_up(options, host)
    for plan in setup.plans:
        yield _describe_suite(plan, setup)
    yield f"agent: {setup.agent.describe()}, at most {setup.agent.concurrency} at once"
    planned = sum(plan.planned for plan in setup.plans)
    cap = sum(plan.looks.cap if plan.looks else plan.planned for plan in setup.plans)
    more = f", at most {cap:,}" if cap > planned else ""
    early = "; it ends earlier if the verdict is clear" if any(p.looks for p in setup.plans) else ""
    yield f"{figures.count(planned, 'call')} planned{more}{early}"
    prices = [_price(plan, setup) for plan in setup.plans]
    if planned and None not in prices:
        cost = sum(filter(None, prices))
        yield f"about {figures.money(cost)} for the planned calls, as the baseline's calls cost"
    budget = setup.place.config.budget
    if budget.usd is not None:
        yield f"budget: {figures.money(budget.usd)}"
    yield from (f"Note: {note}" for note in (*setup.place.config.warnings, *setup.notes))
    yield "Nothing was asked and nothing was written; `gate plan` says what this run can detect."


def _price(plan: SuitePlan, setup: Setup) -> float | None:
    """Dollars of the planned calls by the baseline's mean; None: unknown."""
    found = setup.baselines.get(plan.name)
    price = price_per_call(found.table) if found is not None else None
    return None if price is None else plan.planned * price


def _describe_suite(plan: SuitePlan, setup: Setup) -> str:
    cases = figures.count(len(plan.chosen), "case")
    of = f" of {len(plan.digests):,}" if plan.not_selected else ""
    rounds = figures.count(len(plan.task_source().numbers), "round")
    found = setup.baselines.get(plan.name)
    if setup.control.fresh:
        against = "compared with the base branch's agent, asked in the same run"
    elif found is not None and found.table is not None:
        against = f"compared with {found.info.detail or found.info.source}"
    else:
        against = "compared with nothing: there is no baseline"
    return f"{plan.name}: {cases}{of} x {rounds}, {against}"
