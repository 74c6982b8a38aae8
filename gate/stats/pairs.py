"""Baseline and run of the same cases, reduced to the numbers that the shuffle test needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """One entry per case with a value on both sides: b is the baseline, c the current run."""

    rounds_b: Array
    rounds_c: Array
    mean_b: Array
    mean_c: Array
    variance: Array  # of all rounds of the case together, ddof 1
    variance_b: Array  # ddof 1; NaN where there is one round
    variance_c: Array
    binary: bool  # every value is 0 or 1

    @property
    def cases(self) -> int:
        return len(self.mean_b)

    @property
    def rounds(self) -> Array:
        return self.rounds_b + self.rounds_c

    @property
    def weight(self) -> Array:
        """The information of a case. With it, the sum of differences has independent increments."""
        return self.rounds_b * self.rounds_c / self.rounds

    @property
    def successes(self) -> Array:
        """Successes of both sides together, one number per case; for binary values only."""
        return np.rint(self.mean_b * self.rounds_b + self.mean_c * self.rounds_c)

    @property
    def is_unbalanced(self) -> bool:
        """Whether a side has more rounds of a case than the other."""
        return bool(np.any(self.rounds_b != self.rounds_c))


def pair(baseline: Array, current: Array) -> Pairs:
    """Both sides reduced to what the shuffle test needs; cases without a value on a side are left
    out.

    `baseline`, `current`: arrays of cases x rounds, rows are the same cases, NaN is missing.
    """
    b, c = _arm(baseline), _arm(current)
    both = (b.rounds > 0) & (c.rounds > 0)
    if not both.all():
        b, c = _arm(baseline[both]), _arm(current[both])
    squares_b, squares_c = b.squares(), c.squares()
    rounds = b.rounds + c.rounds
    between = b.rounds * c.rounds / rounds * (c.mean - b.mean) ** 2
    return Pairs(
        rounds_b=b.rounds,
        rounds_c=c.rounds,
        mean_b=b.mean,
        mean_c=c.mean,
        variance=(squares_b + squares_c + between) / (rounds - 1.0),
        variance_b=_divide(squares_b, b.rounds - 1.0),
        variance_c=_divide(squares_c, c.rounds - 1.0),
        binary=b.binary and c.binary,
    )


@dataclass(frozen=True, slots=True)
class _Arm:
    """One side, with 0 where a value is missing."""

    filled: Array
    measured: npt.NDArray[np.bool_] | None  # None: everything
    rounds: Array
    mean: Array
    binary: bool

    def squares(self) -> Array:
        """Sum of squared deviations of each row."""
        if self.binary:  # the sum of squares is the sum
            return self.rounds * self.mean * (1.0 - self.mean)
        deviations = self.filled - self.mean[:, None]
        if self.measured is not None:
            deviations = np.where(self.measured, deviations, 0.0)
        squares: Array = np.einsum("ij,ij->i", deviations, deviations)
        return squares


def _arm(values: Array) -> _Arm:
    measured = ~np.isnan(values)
    complete = bool(measured.all())
    filled = values if complete else np.where(measured, values, 0.0)
    if complete:
        rounds = np.full(len(values), float(values.shape[1]))
    else:
        rounds = measured.sum(axis=1).astype(np.float64)
    mean = _divide(np.einsum("ij->i", filled), rounds)
    binary = bool(np.all(filled * filled == filled))
    if not binary:
        mean = _mean_of_equals(values, mean)
    return _Arm(filled, None if complete else measured, rounds, mean, binary)


def _mean_of_equals(values: Array, mean: Array) -> Array:
    """The means, where those of equal values are exactly that value: a rounded sum would make them
    differ by 4e-17.
    """
    low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
    return np.where(low == high, low, mean)


def case_means(values: Array) -> Array:
    """The mean of each row (cases x rounds) over its values; NaN if it has none."""
    return _arm(values).mean


def case_variances(values: Array) -> Array:
    """The variance (ddof 1) of each row (cases x rounds); NaN if it has fewer than two values."""
    arm = _arm(values)
    return _divide(arm.squares(), arm.rounds - 1.0)


def _divide(numerator: Array, denominator: npt.NDArray[np.generic]) -> Array:
    """Quotient; NaN where the denominator is not positive."""
    out = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
    return out
