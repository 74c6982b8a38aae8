"""The jackknife and the scatter within strata say the same of a sum; both are exact for a mean."""

import numpy as np
import pytest

from gate.stats.strata import (
    covariance_of_totals,
    effective_size,
    jackknife_variance,
    number_strata,
    sum_without_one,
)

RNG = np.random.default_rng(1)
VALUES, OTHERS = RNG.normal(3, 1, (2, 12))
STRATA = np.repeat([0, 1, 2], [3, 4, 5])


def test_of_a_simple_sample_it_is_the_textbooks_variance_of_a_mean():
    one = np.zeros(12, dtype=np.int64)
    share = VALUES / 12
    assert covariance_of_totals(share, share, one) == pytest.approx(VALUES.var(ddof=1) / 12)
    both = np.cov(VALUES, OTHERS)[0, 1] / 12
    assert covariance_of_totals(share, OTHERS / 12, one) == pytest.approx(both)


def test_the_jackknife_of_a_sum_is_the_scatter_within_the_strata():
    left_out = sum_without_one(VALUES, STRATA)
    expected = covariance_of_totals(VALUES, VALUES, STRATA)
    assert jackknife_variance(left_out, STRATA) == pytest.approx(expected)
    assert expected == pytest.approx(
        sum(VALUES[s == STRATA].var(ddof=1) * (s == STRATA).sum() for s in range(3))
    )


def test_the_others_of_a_stratum_stand_for_the_one_that_is_left_out():
    left_out = sum_without_one(np.array([1.0, 2.0, 6.0, 10.0, 20.0]), np.array([0, 0, 0, 1, 1]))
    assert left_out == pytest.approx([30 + 12, 30 + 10.5, 30 + 4.5, 9 + 40, 9 + 20])


def test_a_stratum_of_one_case_makes_all_one():
    assert number_strata(np.array([7, 7, 9, 9])).tolist() == [0, 0, 1, 1]
    assert number_strata(np.array([7, 7, 7, 9])).tolist() == [0, 0, 0, 0]


def test_unequal_weights_tell_less():
    assert effective_size(np.full(8, 3.0)) == pytest.approx(8)
    assert effective_size(np.array([3.0, 1.0])) == pytest.approx(1.6)
