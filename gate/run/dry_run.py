"""`gate run --dry-run`: what a run would do, after every check that it makes before it asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from gate.agents.pricing import model_of
from gate.records import Config
from gate.run.budget import foresee_unknown_costs
from gate.run.cost_estimate import (
    agent_price,
    estimate_trial_cost,
    tell_changed_price,
    tell_list_prices,
)
from gate.run.options import Host, RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup, set_up
from gate.store.measurements import find_newest_suites
from gate.text import figures


def describe_run(options: RunOptions, host: Host, results: Path) -> Iterator[str]:
    """Sentences for people; nobody is asked and nothing is written. Raises what the run would.
    `results`: where the newest session says what calls cost.
    """
    setup = set_up(options, host)
    for plan in setup.plans:
        yield _describe_suite(plan, setup)
    yield f"agent: {setup.agent.describe()}, at most {setup.agent.concurrency} at once"
    planned = sum(plan.planned for plan in setup.plans)
    cap = sum(plan.looks.cap if plan.looks else plan.planned for plan in setup.plans)
    more = f", at most {cap:,}" if cap > planned else ""
    early = "; it ends earlier if the verdict is clear" if any(p.looks for p in setup.plans) else ""
    yield f"{figures.count(planned, 'call')} planned{more}{early}"
    yield from _tell_costs(setup, results)
    yield from (f"Note: {note}" for note in (*setup.place.config.warnings, *setup.notes))
    yield from _tell_missing_keys(setup.place.config, host.env)
    yield "Nothing was asked and nothing was written; `gate plan` says what this run can detect."


def _tell_missing_keys(config: Config, env: Mapping[str, str]) -> Iterator[str]:
    """Keys that the run would not start without."""
    for section in ("agent", "control_agent", "judge", "verifier", "retriever"):
        spec = getattr(config, section)
        name = spec.options.get("api_key_env") if spec is not None else None
        if isinstance(name, str) and not env.get(name, "").strip():
            yield (
                f"Warning: {section}.api_key_env: the environment variable {name} is not set; "
                "a run ends at once without it"
            )


def _tell_costs(setup: Setup, results: Path) -> Iterator[str]:
    """Of the planned calls: the agent's, the judge's, both; and whether a budget can hold."""
    config, newest = setup.place.config, find_newest_suites(results, datetime.now(UTC))
    found = setup.baselines
    tables = {name: one.table for name, one in found.items()}
    costs = [
        (plan.planned, estimate_trial_cost(setup, plan, tables.get(plan.name), newest))
        for plan in setup.plans
    ]
    agent = _total((planned, cost.agent) for planned, cost in costs)
    votes = sum(planned * cost.votes for planned, cost in costs)
    judged = [(planned, cost) for planned, cost in costs if cost.votes]
    judge = _total((planned, cost.judge) for planned, cost in judged)
    if agent is None:
        yield "cost of the agent's planned calls: unknown"
    else:
        told_by = figures.join_words(dict.fromkeys(cost.told_by for _, cost in costs))
        yield f"cost of the agent's planned calls: about {figures.money(agent)}, as in {told_by}"
    model, price = agent_price(config)
    changes = (tell_changed_price(cost, model, price) for _, cost in costs)
    yield from (f"Note: {text}" for text in dict.fromkeys(changes) if text)
    if votes:
        told = "cost unknown"
        if judge is not None:
            told_by = figures.join_words(dict.fromkeys(cost.judge_told_by for _, cost in judged))
            told = f"about {figures.money(judge)}, as in {told_by}"
        yield f"judge: {setup.provenance.judge}, up to {figures.count(votes, 'call')}, {told}"
        if agent is not None and judge is not None:
            yield f"together about {figures.money(agent + judge)} for the planned calls"
    models = [model, *([model_of(config.judge)] if votes else [])]
    yield from (f"Note: {text}" for text in tell_list_prices(models, config.pricing))
    if config.budget.usd is not None:
        yield f"budget: {figures.money(config.budget.usd)}"
        yield from (
            f"Warning: {text}"
            for text in foresee_unknown_costs(
                config, agent_known=agent is not None, judge_known=judge is not None or not votes
            )
        )


def _total(parts: Iterable[tuple[int, float | None]]) -> float | None:
    """Dollars of (trials, dollars of one); None where any is unknown, or there is none."""
    known = list(parts)
    if not known or any(usd is None for _, usd in known):
        return None
    return sum(trials * (usd or 0.0) for trials, usd in known)


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
