"""Two arms of the same cases, reduced to what the shuffle test needs of each case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """One entry a case that both arms have a value of: b the baseline, c the current arm."""

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
        """Information of a case: with it the sum of differences has independent increments."""
        return self.rounds_b * self.rounds_c / self.rounds

    @property
    def successes(self) -> Array:
        """Of both arms together; for binary values only."""
        return np.rint(self.mean_b * self.rounds_b + self.mean_c * self.rounds_c)

    @property
    def unbalanced(self) -> bool:
        """Whether an arm has more rounds of a case than the other."""
        return bool(np.any(self.rounds_b != self.rounds_c))


def pair(baseline: Array, current: Array) -> Pairs:
    """Cases x rounds, rows are the same cases, NaN is missing; cases that an arm lacks are left
    out.
    """
    both = ~(np.isnan(baseline).all(axis=1) | np.isnan(current).all(axis=1))
    if not both.all():
        baseline, current = baseline[both], current[both]
    rounds_b, mean_b, squares_b = _moments(baseline)
    rounds_c, mean_c, squares_c = _moments(current)
    rounds = rounds_b + rounds_c
    between = rounds_b * rounds_c / rounds * (mean_c - mean_b) ** 2
    return Pairs(
        rounds_b=rounds_b,
        rounds_c=rounds_c,
        mean_b=mean_b,
        mean_c=mean_c,
        variance=(squares_b + squares_c + between) / (rounds - 1.0),
        variance_b=_over(squares_b, rounds_b - 1.0),
        variance_c=_over(squares_c, rounds_c - 1.0),
        binary=is_binary(baseline) and is_binary(current),
    )


def is_binary(values: Array) -> bool:
    """Whether every value that is there is 0 or 1."""
    return bool(np.all((values == 0.0) | (values == 1.0) | np.isnan(values)))


def case_means(values: Array) -> Array:
    """Mean of each row over the rounds that have a value; NaN where none has."""
    measured = ~np.isnan(values)
    return _over(np.where(measured, values, 0.0).sum(axis=1), measured.sum(axis=1))


def case_variances(values: Array) -> Array:
    """Variance (ddof 1) of each row; NaN where fewer than two rounds have a value."""
    rounds, _, squares = _moments(values)
    return _over(squares, rounds - 1.0)


def _moments(values: Array) -> tuple[Array, Array, Array]:
    """Rounds, mean and sum of squared deviations of each row."""
    measured = ~np.isnan(values)
    rounds = measured.sum(axis=1).astype(np.float64)
    mean = _over(np.where(measured, values, 0.0).sum(axis=1), rounds)
    deviations = np.where(measured, values - mean[:, None], 0.0)
    return rounds, mean, np.einsum("ij,ij->i", deviations, deviations)


def _over(numerator: Array, denominator: npt.NDArray[np.generic]) -> Array:
    """Quotient; NaN where the denominator is not positive."""
    out = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=out, where=np.asarray(denominator) > 0)
    return out
