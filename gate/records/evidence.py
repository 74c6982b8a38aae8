"""What the data say about one change, before any decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Bounds = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How sharply a plan of looks sees: what a detectable change is computed from."""

    drift: float  # change, in standard errors at the last look, that is caught with `power`
    power: float
    level: float  # one-sided nominal level of the last look
    share: float = 1.0  # of the last look's information that is there now; (0, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Current against baseline, cases paired. `delta` = current - baseline in natural units, or
    as a share of the baseline where `relative`.

    `p_worse`: chance, if nothing changed, of a change at least this bad; `p_better` the mirror.
    Where two tests disagree about the noise, these are the larger of their chances; `p_doubt`
    is the smaller one of "worse": what an acquittal has to face.
    """

    baseline: float
    current: float
    delta: float
    relative: bool
    se: float  # of delta if nothing changed, on delta's scale
    p_worse: float
    p_better: float
    p_doubt: float
    bounds: Bounds  # alpha -> (low, high) of delta, each wrong with probability at most alpha
    detectable: Callable[[Sight], float]  # smallest change that is caught, a size on delta's scale
    n_paired: int
    method: str
    too_few: str = ""  # why these are too few data, e.g. "60 of 100 calls needed for a p95"
