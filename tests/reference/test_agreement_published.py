"""Agreement beyond chance against published examples and other implementations.

Sources: Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, example C (four observers,
twelve units, missing values); Agresti 1990 (Hout, Duncan and Sobel 1987), sexual fun of 91 couples,
with kappa 0.2374 and its standard error 0.0783 as R's package vcd gives them; the other numbers
were computed with scikit-learn 1.9.1 (cohen_kappa_score) and the PyPI package krippendorff 0.9.0.
"""

import numpy as np
import pytest

from gate.stats.agreement import krippendorff_alpha, weighted_kappa

FUN = np.array([[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]])
HUSBAND = np.repeat(np.repeat(np.arange(4.0), 4), FUN.ravel())
WIFE = np.repeat(np.tile(np.arange(4.0), 4), FUN.ravel())

FIRST = [5, 4, 4, 5, 3, 4, 5, 2, 1, 2, 2, 5, 5, 1, 3, 5, 1, 4, 1, 3, 5, 2, 2, 2, 4, 2, 5, 3, 3, 3]
SECOND = [5, 4, 4, 5, 5, 5, 5, 3, 1, 4, 2, 4, 5, 1, 5, 5, 1, 2, 1, 1, 3, 2, 4, 2, 5, 4, 5, 4, 3, 3]

N = np.nan
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
)
FOUR = np.array(
    [
        [2, 4, 3, N, 5, N, N, 1, 4, 3, 5, 3, 4, 2, 4, 2, 4, 5, 4, N, 2, N, 5, 5, N],
        [1, 2, N, 3, 5, 1, 1, N, N, 4, N, 2, 4, 2, 3, 2, 5, 4, 4, 1, 3, 1, 4, 5, 2],
        [1, 3, 3, N, 4, 1, 2, 1, 4, 4, 5, 1, 4, 2, 2, N, N, N, 5, 1, N, 3, 5, 4, 1],
        [2, 2, 3, 3, 4, N, N, 1, 5, 5, 5, N, 4, 2, 2, 1, 5, N, N, N, 4, N, N, 5, N],
    ]
)


@pytest.mark.parametrize(
    ("first", "second", "weights", "expected"),
    [
        (HUSBAND, WIFE, "linear", 0.2374),
        (HUSBAND, WIFE, "quadratic", 0.33204559),
        (FIRST, SECOND, "linear", 0.57142857),
        (FIRST, SECOND, "quadratic", 0.70588235),
    ],
)
def test_weighted_kappa_is_the_published_one(first, second, weights, expected):
    found = weighted_kappa(np.array(first, float), np.array(second, float), weights=weights)
    assert found.value == pytest.approx(expected, abs=5e-5)


def test_its_interval_is_that_of_the_published_standard_error_or_a_little_wider():
    found = weighted_kappa(HUSBAND, WIFE, weights="linear")
    published = 0.2374 - 1.96 * 0.0783, 0.2374 + 1.96 * 0.0783
    assert published[0] - 0.04 < found.low < published[0]
    assert published[1] < found.high < published[1] + 0.02


@pytest.mark.parametrize(("ratings", "expected"), [(OBSERVERS, 0.815), (FOUR, 0.79030)])
def test_krippendorffs_alpha_is_the_published_one(ratings, expected):
    assert krippendorff_alpha(ratings).value == pytest.approx(expected, abs=5e-4)
