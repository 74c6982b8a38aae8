"""The run itself on one screen: trials -> rows -> tables. Every effect is handed in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from gate.archive import SessionWriter
from gate.columns import Columns
from gate.errors import InfraFailure
from gate.executors import run_threads
from gate.grading import failed_values, grade_attempt
from gate.plugins import Agent, Grader, World
from gate.prepare import SuitePlan
from gate.pricing import trial_cost
from gate.records import Budget, Case, Json, Price, Response, Trial
from gate.rows import row_of
from gate.runner import Allowance, Clock, TrialWorker, tasks
from gate.stop import Stop
from gate.tally import Tally

Row = Mapping[str, Json]
Recorder = Callable[[Case, int, Response | Exception, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a run may touch."""

    world: World
    session: SessionWriter
    stop: Stop
    progress: Callable[[Row], None]
    clock: Clock = field(default_factory=Clock)
    record: Recorder | None = None
    idle: Callable[[], None] = lambda: None  # called while the agent thinks


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What the trials of all suites came to; `ended_early` says why some were not made."""

    columns: Mapping[str, Columns]
    tallies: Mapping[str, Tally]
    ended_early: str = ""


def health(agent: Agent, world: World) -> str:
    """Why the agent cannot be asked; empty when it can."""
    try:
        agent.check(world)
    except InfraFailure as failure:
        return str(failure)
    return ""


def measure(
    plans: Sequence[SuitePlan],
    agent: Agent | None,
    effects: Effects,
    *,
    budget: Budget,
    prices: Mapping[str, Price],
) -> Collected:
    """Runs every trial that is not in the session yet; each is on disk before the next is taken.

    Without an agent (it cannot be reached) what the session has already is collected, no more.
    """
    collected = Collected(
        columns={plan.suite.name: Columns(plan.suite.name) for plan in plans},
        tallies={plan.suite.name: Tally() for plan in plans},
    )
    unanswered = _collect_stored(effects.session, collected)
    allowance = Allowance(usd=budget.usd, calls=budget.calls, minutes=budget.minutes)
    for tally in collected.tallies.values():  # a resumed session has spent some of it
        allowance.spent_before(calls=tally.calls, usd=tally.usd)
    graders = {plan.suite.name: plan.graders for plan in plans}
    with effects.stop.deferred():
        for trial in _trials(plans, agent, effects, allowance) if agent else ():
            row = _row(trial, graders[trial.suite], prices)
            effects.session.append(row)
            allowance.finished(tries=len(trial.attempts), cost_usd=row["cost_usd"])
            _collect(collected, row)
            unanswered.pop(_key(row), None)
            effects.progress(row)
    for row in unanswered.values():
        _collect(collected, row)
    if effects.stop.requested():
        raise effects.stop.error(
            f"interrupted; the session is saved: go on with "
            f"`gate run --resume {effects.session.folder}`"
        )
    return Collected(
        columns=collected.columns, tallies=collected.tallies, ended_early=allowance.used_up
    )


def _row(trial: Trial, graders: Mapping[str, Grader], prices: Mapping[str, Price]) -> Row:
    failed = trial.attempt.status == "agent_error"
    values = failed_values(graders, trial.case) if failed else {}
    return row_of(trial, cost_usd=trial_cost(trial, prices), on_agent_error=values)


def _collect_stored(
    session: SessionWriter, collected: Collected
) -> dict[tuple[str, str, int], Row]:
    """What the session has already; returns what nobody answered: it is asked again."""
    unanswered = {}
    for row in session.rows():
        if row["status"] == "infra_error":
            unanswered[_key(row)] = row
        else:
            _collect(collected, row)
    return unanswered


def _trials(
    plans: Sequence[SuitePlan], agent: Agent, effects: Effects, allowance: Allowance
) -> Iterator[Trial]:
    done = frozenset(effects.session.done())
    todo = tasks(
        [plan.task_source() for plan in plans],
        lambda suite, case_id, number: (suite, case_id, number) in done,
    )
    make_worker = partial(
        TrialWorker, agent, effects.world, grade_attempt, clock=effects.clock, record=effects.record
    )
    return run_threads(
        allowance.limit(todo),
        make_worker,
        concurrency=agent.concurrency,
        per_minute=agent.requests_per_minute,
        stopped=effects.stop.requested,
        idle=effects.idle,
    )


def _key(row: Row) -> tuple[str, str, int]:
    return row["suite"], row["case_id"], row["round"]


def _collect(collected: Collected, row: Row) -> None:
    collected.columns[row["suite"]].add(row)
    collected.tallies[row["suite"]].add(row)
