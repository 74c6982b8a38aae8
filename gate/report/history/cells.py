"""The figures of a history as they are shown, whatever the format; hostile until it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gate.records.history import LevelChange, PastRun, SuiteHistory
from gate.report.wording.patterns import stored_mode
from gate.store.history import COST, EFFICIENCY, STEPS, SUCCESS, Followed
from gate.text import figures
from gate.text.escaping import one_line

UNKNOWN = "-"
NOTHING = "none"
COLUMNS = (
    "Date (UTC)",
    "Commit",
    "Success Rate",
    "Avg Steps",
    "Avg Cost",
    "Top Failure Mode",
    "Cases x Rounds",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One of the three numbers that stand on top, over the runs that are shown."""

    title: str
    metric: Followed
    of: Callable[[PastRun], float | None]

    def values(self, suite: SuiteHistory) -> tuple[float | None, ...]:
        return tuple(self.of(run) for run in suite.runs)

    def newest(self, suite: SuiteHistory) -> str:
        return shown(self.of(suite.runs[-1]), self.metric) if suite.runs else UNKNOWN


HEADLINES = (
    Headline(title="Success rate", metric=SUCCESS, of=lambda run: run.success_rate),
    Headline(title="Trajectory efficiency", metric=EFFICIENCY, of=lambda run: run.efficiency),
    Headline(title="Cost per task", metric=COST, of=lambda run: run.cost_per_task),
)
TITLES = {
    **{one.metric.name: one.title for one in HEADLINES},
    STEPS.name: "Steps per task",
}


def row(run: PastRun) -> tuple[str, ...]:
    """The cells of COLUMNS."""
    return (
        date(run.created_at),
        commit(run.commit),
        shown(run.success_rate, SUCCESS),
        shown(run.avg_steps, STEPS),
        shown(run.cost_per_task, COST),
        failure(run),
        size(run),
    )


def shown(value: float | None, metric: Followed) -> str:
    if value is None:
        return UNKNOWN
    return figures.value(value, "share" if metric.share else metric.unit)


def date(created_at: str) -> str:
    """With the year; `2026-11-21 03:17`."""
    try:
        moment = datetime.fromisoformat(created_at)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):  # no moment, or one at an end of time
        return one_line(created_at, 20) or UNKNOWN
    return f"{moment:%Y-%m-%d %H:%M}"


def commit(sha: str | None) -> str:
    return one_line(sha or "", 40)[:7] or UNKNOWN


def failure(run: PastRun) -> str:
    """`hallucinated data (12 cases)`, `none`, or unknown."""
    if run.modes is None:
        return UNKNOWN
    if run.top_mode is None:
        return NOTHING
    return stored_mode(run.top_mode, run.top_mode_cases)


def size(run: PastRun) -> str:
    """`200 x 3`, or `55 x 3, 16 made` where that is not how many trials there were."""
    cases, rounds = (UNKNOWN if n is None else f"{n:,}" for n in (run.cases, run.rounds))
    whole = run.cases * run.rounds if run.cases and run.rounds else run.trials
    made = f", {run.trials:,} made" if run.trials is not None and run.trials != whole else ""
    return f"{cases} x {rounds}{made}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """All that changed between the same two runs."""

    between: str
    moved: tuple[str, ...]
    why: tuple[str, ...]  # what is known of it
    worse: bool  # in one metric at least
    first: str  # session of the new level


def turns(suite: SuiteHistory) -> tuple[Turn, ...]:
    """Oldest first."""
    together: dict[tuple[str, str], list[LevelChange]] = {}
    for found in suite.changes:
        ends = (found.last.session_id, found.first.session_id)
        together.setdefault(ends, []).append(found)
    return tuple(_turn(changes) for changes in together.values())


def _turn(changes: Sequence[LevelChange]) -> Turn:
    one = changes[0]
    consents = dict.fromkeys(consent for change in changes for consent in change.accepted)
    return Turn(
        between=f"Between {_run(one.last)} and {_run(one.first)}",
        moved=tuple(_moved(change) for change in changes),
        why=(_differs(one), *(f"Accepted {one_line(consent, 300)}" for consent in consents)),
        worse=any((c.after < c.before) == (c.direction == "higher") for c in changes),
        first=one.first.session_id,
    )


def _moved(found: LevelChange) -> str:
    """`success rate fell from 95.1 % to 70.3 % (5 runs before, 3 after, p = 0.0004)`."""
    metric = Followed(name=found.metric, unit=found.unit, direction=found.direction)
    verb = "fell" if found.after < found.before else "rose"
    levels = f"from {shown(found.before, metric)} to {shown(found.after, metric)}"
    runs = f"{figures.count(found.runs_before, 'run')} before, {found.runs_after:,} after"
    return f"{TITLES[found.metric].lower()} {verb} {levels} ({runs}, {figures.p_value(found.p)})"


def _differs(found: LevelChange) -> str:
    if found.differs:
        return f"What differed: {', '.join(one_line(told, 200) for told in found.differs)}"
    if found.last.commit != found.first.commit:
        return "What differed: the commit alone"
    return "Nothing that is recorded differed"


def _run(run: PastRun) -> str:
    return f"{date(run.created_at)} ({commit(run.commit)})"


def sizes(suites: Sequence[SuiteHistory]) -> str:
    """`5 runs of 1 suite`."""
    runs = figures.count(sum(len(suite.runs) for suite in suites), "run")
    return f"{runs} of {figures.count(len(suites), 'suite')}"
