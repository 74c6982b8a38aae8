"""The figures of a history as they are shown, whatever the format; hostile until it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gate.records.history import LevelChange, PastRun, SuiteHistory
from gate.report.wording.patterns import format_stored_mode
from gate.store.history import COST, EFFICIENCY, STEPS, SUCCESS, Followed
from gate.text import figures
from gate.text.shortening import shorten

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
        return format_value(self.of(suite.runs[-1]), self.metric) if suite.runs else UNKNOWN


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
        format_value(run.success_rate, SUCCESS),
        format_value(run.avg_steps, STEPS),
        format_value(run.cost_per_task, COST),
        failure(run),
        size(run),
    )


def format_value(value: float | None, metric: Followed) -> str:
    if value is None:
        return UNKNOWN
    return figures.value(value, "share" if metric.share else metric.unit)


def date(created_at: str) -> str:
    """The moment with the year, `2026-11-21 03:17`."""
    try:
        moment = datetime.fromisoformat(created_at)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):  # no moment, or one at an end of time
        return shorten(created_at, 20) or UNKNOWN
    return f"{moment:%Y-%m-%d %H:%M}"


def commit(sha: str | None) -> str:
    return shorten(sha or "", 40)[:7] or UNKNOWN


def failure(run: PastRun) -> str:
    """`hallucinated data (12 cases)`, `none`, or unknown."""
    if run.modes is None:
        return UNKNOWN
    if run.top_mode is None:
        return NOTHING
    return format_stored_mode(run.top_mode, run.top_mode_cases)


def size(run: PastRun) -> str:
    """`200 x 3`, or `55 x 3, 16 made` where that is not how many trials there were."""
    cases, rounds = (UNKNOWN if n is None else f"{n:,}" for n in (run.cases, run.rounds))
    planned = run.cases * run.rounds if run.cases and run.rounds else run.trials
    trials = f", {run.trials:,} made" if run.trials is not None and run.trials != planned else ""
    return f"{cases} x {rounds}{trials}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTurn:
    """All that changed between the same two runs."""

    between: str
    moved: tuple[str, ...]
    why: tuple[str, ...]  # what is known of it
    worse: bool  # in one metric at least
    first: str  # session of the new level


def list_turns(suite: SuiteHistory) -> tuple[HistoryTurn, ...]:
    """Oldest first."""
    together: dict[tuple[str, str], list[LevelChange]] = {}
    for change in suite.changes:
        ends = (change.last.session_id, change.first.session_id)
        together.setdefault(ends, []).append(change)
    return tuple(_turn(changes) for changes in together.values())


def _turn(changes: Sequence[LevelChange]) -> HistoryTurn:
    first = changes[0]
    consents = dict.fromkeys(consent for change in changes for consent in change.accepted)
    return HistoryTurn(
        between=f"Between {_run(first.last)} and {_run(first.first)}",
        moved=tuple(_format_move(change) for change in changes),
        why=(_differs(first), *(f"Accepted {shorten(consent, 300)}" for consent in consents)),
        worse=any((c.after < c.before) == (c.direction == "higher") for c in changes),
        first=first.first.session_id,
    )


def _format_move(change: LevelChange) -> str:
    """`success rate fell from 95.1 % to 70.3 % (5 runs before, 3 after, p = 0.0004)`."""
    metric = Followed(name=change.metric, unit=change.unit, direction=change.direction)
    verb = "fell" if change.after < change.before else "rose"
    levels = f"from {format_value(change.before, metric)} to {format_value(change.after, metric)}"
    runs = f"{figures.count(change.runs_before, 'run')} before, {change.runs_after:,} after"
    return f"{TITLES[change.metric].lower()} {verb} {levels} ({runs}, {figures.p_value(change.p)})"


def _differs(change: LevelChange) -> str:
    if change.differs:
        return f"What differed: {', '.join(shorten(setting, 200) for setting in change.differs)}"
    if change.last.commit != change.first.commit:
        return "What differed: only the commit"
    return "No recorded setting differed"


def _run(run: PastRun) -> str:
    return f"{date(run.created_at)} ({commit(run.commit)})"


def sizes(suites: Sequence[SuiteHistory]) -> str:
    """`5 runs of 1 suite`."""
    runs = figures.count(sum(len(suite.runs) for suite in suites), "run")
    return f"{runs} of {figures.count(len(suites), 'suite')}"
