"""Change points of a series of runs: where its level changed, permanently or for a while.

Circular binary segmentation (Olshen, Venkatraman, Lucito and Wigler 2004): of all single steps and
all stretches between two steps the one with the largest t is cut out, and the parts are searched
again. Each step and each stretch has its share of the chance of a false alarm (Bonferroni).

A change has to exceed two noises. Runs differ by more than their calls explain (load, provider):
the scatter within the parts, by Student's t. A few equal values have no scatter, so the change must
also exceed how much so many calls vary by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import Array, normal_cdf, normal_quantile, t_cdf, t_quantile

Ends = npt.NDArray[np.intp]  # pairs: first run, and the run after the last

SHORTEST = 2  # runs of a level: a single unusual run is not a change
FEWEST = 2 * SHORTEST  # runs in which a change can be seen
MOST = 400  # runs that are searched, the newest: the stretches grow with the square
ROUNDING = 1e-9  # relative; smaller differences are rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """`at`: number of the first run of the new level, from 0. Levels are means of their runs."""

    at: int
    before: float
    after: float
    runs_before: int
    runs_after: int
    p: float  # adjusted for all places that were searched


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """The runs `start` to `end` (exclusive) differ from the rest of their part of the series."""

    start: int
    end: int
    t: float
    p: float


def change_points(
    values: Sequence[float], noise: Sequence[float], *, alpha: float
) -> tuple[ChangePoint, ...]:
    """The changes of level in `values`, oldest first.

    `noise`: the variance of each value that the chance in its calls explains. `alpha`: the chance
    that a change is found in a series without one.
    """
    older = max(0, len(values) - MOST)
    x, v = np.array(values[older:], dtype=np.float64), np.array(noise[older:], dtype=np.float64)
    p_values: dict[int, float] = {}  # first run of a level -> p
    parts = [(0, len(x))]
    while parts:
        low, high = parts.pop()
        cut = _largest(x, v, low, high, alpha)
        if cut is None:
            continue
        ends = [low, *(at for at in (cut.start, cut.end) if low < at < high), high]
        p_values.update(dict.fromkeys(ends[1:-1], cut.p))
        parts += pairwise(ends)
    edges = [0, *sorted(p_values), len(x)]
    levels = [float(x[a:b].mean()) for a, b in pairwise(edges) if b > a]
    return tuple(
        ChangePoint(
            at=older + at,
            before=levels[n],
            after=levels[n + 1],
            runs_before=at - edges[n],
            runs_after=edges[n + 2] - at,
            p=p_values[at],
        )
        for n, at in enumerate(edges[1:-1])
    )


def _largest(x: Array, v: Array, low: int, high: int, alpha: float) -> _Cut | None:
    """The step or stretch with the largest t among those that are significant."""
    n, runs = len(x), high - low
    if runs < FEWEST:
        return None
    stretches = _stretches(n)
    kinds = [(_steps_at(low, high), n - FEWEST + 1)]
    if runs >= FEWEST + SHORTEST:
        kinds.append((_stretches_at(low, high), stretches))
    # Half of alpha for each kind, if there are both: a series of five has no stretch.
    share = alpha / (2 if stretches else 1)
    cuts = [_best(x, v, (low, high), ends, share / places) for ends, places in kinds]
    seen = [
        _Cut(start=cut.start, end=cut.end, t=cut.t, p=min(1.0, cut.p * places * alpha / share))
        for cut, (_, places) in zip(cuts, kinds, strict=True)
        if cut is not None
    ]
    return max(seen, key=lambda cut: cut.t, default=None)


def _stretches(runs: int) -> int:
    """How many stretches a series has, with `SHORTEST` runs in each and on both of its sides."""
    free = runs - 3 * SHORTEST + 2
    return free * (free - 1) // 2 if free > 1 else 0


def _steps_at(low: int, high: int) -> Ends:
    """The steps in a part: stretches that reach to its end."""
    first = np.arange(low + SHORTEST, high - SHORTEST + 1)
    return np.column_stack([first, np.full(len(first), high)])


def _stretches_at(low: int, high: int) -> Ends:
    """The stretches inside the part."""
    at = np.arange(low + SHORTEST, high - SHORTEST + 1)
    start, end = np.meshgrid(at, at, indexing="ij")
    fits = end - start >= SHORTEST
    return np.column_stack([start[fits], end[fits]])


def _best(x: Array, v: Array, part: tuple[int, int], ends: Ends, level: float) -> _Cut | None:
    """The cut with the largest t among those whose t and z are both significant at `level`."""
    low, high = part
    runs, df = high - low, high - low - 2
    middle = x[low:high].mean()
    sums = np.concatenate([[0.0], np.cumsum(x - middle)])
    noises = np.concatenate([[0.0], np.cumsum(v)])
    inside = (ends[:, 1] - ends[:, 0]).astype(np.float64)
    outside = runs - inside
    within = sums[ends[:, 1]] - sums[ends[:, 0]]  # the sum over the part is 0
    gap = within / inside + within / outside
    total = float(((x[low:high] - middle) ** 2).sum())
    gain = gap**2 * inside * outside / runs
    rest = total - gain
    rest[rest <= ROUNDING * total] = 0.0
    chance = noises[ends[:, 1]] - noises[ends[:, 0]]
    spread = chance / inside**2 + (noises[high] - noises[low] - chance) / outside**2
    real = np.abs(gap) > ROUNDING * max(abs(float(middle)), float(np.abs(x[low:high]).max()))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(real, np.sqrt(gain / rest * df), 0.0)
        z = np.where(real, np.abs(gap) / np.sqrt(spread), 0.0)
    seen = (t >= t_quantile(1.0 - level / 2.0, df)) & (z >= normal_quantile(1.0 - level / 2.0))
    if not seen.any():
        return None
    best = int(np.argmax(np.where(seen, t, -1.0)))
    p = 2.0 * max(t_cdf(-float(t[best]), df), normal_cdf(-float(z[best])))
    start, end = (int(at) for at in ends[best])
    return _Cut(start=start, end=end, t=float(t[best]), p=p)


def chance_noise(mean: float, calls: Sequence[int], *, share: bool) -> list[float]:
    """The chance variance of a mean of each number of calls: binomial for a `share`; for an amount
    as if one call varied as much as its mean (exponential), which is more than usual.
    """
    variance = mean * (1.0 - mean) if share else mean**2
    return [max(0.0, variance) / calls_of if calls_of else math.inf for calls_of in calls]
