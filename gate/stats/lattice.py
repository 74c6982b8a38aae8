"""Tail chances of a sum of independent numbers with few outcomes each: exact on a small lattice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gate.stats.distributions import normal_cdf, skew_corrected
from gate.stats.pairs import Array

Counts = npt.NDArray[np.int64]
POINTS = 16_384  # of a lattice whose distribution is cheap
MANY = 600  # numbers from which on the normal curve, corrected for skewness, is as good
ROUNDING = 1e-6  # of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Kinds of independent numbers of mean 0. There are `counts[i]` numbers of kind i, which have
    the value `values[i, j]` with the chance `chances[i, j]` (0 if the kind has fewer outcomes).
    """

    values: Array
    chances: Array
    counts: Counts
    steps: int  # every value is a whole number of 1 / steps

    @property
    def variance(self) -> float:
        """The variance of the sum of all numbers."""
        return self._moment(2)

    @property
    def skewness(self) -> float:
        """The skewness of the sum of all numbers."""
        return self._moment(3) / float(self.variance**1.5)

    def _moment(self, power: int) -> float:
        return float(np.dot(self.counts, (self.chances * self.values**power).sum(axis=1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tails:
    """Chances of a sum at most (`down`) or at least (`up`) as large as seen; a tie counts half."""

    down: float
    up: float
    exact: bool


def tails(numbers: Numbers, seen: float) -> Tails:
    """The chances of a sum as low, and as high, as `seen`.

    If the lattice has more than POINTS points, each value is split between its two neighbours on a
    coarser one, which keeps its mean.
    """
    if numbers.variance <= 0.0:
        return Tails(down=0.5, up=0.5, exact=True)
    there = numbers.chances > 0.0
    low = np.where(there, numbers.values, np.inf).min(axis=1)
    above = np.where(there, numbers.values - low[:, None], 0.0)
    span = float(np.dot(numbers.counts, above.max(axis=1)))
    steps = numbers.steps / _common(above, numbers.steps)
    exact = span * steps < POINTS
    if not exact:
        count = int(numbers.counts.sum())
        if count > MANY:
            return _normal(numbers, seen)
        steps = (POINTS - 1 - count) / span  # each may be moved up by less than a step
    total = _distribution(above * steps, numbers)
    at = (seen - float(np.dot(numbers.counts, low))) * steps
    up = _chance_up_to(total[::-1], len(total) - 1 - at)
    return Tails(down=_chance_up_to(total, at), up=up, exact=exact)


def _common(above: Array, steps: int) -> int:
    """The largest number of steps that divides all differences; 1 if they are too fine."""
    if steps > 1.0 / ROUNDING**1.5:
        return 1
    return int(np.gcd.reduce(np.rint(above * steps).astype(np.int64), axis=None))


def _distribution(places: Array, numbers: Numbers) -> Array:
    """Chances of the sum at places 0, 1, ... Equal numbers share one characteristic function,
    raised
    to their count.
    """
    points = np.floor(places + ROUNDING).astype(np.int64)
    rest = np.maximum(0.0, places - points)
    rest[rest < 2.0 * ROUNDING] = 0.0
    last = int(np.dot(numbers.counts, (points + (rest > 0.0)).max(axis=1)))
    size = 1 << (last + 1).bit_length()
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for at, part, chance, count in zip(points, rest, numbers.chances, numbers.counts, strict=True):
        number = np.bincount(at, weights=chance * (1.0 - part), minlength=size)
        number += np.bincount(at + 1, weights=chance * part, minlength=size)
        transform *= np.fft.rfft(number) ** count
    return np.clip(np.fft.irfft(transform, size)[: last + 2], 0.0, 1.0)


def _chance_up_to(total: Array, at: float) -> float:
    """The chance of a place before `at`, plus half of that at it; interpolated between places."""
    first = min(max(0, math.floor(at + ROUNDING)), len(total) - 2)
    part = at - first
    before, here, next_ = float(total[:first].sum()), float(total[first]), float(total[first + 1])
    if abs(part) < 2.0 * ROUNDING:
        part = 0.0
    return min(1.0, before + here / 2.0 + part * (here + next_) / 2.0)


def _normal(numbers: Numbers, seen: float) -> Tails:
    corrected = skew_corrected(seen / math.sqrt(numbers.variance), numbers.skewness)
    return Tails(down=normal_cdf(corrected), up=normal_cdf(-corrected), exact=False)
