"""The run itself on one screen: trials -> rows -> tables. Every effect is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol

from gate.agents.under_test import make_slots
from gate.analysis.columns import TrialColumns
from gate.analysis.tally import Tally
from gate.errors import InfrastructureError
from gate.plugins import Agent, AgentTraits, Ask, World, read_traits
from gate.records import Budget, Case, Comparison, Price, Response, Trial, TrialRow
from gate.run.arms import Arm, ArmResults, Arms, PairedWorker
from gate.run.batches import case_order, deal_batch, deal_rounds, interleave
from gate.run.budget import Allowance, refuse_unknown_cost
from gate.run.grade import ask_nobody, grade_attempt
from gate.run.kept_answers import open_kept_answers
from gate.run.prepare import SuitePlan
from gate.run.row_of_trial import row_of_trial
from gate.run.trial_worker import Task, TrialWorker, Unmade
from gate.store.session import SessionWriter
from gate.system.clock import Clock
from gate.system.executors import Pool, Threads, Worker, run_tasks
from gate.system.shortage import shortage
from gate.system.signals import Stop
from gate.system.slots import Slots
from gate.text.figures import count
from gate.user_code.hashes import Sources
from gate.verdict.course import Course

Recorder = Callable[[Case, int, Response | Exception, float], None]
_ALL_ROUNDS = Course()
_FEELERS, _BUSY = 2, 100  # trials: to tell what one costs; to wait for no pause any more


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """The effects that a run may have."""

    world: World
    session: SessionWriter
    stop: Stop
    progress: Callable[[TrialRow], None]
    control: SessionWriter | None = None  # where the control agent's answers go
    beside: Callable[[TrialRow], None] = lambda row: None  # told of each of them
    clock: Clock = field(default_factory=Clock)
    record: Recorder | None = None
    scrub: Callable[[Response], Response] = lambda response: response  # takes secrets out
    idle: Callable[[], None] = lambda: None  # called while the agent thinks, or soon anyway
    looked: Callable[[Course, Sequence[Comparison]], None] = lambda course, rows: None
    ask: Ask = ask_nobody  # a judge or verifier
    judge_model: str = ""  # named where nobody knows what its vote cost
    sources: Callable[[], Sources] = dict  # what judging code was loaded from so far
    broken: Callable[[], str] = lambda: ""  # why user code cannot be run any more
    beyond: int = 0  # answers that may wait for a judge while as many others are being made
    slots: Slots | None = None  # of the agents; None: they are made
    pool: Pool[Task, Trial | Unmade] | None = None  # who makes the trials; None: threads


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The results of the trials of all suites; `ended_early` says why some trials were not made."""

    columns: Mapping[str, TrialColumns]
    tallies: Mapping[str, Tally]
    ended_early: str = ""
    course: Course = _ALL_ROUNDS
    control: ArmResults | None = None  # of the control agent, where one is asked
    control_unreachable: str = ""  # what its health check said
    notes: tuple[str, ...] = ()  # for the report
    # Suite -> why -> cases that were lost with a part of the run.
    lost: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)


class Look(Protocol):
    """The result of a look: the suites that need more trials, or why none does; whether the run is
    over even if somebody asked for more; and what was compared.
    """

    @property
    def suites(self) -> frozenset[str]: ...

    @property
    def why(self) -> str: ...

    @property
    def over(self) -> bool: ...

    @property
    def rows(self) -> Sequence[Comparison]: ...


def _nobody(collected: Collected) -> Look:
    raise ValueError("suites with looks need somebody who looks")


def measure(
    plans: Sequence[SuitePlan],
    agent: Agent | None,
    effects: Effects,
    *,
    budget: Budget,
    prices: Mapping[str, Price],
    control: Agent | None = None,
    course: Course = _ALL_ROUNDS,
    undecided: Callable[[Collected], Look] = _nobody,
    joined: bool = False,
) -> Collected:
    """Makes the trials that are not in the session yet; each one is on disk before the next is
    taken.

    Suites with looks go batch by batch along the `course`; after each batch `undecided` says which
    of them need more. The others make all their rounds. Without an `agent` (it cannot be reached),
    only the trials of the session are collected; if they were `joined`, they are a batch that is
    looked at. A `control` is asked each trial, too, and needs `effects.control`.
    """
    run = _Run(plans, effects, budget, prices, course, undecided)
    with effects.stop.defer():
        try:
            for number, trial in enumerate(run.trials(agent, control) if agent else ()):
                run.take(trial)
                if number == _BUSY:
                    effects.idle()
        except Exception as error:
            _tell_shortage(error, effects.session.folder)
            raise
    run.give_up_unanswered()
    if joined:
        run.look()
    if effects.stop.is_requested():
        raise effects.stop.error(
            "interrupted; the session is saved: continue with the same options and `gate "
            f"run --resume {effects.session.folder}`"
        )
    return run.collected()


def _tell_shortage(error: Exception, folder: Path) -> None:
    """Raises InfrastructureError with the way on where the machine is short of something."""
    if (short := shortage(error)) is not None:
        raise InfrastructureError(
            f"{short}; finished trials are kept: continue with `gate run --resume {folder}`"
        ) from error


def _trials_of(plan: SuitePlan, most: bool) -> int:
    """That are planned; `most`: to which looks may add."""
    return plan.looks.cap if most and plan.looks else plan.planned


class _Run:
    """What has been collected so far, and where on its course the run is."""

    def __init__(
        self,
        plans: Sequence[SuitePlan],
        effects: Effects,
        budget: Budget,
        prices: Mapping[str, Price],
        course: Course,
        undecided: Callable[[Collected], Look],
    ) -> None:
        self._plans = {plan.name: plan for plan in plans}
        self._effects, self._prices = effects, prices
        self._counts_money = budget.usd is not None
        self._unmade = 0  # trials that a recording has no answer for
        self._course, self._undecided = course, undecided
        self._arms = Arms(
            Arm(effects.session, self._plans),
            Arm(effects.control, self._plans) if effects.control else None,
            alone={name: plan.new_cases for name, plan in self._plans.items()},
        )
        self._allowance = Allowance(usd=budget.usd, calls=budget.calls, minutes=budget.minutes)
        for arm in self._arms:  # a resumed session has spent some of it
            for tally in arm.tallies.values():
                usd = tally.usd + tally.judge_usd
                self._allowance.spent_before(calls=tally.calls, usd=usd)

    def trials(self, agent: Agent, control: Agent | None) -> Iterator[Trial | Unmade]:
        """Two agents share the workers, at the pace of the slower one."""
        agents = [agent] if control is None else [agent, control]
        if all(read_traits(AgentTraits, a).plays_back for a in agents):
            self._counts_money = False  # what was recorded is paid for
        paces = [a.requests_per_minute for a in agents if a.requests_per_minute]
        at_once = min(a.concurrency for a in agents) + self._effects.beyond
        slots = self._effects.slots or make_slots(agents)
        make = partial(self._worker, agent, control, slots)
        return run_tasks(
            map(self._allowance.limit, map(self._arms.side_by_side, self._batches())),
            self._effects.pool or Threads(make, at_once),
            per_minute=min(paces, default=None),
            stopped=self._is_over,
            idle=self._effects.idle,
        )

    def _worker(
        self, agent: Agent, control: Agent | None, slots: Slots
    ) -> Worker[Task, Trial | Unmade]:
        """What is recorded for a replay are the agent's answers."""
        effects = self._effects

        def make(agent: Agent, arm: SessionWriter) -> TrialWorker:
            slot = slots.slot("control" if arm is effects.control else "")
            return TrialWorker(
                agent,
                replace(effects.world, hear=slot.hear),
                partial(grade_attempt, ask=effects.ask),
                clock=effects.clock,
                record=effects.record if arm is effects.session else None,
                scrub=effects.scrub,
                slot=slot,
                answers=open_kept_answers(arm.log),
            )

        asking = make(agent, effects.session)
        if control is None or effects.control is None:
            return asking
        return PairedWorker(asking, make(control, effects.control))

    def take(self, trial: Trial | Unmade) -> None:
        """One trial more; it is on disk first."""
        if isinstance(trial, Unmade):
            self._unmade += 1
            return
        plan = self._plans[trial.suite]
        row = row_of_trial(trial, plan.graders, plan.specs, self._prices, plan.expected_keys)
        self._effects.session.note_sources(self._effects.sources())
        self._arms.of(trial).take(row)
        judged = (row.get("judging") or {}).get("usd", 0.0)
        cost = (row["cost_usd"] or 0.0) + judged
        self._allowance.finished(tries=len(trial.attempts), cost_usd=cost)
        tell = self._effects.beside if trial.control else self._effects.progress
        tell(row)
        if self._counts_money:
            refuse_unknown_cost(row, self._effects.session.folder, self._effects.judge_model)

    def give_up_unanswered(self) -> None:
        for arm in self._arms:
            arm.give_up_unanswered()

    def collected(self) -> Collected:
        candidate, control = self._arms.candidate, self._arms.control
        return Collected(
            columns=candidate.columns,
            tallies=candidate.tallies,
            ended_early=self._end_of_budget() or self._end_of_recording(),
            course=self._course,
            control=control.answers() if control else None,
        )

    def _end_of_budget(self) -> str:
        if not self._allowance.used_up:
            return ""
        plans = self._plans.values()
        made = sum(tally.trials for arm in self._arms for tally in arm.tallies.values())
        planned, cap = (sum(_trials_of(p, most) for p in plans) for most in (False, True))
        if self._effects.control is not None:
            alone = sum(len(p.new_cases) * len(p.task_source().numbers) for p in plans)
            planned, cap = 2 * planned - alone, 2 * cap - alone
        of = count(planned if made <= planned else cap, "call")
        return f"{self._allowance.used_up} was used up after {made:,} of {of}"

    def _end_of_recording(self) -> str:
        if not self._unmade:
            return ""
        trials_made = sum(tally.trials for tally in self._arms.candidate.tallies.values())
        missing = f"{self._unmade:,} were not recorded"
        return f"the recording has only {count(trials_made, 'trial')}, {missing}"

    def _batches(self) -> Iterator[Iterator[Task]]:
        """Each batch is asked for once everything of the one before it was taken."""
        done = self._arms.done
        orders = {
            name: case_order(self._plans[name].chosen, suite=name, seed=self._course.seed)
            for name in self._course.plans
        }

        def tasks(name: str, trials: range) -> Iterator[Task]:
            return deal_batch(self._plans[name].task_source(), orders[name], trials, done)

        fixed = [plan.task_source() for name, plan in self._plans.items() if name not in orders]
        # What a resumed session lacks of its earlier batches comes with the first one.
        first = [tasks(name, range(self._course.trials(name).stop)) for name in orders]
        planned = interleave([deal_rounds(fixed, done), *first])
        if self._allowance.blind:  # as many as run at once could spend more than there is
            yield islice(planned, _FEELERS)
        yield planned
        while self._course.going and self._may_go_on():
            self.look()
            yield interleave([tasks(name, self._course.trials(name)) for name in self._goers()])

    def look(self) -> None:
        """Asks which suites need more trials. Nothing without suites that wait for a look."""
        if not self._course.going:
            return
        self.give_up_unanswered()
        result = self._undecided(self.collected())
        self._course = self._course.after(result.suites, result.why, over=result.over)
        self._effects.session.log.append_look(self._course.state())
        self._effects.looked(self._course, result.rows)

    def _goers(self) -> list[str]:
        """In the order of gate.yml."""
        return [name for name in self._plans if name in self._course.going]

    def _may_go_on(self) -> bool:
        return not (self._is_over() or self._allowance.used_up or self._unmade)

    def _is_over(self) -> bool:
        return self._effects.stop.is_requested() or bool(self._effects.broken())
