"""What `gate history` tells: a row a run, every metric over the runs, where the level of a metric
changed, and how often each case passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gate.records.report import AcceptedStart
from gate.records.verdict import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run of one suite; None is unknown."""

    session_id: str
    created_at: str  # ISO 8601, UTC
    commit: str | None
    cases: int | None
    rounds: int | None
    success_rate: float | None
    efficiency: float | None  # actual over optimal steps, of what succeeded
    avg_steps: float | None
    cost_per_task: float | None  # USD
    modes: Mapping[str, int] | None  # failure mode -> cases; empty: nothing failed
    top_mode: str | None = None  # most cases, then most trials, then the more serious
    top_mode_cases: int = 0
    trials: int | None = None  # that were made
    commit_url: str = ""  # empty: the repository is not known
    run_id: str | None = None  # of GitHub


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """Between two runs a metric went to another level. `before`, `after`: means of the levels."""

    metric: str
    unit: str
    direction: Direction
    before: float
    after: float
    runs_before: int
    runs_after: int
    last: PastRun  # of the old level
    first: PastRun  # of the new level
    p: float
    differs: tuple[str, ...] = ()  # how the first was made unlike the last: "agent: a -> b"
    accepted: tuple[str, ...] = ()  # who accepted a change between the two, when and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One metric over the runs of a suite, a value a run in their order; None is unknown. `lows`
    and `highs` bound the values where intervals are stored. `anchor`: the level that main is held
    against, and its name.
    """

    metric: str
    unit: str
    direction: Direction
    leads: bool  # it blocks, or the table has it
    values: tuple[float | None, ...]
    lows: tuple[float | None, ...] = ()
    highs: tuple[float | None, ...] = ()
    anchor: float | None = None
    anchor_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCourse:
    """One case over the newest runs: rounds that passed and rounds that were judged, a pair a run;
    None where it was not run.
    """

    case_id: str  # hostile text
    rounds: tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCourses:
    """The cases that ever failed, the worst first, over the newest `runs` runs."""

    runs: int
    cases: tuple[CaseCourse, ...]
    steady: int  # cases that never failed, which are not listed
    left_out: int = 0  # cases that failed, beyond the most that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHistory:
    suite: str
    source: str  # where the runs were found
    runs: tuple[PastRun, ...]  # oldest first
    changes: tuple[LevelChange, ...] = ()
    older: int = 0  # runs that were not asked for
    notes: tuple[str, ...] = ()
    courses: tuple[Course, ...] = ()
    starts: tuple[AcceptedStart, ...] = ()
    cases: CaseCourses | None = None  # None: not asked for, or not stored


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Its JSON form is what `gate history --format json` prints."""

    suites: tuple[SuiteHistory, ...]
    alpha: float  # chance that a suite in which nothing changed has a change named
    notes: tuple[str, ...] = ()
    schema_version: int = 1
