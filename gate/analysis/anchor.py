"""Whether main is still as good as its anchor: its newest runs together against it.

Each run of main is a look, and there is no last one. So the newest 2, 3, 4 and 5 runs are each
compared with the anchor by the test of a pull request, at a level so small that a year of 250 runs
of an unchanged agent calls a fall in about 4 of 100 (docs/statistics.md has the simulation). Short
windows see a fall early, long ones a small fall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gate.analysis.estimates import family_of
from gate.analysis.pairing import MIN_PAIRED, pair_cases
from gate.analysis.session_effect import concentrate, is_mean
from gate.analysis.table import Table, has_values, last_rounds
from gate.records import Evidence, MetricSpec, Tolerance
from gate.records.baseline import RunSteps
from gate.stats.distributions import normal_cdf
from gate.stats.pairs import case_means

WINDOWS = (2, 3, 4, 5)  # newest runs that are taken together
MENDED = 3  # newest runs whose mean must be back
LEVEL = normal_cdf(-3.45)  # of each test, shared by the blocking metrics of a suite
LEAST = 0.5  # of the anchor's cases must be there unchanged
# Few steps tell little of the session effect. The estimate is shrunk as if DOUBT further steps had
# shown none, and then multiplied by WIDER; both were chosen by simulation.
DOUBT, WIDER = 55.0, 4.0
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRuns:
    """Runs of main after the anchor, oldest first: their rounds one after the other, and how many
    rounds each of them has.
    """

    table: Table
    rounds: tuple[int, ...]

    def newest(self, runs: int) -> RecentRuns:
        """The newest `runs` of them."""
        rounds = self.rounds[-runs:]
        return RecentRuns(table=last_rounds(self.table, sum(rounds)), rounds=rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A metric that is compared with the anchor."""

    spec: MetricSpec
    tolerance: Tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class MainLevel:
    """The newest `runs` runs together against the anchor."""

    spec: MetricSpec
    evidence: Evidence
    runs: int
    level: float  # of the test
    fallen: bool  # by more than chance and the tolerance explain
    back: bool  # the newest runs are within the tolerance again

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the change at the level of the test."""
        return self.evidence.bounds(self.level)


def why_no_anchor(anchor: Table, newest: Table) -> str:
    """Why the anchor says nothing of these cases; empty where it does."""
    had, left = len(anchor.cases), pair_cases(anchor, newest).n_paired
    if not had:
        return "it has no rounds yet"
    if left < max(LEAST * had, min(MIN_PAIRED, had)):
        return f"only {left} of its {had} cases are unchanged"
    return ""


def find_levels(
    anchor: Table,
    sizes: Sequence[int],
    recent: RecentRuns,
    watched: Sequence[Watched],
    steps: Mapping[str, RunSteps],
    *,
    sharing: int = 1,
    single: bool = False,
) -> dict[str, MainLevel]:
    """By metric: the window that speaks most clearly of a fall; nothing of a metric that has no
    values on both sides. `sizes`: rounds of each run of the anchor; `sharing`: metrics that share
    the level; `single`: whether one run alone is enough.
    """
    lengths = (1, *WINDOWS) if single else WINDOWS
    windows = [recent.newest(runs) for runs in lengths if runs <= len(recent.rounds)]
    level = LEVEL / max(1, sharing)
    found = {}
    for one in watched:
        variance = session_variance(steps.get(one.spec.name, RunSteps()))
        levels = [_judge(anchor, sizes, window, one, variance, level) for window in windows]
        seen = [one for one in levels if one is not None]
        if seen:
            lately = [one for one in seen if one.runs <= MENDED] or seen
            worst = min(seen, key=lambda one: one.evidence.p_worse)
            found[one.spec.name] = replace(worst, back=lately[-1].back)
    return found


def _judge(
    anchor: Table,
    sizes: Sequence[int],
    window: RecentRuns,
    watched: Watched,
    variance: float,
    level: float,
) -> MainLevel | None:
    """One window; None where there is nothing to compare."""
    spec, pairing = watched.spec, pair_cases(anchor, window.table)
    if anchor.grader_hashes(spec) != window.table.grader_hashes(spec) or not pairing.n_paired:
        return None
    then, now = pairing.baseline.values(spec), pairing.current.values(spec)
    if not (has_values(then) and has_values(now)):
        return None
    shares = concentrate(then, sizes) + concentrate(now, window.rounds)
    evidence = family_of(spec).compare(
        then, now, spec, tolerance=watched.tolerance, drift=variance * shares
    )
    harm = -evidence.delta if spec.direction == "higher" else evidence.delta
    allowed = watched.tolerance.value
    if watched.tolerance.relative and not evidence.relative:
        allowed *= abs(evidence.baseline)
    told = not evidence.too_few and math.isfinite(harm)
    large = harm > 0.0 and harm >= allowed - _EPSILON
    return MainLevel(
        spec=spec,
        evidence=evidence,
        runs=len(window.rounds),
        level=level,
        fallen=told and large and evidence.p_worse <= level,
        back=told and not large,
    )


# ---------------------------------------------------------------------------- the session effect


def add_step(steps: RunSteps, spec: MetricSpec, older: Table, newer: Table) -> RunSteps:
    """With the step from one run of main to the next, on their common cases.

    The mean step, squared, has twice the session effect's variance and the noise of the calls. The
    noise is what the cases' own steps scatter around it: both runs share their session each, so
    the session effect is in the mean alone.
    """
    if not is_mean(spec):
        return steps
    pairing = pair_cases(older, newer)
    if older.grader_hashes(spec) != newer.grader_hashes(spec) or pairing.n_paired < MIN_PAIRED:
        return steps
    scale = family_of(spec).reduce(np.ones((1, 1)))  # a mean of ones is the metric's factor
    change = case_means(pairing.current.values(spec) * scale) - case_means(
        pairing.baseline.values(spec) * scale
    )
    change = change[~np.isnan(change)]
    if len(change) < MIN_PAIRED:
        return steps
    return RunSteps(
        count=steps.count + 1,
        squares=steps.squares + float(change.mean()) ** 2,
        noise=steps.noise + float(change.var(ddof=1)) / len(change),
    )


def session_variance(steps: RunSteps) -> float:
    """The variance of the session effect, in squared units of the metric, as far as the steps show
    it. A lasting trend of `s` from run to run adds s^2 / 2, which differences from the mean of all
    runs would count many times (von Neumann 1941).
    """
    if not steps.count:
        return 0.0
    surplus = max(0.0, steps.squares - steps.noise) / 2.0 / steps.count
    told = steps.count * 2.0 / 3.0  # successive steps overlap: so many independent ones
    return WIDER * surplus * told / (told + DOUBT)
