"""The shuffle test: its statistic, its guard, its edges and its speed."""

import math

import numpy as np
import pytest

from gate.records import Blind
from gate.stats.pairs import case_means, case_variances, pair
from gate.stats.permutation_test import blindness, case_p_values, shuffle_test, smallest_p
from tests.support.growth import calls


def test_cases_that_an_arm_lacks_are_left_out() -> None:
    nan = math.nan
    was = np.array([[1.0, 0.0], [nan, nan], [1.0, nan]])
    now = np.array([[0.0, 0.0], [1.0, 1.0], [nan, 1.0]])
    pairs = pair(was, now)
    assert pairs.cases == 2
    assert pairs.mean_b.tolist() == [0.5, 1.0]
    assert pairs.mean_c.tolist() == [0.0, 1.0]
    assert pairs.rounds.tolist() == [4.0, 2.0]
    assert pairs.weight.tolist() == [1.0, 0.5]
    assert not pairs.is_unbalanced
    assert pairs.binary


def test_pooled_variance_is_that_of_all_rounds_together() -> None:
    rng = np.random.default_rng(1)
    was, now = rng.random((4, 5)), rng.random((4, 2))
    expected = np.hstack([was, now]).var(axis=1, ddof=1)
    assert pair(was, now).variance == pytest.approx(expected)
    assert pair(was, now).variance_b == pytest.approx(was.var(axis=1, ddof=1))


def test_means_and_variances_of_cases_with_gaps() -> None:
    values = np.array([[1.0, 3.0], [2.0, math.nan], [math.nan, math.nan]])
    assert case_means(values)[:2].tolist() == [2.0, 2.0]
    assert math.isnan(case_means(values)[2])
    assert case_variances(values)[0] == 2.0
    assert np.isnan(case_variances(values)[1:]).all()


def test_nothing_varies() -> None:
    ones = np.ones((30, 3))
    test = shuffle_test(pair(ones, ones))
    assert (test.delta, test.z, test.p_down, test.p_up) == (0.0, 0.0, 0.5, 0.5)
    test = shuffle_test(pair(ones * 0.3, ones * 0.3))
    assert (test.z, test.p_down) == (0.0, pytest.approx(0.5))


def test_equal_scores_summed_in_another_order_are_equal() -> None:
    level = np.random.default_rng(7).random((40, 1))
    test = shuffle_test(pair(np.tile(level, 13), np.tile(level, 3)))
    assert (test.delta, test.z, test.z_guard) == (0.0, 0.0, 0.0)


def test_a_drop_and_its_mirror() -> None:
    rng = np.random.default_rng(4)
    was = (rng.random((80, 3)) < 0.9).astype(float)
    now = (rng.random((80, 3)) < 0.7).astype(float)
    down, up = shuffle_test(pair(was, now)), shuffle_test(pair(now, was))
    assert down.delta == pytest.approx(-up.delta)
    assert down.p_down < 0.001
    assert down.p_down == pytest.approx(up.p_up)


def test_agent_that_only_became_flakier_is_not_accused() -> None:
    """Unequal rounds: the pooled variance is wrong there, and the weaker of two z counts."""
    rng = np.random.default_rng(9)
    flagged = unguarded = 0
    for _ in range(300):
        p = np.where(np.arange(60) % 2, 0.95, 0.05)[:, None]
        was = (rng.random((60, 12)) < p).astype(float)
        now = (rng.random((60, 3)) < 0.5).astype(float)
        test = shuffle_test(pair(was, now))
        flagged += test.p_down <= 0.05
        unguarded += test.z < -1.645
    assert unguarded > 20
    assert flagged <= 24  # 8 % of 300: 5 % and its noise


def test_single_rounds_against_many_use_the_spread_between_cases() -> None:
    was, now = np.ones((40, 4)), np.ones((40, 1))
    now[:4] = 0.0
    test = shuffle_test(pair(was, now))
    scatter = (now - 1.0).ravel().var(ddof=1) / 40
    assert test.se**2 < test.se_guard**2 == pytest.approx((test.se**2 + scatter) / 2)
    assert test.p_down > 0.0
    everything = shuffle_test(pair(was, np.zeros((40, 1))))
    assert everything.z_guard < -1e9
    assert everything.p_down < 1e-6
    assert everything.p_up == 1.0


def test_scores_of_single_rounds_use_the_whole_spread() -> None:
    was, now = np.full((40, 4), 0.9), np.full((40, 1), 0.9)
    now[:4] = 0.1
    test = shuffle_test(pair(was, now))
    assert test.se_guard**2 == pytest.approx(now.var(ddof=1) / 40)


def test_cases_of_one_and_of_two_rounds_count_each_in_its_own_way() -> None:
    """Halfway through a second round: own variances where there are two rounds, scatter else."""
    rng = np.random.default_rng(3)
    was = (rng.random((60, 8)) < 0.7).astype(float)
    now = (rng.random((60, 2)) < 0.7).astype(float)
    now[30:, 1] = np.nan
    two = shuffle_test(pair(was[:30], now[:30]))
    one = shuffle_test(pair(was[30:], now[30:, :1]))
    both = shuffle_test(pair(was, now))
    variances = [(t.se_guard * t.information) ** 2 for t in (two, one)]
    assert (both.se_guard * both.information) ** 2 == pytest.approx(sum(variances), rel=0.1)


def test_one_case_alone() -> None:
    test = shuffle_test(pair(np.ones((1, 6)), np.zeros((1, 1))))
    assert test.p_down == pytest.approx(0.5 / 7, abs=0.05)
    assert test.se == test.se_guard


@pytest.mark.parametrize(("rounds_b", "rounds_c"), [(1, 1), (3, 3), (12, 3)])
def test_false_alarms_when_nothing_changed(rounds_b: int, rounds_c: int) -> None:
    rng = np.random.default_rng(rounds_b)
    alarms = 0
    for _ in range(800):
        p = rng.beta(0.5, 0.5, (40, 1))
        was = (rng.random((40, rounds_b)) < p).astype(float)
        now = (rng.random((40, rounds_c)) < p).astype(float)
        alarms += shuffle_test(pair(was, now)).p_down <= 0.05
    assert 8 <= alarms <= 60  # 5 % of 800 are 40, standard deviation 6


def test_false_alarms_with_scores() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(600):
        level = rng.random((15, 1))
        was, now = (level + 0.2 * rng.standard_exponential((15, 3)) for _ in range(2))
        alarms += shuffle_test(pair(was, now)).p_down <= 0.05
    assert 12 <= alarms <= 50  # 30 expected


def test_smallest_possible_p() -> None:
    five = pair(np.ones((5, 1)), np.zeros((5, 1)))
    assert smallest_p(five) == 0.5 / 32
    assert shuffle_test(five).p_down == pytest.approx(smallest_p(five))
    scores = pair(np.full((6, 1), 0.9), np.full((6, 1), 0.1))
    assert shuffle_test(scores).p_down == smallest_p(scores) == 1 / 64
    rounds = pair(np.full((6, 2), 0.9), np.full((6, 2), 0.1))
    assert shuffle_test(rounds).p_down == pytest.approx(smallest_p(rounds))
    assert 0.0 < smallest_p(rounds) < 0.001
    unlike = pair(np.full((2, 4), 0.9), np.full((2, 1), 0.1))
    assert smallest_p(unlike) <= shuffle_test(unlike).p_down * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("was", "now", "cases", "rounds"),
    [
        (np.ones((2, 2)), np.zeros((2, 2)), 3, 3),
        (np.ones((3, 1)), np.zeros((3, 1)), 6, 3),
        (np.ones((1, 12)), np.zeros((1, 1)), 2, 2),
        (np.full((2, 1), 0.9), np.full((2, 1), 0.1), 7, 9),
    ],
)
def test_what_would_be_enough_is_enough_and_no_less_is(was, now, cases, rounds) -> None:
    found = blindness(pair(was, now), 0.01)
    assert found == Blind(
        cases=len(was), rounds=now.shape[1], enough_cases=cases, enough_rounds=rounds
    )

    def worst(cases: int, rounds: int) -> float:
        b = np.full((cases, was.shape[1]), was[0, 0])
        return shuffle_test(pair(b, np.full((cases, rounds), now[0, 0]))).p_down

    assert worst(cases, now.shape[1]) <= 0.01 < worst(cases - 1, now.shape[1])
    assert worst(len(was), rounds) <= 0.01 < worst(len(was), rounds - 1)
    assert blindness(pair(was, now), 0.5) is None
    assert smallest_p(pair(np.ones((20, 1)), np.ones((20, 1)))) == 0.0


def test_p_values_of_single_cases() -> None:
    was = np.array([[1.0] * 8, [1.0] * 8, [0.0, 1.0] * 4])
    now = np.array([[0.0] * 4, [1.0] * 4, [0.0, 1.0] * 2])
    p = case_p_values(pair(was, now))
    assert p[0] == pytest.approx(1 / 495)  # mid-p: half of it, times two sides
    assert p[1] == 1.0
    assert p[2] == 1.0
    assert case_p_values(pair(was[:0], now[:0])).shape == (0,)


def test_a_very_long_baseline_does_not_overflow() -> None:
    was, now = np.ones((6, 3000)), np.ones((6, 2))
    now[0, 0] = 0.0
    assert 0.0 < shuffle_test(pair(was, now)).p_down < 1.0


def test_skewness_far_out_in_a_huge_suite_never_turns_round() -> None:
    """Too many rounds for the exact distribution: the correction stops where it would bend."""
    was, now = np.ones((4500, 40)), np.ones((4500, 2))
    now[:, 0] = 0.0
    assert shuffle_test(pair(was, now)).p_down < 1e-6


def test_a_hundred_thousand_cases_are_quick() -> None:
    rng = np.random.default_rng(0)
    p = rng.random((100_000, 1))
    was, now = ((rng.random((100_000, 3)) < p).astype(float) for _ in range(2))
    data = pair(was, now)
    assert calls(lambda: shuffle_test(data)) < 5_000  # 500: there is no loop over cases


@pytest.mark.parametrize(("cases", "rounds_b"), [(1, 12), (2, 3)])
def test_one_odd_score_is_no_rarer_than_it_is_among_so_many(cases: int, rounds_b: int) -> None:
    """Student's curve would have one low score of thirteen equal ones at 0.2 %: it is one of 13."""
    found = shuffle_test(pair(np.full((cases, rounds_b), 0.9), np.full((cases, 1), 0.1)))
    assert found.p_down >= (1.0 / (rounds_b + 1)) ** cases
