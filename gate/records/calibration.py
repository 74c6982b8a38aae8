"""How often pull requests that changed nothing are blocked: the records of `gate calibrate`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmRate:
    """How often something happened, with its exact interval."""

    times: int
    of: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRates:
    """One blocking metric. `untested`: a change for the worse beyond the tolerance, without a
    test.
    """

    suite: str
    metric: str
    unit: str
    tolerance: float
    relative: bool
    blocked: AlarmRate
    untested: AlarmRate


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationShape:
    """What was dealt out of one suite, in rounds a case: as many as a run has. `drawn`: with
    replacement, because fewer are recorded.
    """

    suite: str
    cases: int
    recorded: int
    runs: int
    baseline: int
    planned: int
    at_most: int  # where a run goes on while undecided; else as planned
    drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Pull requests made by dealing rounds out at random. `undecided`: suspected or too few
    data.
    """

    blocked: AlarmRate
    untested: AlarmRate
    undecided: AlarmRate
    calls: float  # made on average
    planned: int
    at_most: int
    metrics: tuple[MetricRates, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A difference that was called one."""

    suite: str
    metric: str
    delta: float | None
    unit: str
    relative: bool
    worse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """One run as the pull request, with all others as its baseline. `flags`: what is called a
    difference with all its rounds. `p_value`: chance that one of its blocking metrics is this far
    off, to either side, if the run is like the others.
    """

    run: str
    created_at: str
    blocked: bool
    p_value: float
    flags: tuple[Flag, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRun:
    """`p_value`: chance that one of the runs is this far off if all are alike; below 1 % the runs
    drift.
    """

    runs: tuple[LeftOut, ...]
    blocked: AlarmRate
    p_value: float
    drifts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """`alpha` is what was promised; intervals are two-sided at `confidence`."""

    alpha: float
    confidence: float
    seed: int
    fresh: bool  # both arms of a run are measured together, so that no drift enters
    shapes: tuple[CalibrationShape, ...]
    splits: Splits
    by_run: ByRun | None  # None: fewer than three runs, or `fresh`
    one_day: bool  # all runs are of one day
    notes: tuple[str, ...] = ()
    schema_version: int = 1

    @property
    def at_least(self) -> float:
        """What the rate of false alarms is at least."""
        return max(self.splits.blocked.low, self.by_run.blocked.low if self.by_run else 0.0)
