"""Kappa and alpha: what cannot be told has a reason, intervals hold what they promise."""

import numpy as np
import pytest

from gate.stats.agreement import Design, krippendorff_alpha, weighted_kappa

SKEWED = (0.03, 0.05, 0.12, 0.3, 0.5)  # most answers are good


def ratings(rng, answers, noise, raters=2):
    true = rng.choice(np.arange(1.0, 6.0), size=answers, p=SKEWED)
    return np.clip(np.rint(true + rng.normal(0, noise, (raters, answers))), 1, 5)


def test_a_few_cases_tell_nothing():
    found = weighted_kappa(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 3, 4]))
    assert np.isnan(found.value)
    assert found.reason == "needs 5 rated cases, has 4"


def test_many_answers_of_a_few_cases_are_a_few_cases():
    design = Design(
        cases=np.repeat(np.arange(4), 10), strata=np.zeros(40, int), weights=np.ones(40)
    )
    values = np.tile([1.0, 3.0], 20)
    assert weighted_kappa(values, values, design=design).reason.endswith("has 4")


@pytest.mark.parametrize("constant", [0, 1])
def test_a_rater_with_one_word_for_everything_cannot_agree_beyond_chance(constant):
    raters = [np.array([1.0, 2, 3, 4, 5, 5]), np.array([1.0, 2, 3, 4, 5, 5])]
    raters[constant] = np.full(6, 3.0)
    found = weighted_kappa(*raters)
    assert np.isnan(found.value)
    assert "all ratings are equal" in found.reason


def test_alpha_needs_two_raters_on_an_answer():
    alone = np.vstack([[1.0, 2, 3, 4, 5, 1], np.full(6, np.nan)])
    assert krippendorff_alpha(alone).reason == "no answer has two ratings"
    assert krippendorff_alpha(alone[:1]).reason == "no answer has two ratings"


def test_alpha_of_a_few_answers_rated_by_two_says_so():
    some = np.vstack([[1.0, 2, 3, 4, 5, 1], [1, 2, 3, np.nan, np.nan, np.nan]])
    found = krippendorff_alpha(some)
    assert found.reason == "needs 5 cases with two ratings, has 3"


def test_alpha_of_one_value_says_so():
    assert "equal" in krippendorff_alpha(np.full((3, 8), 4.0)).reason


def test_full_agreement_of_few_cases_does_not_prove_full_agreement():
    values = np.tile([1.0, 2, 3, 4, 5], 2)
    few, many = (
        weighted_kappa(values, values),
        weighted_kappa(np.tile(values, 20), np.tile(values, 20)),
    )
    assert (few.value, few.high) == (1.0, 1.0)
    assert few.low < 0.95 < many.low < 1.0


def test_five_cases_are_enough():
    ratings = np.array([[1.0, 2, 3, 4, 5], [1.0, 2, 3, 5, 4]])
    assert krippendorff_alpha(ratings).value > 0.5
    assert "5 cases" in krippendorff_alpha(ratings[:, :4]).reason


def test_full_disagreement_is_below_chance():
    values = np.tile([1.0, 5.0], 10)
    found = weighted_kappa(values, values[::-1])
    assert found.value == pytest.approx(-1.0)
    assert found.low >= -1.0


def test_the_order_of_answers_and_the_unit_of_weights_do_not_matter():
    rng = np.random.default_rng(1)
    people, judge = ratings(rng, 40, 1.0)
    whole = weighted_kappa(people, judge)
    turned = rng.permutation(40)
    scaled = Design(cases=np.arange(40), strata=np.zeros(40, int), weights=np.full(40, 7.5))
    assert weighted_kappa(people[turned], judge[turned]).low == pytest.approx(whole.low)
    assert weighted_kappa(people, judge, design=scaled).low == pytest.approx(whole.low)


def test_answers_of_one_case_tell_less_than_answers_of_many():
    rng = np.random.default_rng(2)
    people, judge = (np.repeat(one, 3) for one in ratings(rng, 20, 1.0))
    apart = weighted_kappa(people, judge)
    together = Design(
        cases=np.repeat(np.arange(20), 3), strata=np.zeros(60, int), weights=np.ones(60)
    )
    joined = weighted_kappa(people, judge, design=together)
    assert joined.value == pytest.approx(apart.value)
    assert joined.high - joined.low > 1.4 * (apart.high - apart.low)


def test_weights_undo_a_sample_that_leans_towards_what_is_uncertain():
    rng = np.random.default_rng(3)
    sure, unsure = ratings(rng, 20_000, 0.3), ratings(rng, 20_000, 2.0)
    true = weighted_kappa(*np.hstack([sure[:, :4000], unsure[:, :1000]])).value
    leaning = np.hstack([sure[:, 5000:5400], unsure[:, 5000:5400]])
    design = Design(
        cases=np.arange(800),
        strata=np.repeat([0, 1], 400),
        weights=np.repeat([4.0, 1.0], 400),
    )
    assert weighted_kappa(*leaning).value < true - 0.1
    assert weighted_kappa(*leaning, design=design).value == pytest.approx(true, abs=0.05)


def yes_or_no(rng, answers, wrong):
    """Four of five answers are good; each rater errs on a share of them."""
    good = rng.random(answers) < 0.8
    return (good ^ (rng.random((2, answers)) < wrong)).astype(float)


@pytest.mark.parametrize(
    ("draw", "cases", "noise"),
    [
        (ratings, 10, 0.4),
        (ratings, 20, 1.0),
        (ratings, 50, 1.0),
        (yes_or_no, 10, 0.05),
        (yes_or_no, 20, 0.02),
        (yes_or_no, 20, 0.2),
    ],
)
def test_each_bound_misses_at_most_as_often_as_it_may(draw, cases, noise):
    rng = np.random.default_rng(4)
    first, second = draw(rng, 200_000, noise)
    apart = (first - second) ** 2
    chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    true = 1.0 - apart.mean() / chance
    below = above = told = 0
    for _ in range(400):
        found = weighted_kappa(*draw(rng, cases, noise))
        told += not found.reason
        below += true < found.low
        above += true > found.high
    assert below / told < 0.025 + 0.015  # two standard errors
    assert above / told < 0.025 + 0.015
    assert told > 350


def test_ten_answers_that_agree_do_not_prove_that_three_of_ten_do_not_differ():
    """97.5 % of samples with three of ten different have one among ten (exact: 31 %)."""
    agreed = np.array([1.0] * 8 + [0.0] * 2)
    found = weighted_kappa(agreed, agreed)
    by_chance = 2 * 0.8 * 0.2
    assert found.value == 1.0
    assert found.low < 1.0 - 0.3 / by_chance
