"""`gate plan`: what a run could detect and what it costs, before anything is spent."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from gate.agents.pricing import model_of
from gate.analysis.default_gates import format_default_gates
from gate.analysis.pairing import too_few_left
from gate.analysis.table import Table
from gate.commands.options.records import (
    find_stored,
    host_of,
    own_config,
    page_width,
    results_folder,
    run_options,
)
from gate.errors import UsageError
from gate.records import BaselineInfo, Config, Price
from gate.records.codec import to_json
from gate.report.wording.blocks import markdown_of, text_of
from gate.report.wording.planning import blocks
from gate.run.control_agent import Control
from gate.run.cost_estimate import (
    BASELINE,
    TrialCost,
    agent_price,
    estimate_trial_cost,
    is_other_model,
    tell_changed_price,
    tell_list_prices,
    tell_session,
    usd_of_judge,
)
from gate.run.options import RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup, set_up
from gate.store.baseline.find import Compared
from gate.store.measurements import Stored, StoredSuite, find_newest_suites, load
from gate.text import figures
from gate.text.figures import count
from gate.text.suggestions import did_you_mean
from gate.verdict.planning.plan import PlannedSuite, plan, price_per_call, suite_from_baseline

WIDTH = 100
ROUNDS = 3  # of a suite that gate.yml does not know; a baseline file has those of many runs
NONE_WANTED = Compared(info=BaselineInfo(source="none", detail="none was wanted"))


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the plan and returns 0. Raises UsageError if a file cannot be read. No agent is
    asked.
    """
    if options.session:
        config, subjects = _read_session(options, env)
        plan_made = plan(subjects, config)
    else:
        setup = set_up(_options_of_planned_run(options), host_of(options, env), control=Control())
        config = setup.place.config
        newest = find_newest_suites(results_folder(), datetime.now(UTC))
        subjects = [_subject(setup, suite_plan, newest) for suite_plan in setup.plans]
        plan_made = plan(subjects, config, tuple(dict.fromkeys(config.warnings)))
    if options.format == "json":
        print(json.dumps(to_json(plan_made), indent=2))
    elif options.format == "github":
        print(markdown_of(blocks(plan_made)))
    else:
        print(text_of(blocks(plan_made), width=page_width(WIDTH)))
    return 0


def _options_of_planned_run(options: argparse.Namespace) -> RunOptions:
    """The run that is planned: for gate.yml as it stands here."""
    return replace(run_options(options), own_rules=True)


def _subject(
    setup: Setup, suite_plan: SuitePlan, newest: Mapping[str, StoredSuite]
) -> PlannedSuite:
    baseline = setup.baselines.get(suite_plan.name, NONE_WANTED)
    config = setup.place.config
    table, left_out = baseline.table, config.quarantined
    now = {case.id: case.digest for case in suite_plan.cases() if case.id not in left_out}
    notes: tuple[str, ...] = ()
    if table is not None:
        asked_table = table.without(left_out | (suite_plan.all_ids - suite_plan.chosen))
        table, notes = _match_cases(asked_table, now)
    cost = estimate_trial_cost(setup, suite_plan, table, newest)
    model, price = agent_price(config)
    models = [model, *([model_of(config.judge)] if cost.judge is not None else [])]
    listed = tell_list_prices(models, config.pricing) if cost.agent is not None else ()
    return PlannedSuite(
        name=suite_plan.name,
        cases=len(now),
        rounds=suite_plan.suite.rounds,
        specs=suite_plan.specs,
        table=table,
        baseline=baseline.info,
        gates=suite_plan.suite.gates,
        graders=suite_plan.grader_digests,
        drift=baseline.drift,
        batch=setup.agent.concurrency,
        notes=(
            *notes,
            *format_default_gates(suite_plan.suite),
            *_tell_agent_cost(cost, model, price),
            *_tell_judge_calls(cost, len(now), suite_plan.suite.rounds),
            *listed,
        ),
        price=price,
        other_model=bool(cost.other_agent),
        priced_by=cost.table,
        judge_usd=cost.judge,
    )


def _tell_agent_cost(cost: TrialCost, model: str, price: Price | None) -> Iterator[str]:
    """Where the cost comes from, if not from the baseline as it was stored."""
    if changed := tell_changed_price(cost, model, price):
        yield changed
    elif cost.agent is not None and cost.told_by != BASELINE:
        yield f"the cost: {figures.money(cost.agent)} a call, as in {cost.told_by}"


def _tell_judge_calls(cost: TrialCost, cases: int, rounds: int) -> Iterator[str]:
    """Whether the judge is in the cost: a baseline does not have what its calls cost."""
    if not cost.votes:
        return
    if cost.judge is not None:
        told = f"{figures.money(cost.judge)} a trial, as in {cost.judge_told_by}"
        if cost.total is not None:
            yield f"the cost includes the judge's: {told}"
        else:
            yield f"the judge's calls cost {told}; the whole cost is unknown, as the agent's is"
        return
    most = f"{cases * rounds * cost.votes:,} in {rounds} rounds"
    yield (
        f"the judge's calls come on top, up to {most}, and are not included in the cost: no "
        "session here knows what they cost"
    )


def _match_cases(table: Table, now: Mapping[str, str]) -> tuple[Table | None, tuple[str, ...]]:
    """The baseline of the cases as they are `now` (id -> hash), and what is to be told. The table
    is without cases that are not asked.
    """
    digests = zip(table.cases, table.digests, strict=True)
    rows = [row for row, (case, digest) in enumerate(digests) if now.get(case) == digest]
    if too_few_left(len(rows), len(table.cases)):
        few = f"only {len(rows)} of the {len(now)} cases are in the baseline as they are now"
        return None, (f"{few}, too few to compare",)
    gone = len(table.cases) - len(rows)
    if not gone:
        return table.select(rows), ()
    verb = "was" if gone == 1 else "were"
    note = f"{count(gone, 'case')} of the baseline {verb} removed or changed since then"
    return table.select(rows), (note,)


# ------------------------------------------------------------------------------ a stored session


def _read_session(
    options: argparse.Namespace, env: Mapping[str, str]
) -> tuple[Config, list[PlannedSuite]]:
    """A session's rounds as the baseline; its suites need no dataset here."""
    for name in ("baseline", "sample"):
        if getattr(options, name) is not None:
            raise UsageError(f"gate plan SESSION: uses the session's own cases; leave out --{name}")
    now = datetime.now(UTC)
    stored = load(find_stored(options.session), now)
    config, _ = own_config(options, env)
    if stored.provenance.event == "import" and not _is_run_by_config(stored, config):
        config = replace(config, regression=replace(config.regression, stop="off"))
    return config, list(_stored_subjects(stored, config, options))


def _is_run_by_config(stored: Stored, config: Config) -> bool:
    """Whether a run of gate.yml has one of the suites. Another tool's rounds are made beforehand:
    no look ends them early.
    """
    return any(suite.name in stored.suites for suite in config.suites)


def _stored_subjects(
    stored: Stored, config: Config, options: argparse.Namespace
) -> Iterator[PlannedSuite]:
    names = [name for name in options.suite or stored.suites if name != "all"] or stored.suites
    for name in names:
        if name not in stored.suites:
            hint = did_you_mean(name, tuple(stored.suites))
            raise UsageError(f"--suite {name}: not in {stored.name}{hint}")
        rules = config.find_suite(name)
        stored_suite = stored.suites[name]
        default_rounds = (
            stored_suite.meta.rounds if stored.session else min(ROUNDS, stored_suite.meta.rounds)
        )
        rounds = options.rounds or (rules.rounds if rules else default_rounds)
        subject = suite_from_baseline(name, stored_suite, rules, config, rounds)
        yield _with_cost(subject, stored, stored_suite, config)


def _with_cost(
    subject: PlannedSuite, stored: Stored, suite: StoredSuite, config: Config
) -> PlannedSuite:
    """With what a trial costs today; an import says nothing of the model that gate.yml names."""
    model, price = agent_price(config)
    asked = "" if stored.provenance.event == "import" else suite.facts.get("agent", "")
    other, judge_usd = is_other_model(asked, model), usd_of_judge(suite.tally)
    priced = replace(subject, price=price, other_model=other, judge_usd=judge_usd)
    cost = TrialCost(
        agent=price_per_call(subject.table, price, other_model=other),
        told_by=tell_session(suite) if stored.session else BASELINE,
        stored=price_per_call(subject.table),
        other_agent=asked if other else "",
    )
    notes = [changed] if (changed := tell_changed_price(cost, model, price)) else []
    if priced.usd_per_call is not None:
        models = [
            model,
            *([model_of(config.judge)] if judge_usd else []),
            *sorted(suite.tally.listed),
        ]
        notes += tell_list_prices(models, config.pricing)
    return replace(priced, notes=(*priced.notes, *notes))
