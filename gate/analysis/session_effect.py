"""How much the runs of a baseline differ beyond the noise of their calls, metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from gate.analysis.estimates import family_of
from gate.analysis.table import Table
from gate.plugins import Array
from gate.records import MetricSpec
from gate.records.baseline import BaselineRun
from gate.stats.pairs import case_means, case_variances
from gate.stats.session_effect import Era, SessionEffect, estimate_session_effect

MEANS = frozenset({"rate", "mean", "log_mean"})  # families that average calls
LARGEST = 1e100  # its square is still a number
SECONDS = 19  # characters of a moment, ISO 8601 and UTC, up to its seconds
IN_COMMON = 0.5  # of the newest run's cases: with fewer, a run is not compared case by case

_Circumstances = tuple[tuple[str, str], ...]
_Kind = tuple[int, _Circumstances]


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunMean:
    """One run's mean. `kind`: between runs of unlike kinds the agent may have changed."""

    kind: tuple[str, _Kind]
    mean: float
    noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """One run's rounds, one entry a case; NaN where it has none, or no two."""

    calls: Array
    means: Array
    variances: Array


def is_mean(spec: MetricSpec) -> bool:
    """Whether the metric averages calls, so that a day moves it as it moves each call."""
    return spec.family in MEANS


def session_effects(
    table: Table, runs: Sequence[BaselineRun], changes: Sequence[str] = ()
) -> dict[str, SessionEffect]:
    """Metric -> its session effect; a metric that has too few runs to tell is left out.

    `table`: all stored rounds; `runs`: oldest first, `kept` of each are in the table. Runs whose
    values are there are compared on their common cases; older ones by their stored means, if they
    ran the same cases with the same content as the newest. Between runs of unlike circumstances,
    and at `changes` (moments as runs have them), the agent may have changed.
    """
    effects = {}
    for spec in table.specs.values():
        if not is_mean(spec) or spec.column not in table.columns:
            continue
        effect = estimate_session_effect(_eras(table.column(spec.column), spec, runs, changes))
        if effect is not None:
            effects[spec.name] = effect
    return effects


def rounds_of(values: Array, runs: Sequence[BaselineRun]) -> list[Array]:
    """The values of each run, cases x its kept rounds."""
    ends = np.cumsum([run.kept for run in runs])
    return [values[:, end - run.kept : end] for run, end in zip(runs, ends, strict=True)]


def _kind(run: BaselineRun, changes: Sequence[str]) -> _Kind:
    """Equal for runs between which no change of the agent is known."""
    accepted = sum(change[:SECONDS] <= run.created_at[:SECONDS] for change in changes)
    return accepted, circumstances(run)


def _eras(
    values: Array, spec: MetricSpec, runs: Sequence[BaselineRun], changes: Sequence[str]
) -> list[Era]:
    scale = family_of(spec).reduce(np.ones((1, 1)))  # a mean of ones is the metric's factor
    kept = [run for run in runs if run.kept]
    blocks = [_block(rounds * scale) for rounds in rounds_of(values, kept)]
    noise = _noise_of_a_call(blocks)
    if noise is None:
        return []
    measured = [*_by_means(spec, runs, noise, changes), *_by_values(blocks, kept, noise, changes)]
    return [
        Era(means=np.array([one.mean for one in era]), noise=np.array([one.noise for one in era]))
        for era in (list(group) for _, group in groupby(measured, key=lambda one: one.kind))
    ]


def _block(values: Array) -> _Block:
    calls = (~np.isnan(values)).sum(axis=1).astype(np.float64)
    return _Block(calls=calls, means=case_means(values), variances=case_variances(values))


def _noise_of_a_call(blocks: Sequence[_Block]) -> float | None:
    """Variance of a case's rounds in one run; where no case has two, of its rounds in
    neighbouring runs, which a change of the agent hardly enters. None when no case ran twice.
    """
    freedom = sum(float(np.maximum(block.calls - 1.0, 0.0).sum()) for block in blocks)
    if freedom:
        return sum(float(np.nansum(b.variances * (b.calls - 1.0))) for b in blocks) / freedom
    steps = [new.means - old.means for old, new in pairwise(blocks)]
    squares = np.concatenate([step[~np.isnan(step)] for step in steps] or [np.empty(0)]) ** 2
    return float(squares.mean()) / 2.0 if squares.size else None


def _by_values(
    blocks: Sequence[_Block],
    runs: Sequence[BaselineRun],
    noise: float,
    changes: Sequence[str],
) -> Iterator[_RunMean]:
    """Runs from the newest backwards, while enough of its cases are common to all; oldest first."""
    common = blocks[-1].calls > 0.0
    least = max(1.0, IN_COMMON * float(common.sum()))
    first = len(blocks)
    for block in reversed(blocks):
        both = common & (block.calls > 0.0)
        if both.sum() < least:
            break
        common, first = both, first - 1
    for run, block in zip(runs[first:], blocks[first:], strict=True):
        yield _RunMean(
            kind=("values", _kind(run, changes)),
            mean=float(block.means[common].mean()),
            noise=noise * float((1.0 / block.calls[common]).sum()) / float(common.sum()) ** 2,
        )


def _by_means(
    spec: MetricSpec, runs: Sequence[BaselineRun], noise: float, changes: Sequence[str]
) -> Iterator[_RunMean]:
    """Runs whose values are gone, but which ran what the newest one ran. A mean that cannot be, as
    an edited file may hold, is none: one of them would blind the gate.
    """
    low = -LARGEST if spec.low is None else spec.low
    high = LARGEST if spec.high is None else spec.high
    for run in runs:
        mean = run.means.get(spec.name)
        if run.kept or not run.cases or _content(run) != _content(runs[-1]):
            continue
        if mean is None or not low <= mean <= high:
            continue
        yield _RunMean(
            kind=("means", _kind(run, changes)),
            mean=mean,
            noise=noise / (run.cases * max(1, run.rounds)),
        )


def _content(run: BaselineRun) -> tuple[int, str | None]:
    return run.cases, run.fingerprint.get("dataset")


def circumstances(run: BaselineRun) -> _Circumstances:
    """What is known to change an agent or how it is judged. `agent_digest` has what `agent_options`
    has, of runs of older versions too.
    """
    left_out = ("dataset", "agent_options")
    return tuple(sorted(item for item in run.fingerprint.items() if item[0] not in left_out))


def drifts(
    effects: Mapping[str, SessionEffect], table: Table, runs: Sequence[BaselineRun]
) -> dict[str, float]:
    """Metric -> variance that the difference between one more run and these has beyond noise."""
    return {
        name: effect.drift(
            concentrate(table.column(table.specs[name].column), [run.kept for run in runs])
        )
        for name, effect in effects.items()
        if effect.variance > 0.0
    }


def concentrate(values: Array, sizes: Sequence[int]) -> float:
    """Sum of the squared shares of calls that each run has: 1 / K for K runs of equal size.
    `sizes`: rounds of each run.
    """
    ends = np.cumsum(sizes)
    blocks = [values[:, end - size : end] for size, end in zip(sizes, ends, strict=True)]
    calls = np.array([float((~np.isnan(block)).sum()) for block in blocks])
    return float(((calls / calls.sum()) ** 2).sum()) if calls.any() else 1.0
