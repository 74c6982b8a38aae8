"""What a suite could see, and what it would take to see more: the records of `gate plan`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gate.records.report import BaselineInfo
from gate.records.settings import Rule
from gate.records.verdict import Direction, NoiseOdds

RISKY = 0.05  # noise alone misses a limit more often than this: it is told with a way out
Kind = Literal["baseline", "metrics", "rounds", "cases"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """Agent calls of one run and their price; None is unknown, or no number is enough."""

    calls: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What it takes to catch one change for the worse, a size on the scale of `MetricOutlook.mde`.

    `cases` of them with the rounds of the plan, or `max_rounds` with its cases; None: no number is
    enough. The calls are those of `cases`.
    """

    change: float
    seen: bool  # by the plan as it is
    caught: float  # how often, with `cases`: about half where the change is no more than tolerated
    cases: int | None
    max_rounds: int | None
    at_most: Bill
    unchanged: Bill  # on average, when nothing changed
    changed: Bill  # on average, when it got worse by `change`
    fixed: Bill  # always, if the run were looked at only once
    floor_unchanged: int  # Wald's bound, against an endless baseline
    floor_changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOutlook:
    """One blocking metric. Changes are relative where `relative`, else in the metric's unit."""

    metric: str
    unit: str
    direction: Direction
    relative: bool
    value: float | None  # the baseline's
    cases: int  # that measure it
    tolerance: float
    sd: float | None = None  # how much one call varies around its case
    variance: float | None = None  # its square
    between: float | None = None  # share of all variance that is between cases: pairing cancels it
    guess: str = ""  # why sd is only a guess; empty: measured
    mde: float | None = None  # smallest change that the plan catches; None: none, `reason` why
    mde_fixed: float | None = None  # with the planned rounds, looked at once
    targets: tuple[Target, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOutlook:
    """One blocking limit, and how often an agent like main's would miss it by noise alone."""

    metric: str
    unit: str
    min: float | None
    max: float | None
    rule: Rule
    odds: NoiseOdds
    safer: float | None = None  # instead of `min` or `max`: noise alone misses it in 5 % of runs

    @property
    def risky(self) -> bool:
        return self.odds.chance is not None and self.odds.chance > RISKY


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing to do, and the smallest change that the suite's first metric then catches."""

    kind: Kind
    value: int  # rounds of the baseline, blocking metrics, rounds or cases to have
    mde: float | None
    calls: Bill  # of one run, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOutlook:
    suite: str
    cases: int
    unstored: int  # cases among them that the baseline does not have
    rounds: int
    max_rounds: int  # = rounds where a run never stops early
    looks: int
    fresh: bool  # the baseline's agent is asked in the same run: every call counts twice
    baseline: BaselineInfo
    rounds_b: float  # rounds a case has in the baseline, on average
    keep_rounds: int  # that a baseline keeps at most, by gate.yml
    assumed: bool  # there is no baseline: rounds_b is what one run of the branch would give
    planned: Bill
    at_most: Bill
    unchanged: Bill  # on average when nothing changed, were all metrics one
    unchanged_apart: Bill  # the same, were the metrics independent
    usd_per_call: float | None
    never_changing: float | None  # share of the cases whose stored rounds all agree
    numbered: bool  # a blocking gate against a number may ask for all planned calls
    metrics: tuple[MetricOutlook, ...]
    actions: tuple[Action, ...]
    best: Action | None
    limits: tuple[LimitOutlook, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`alpha` is shared by the `tests` blocking metrics of all suites."""

    alpha: float
    power: float
    tests: int
    suites: tuple[SuiteOutlook, ...]
    notes: tuple[str, ...] = ()
    schema_version: int = 1
