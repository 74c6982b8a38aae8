"""What a plan can see: the figures of docs/statistics.md, other formulas for them, simulation."""

import math

import numpy as np
import pytest

from gate.records import Looks
from gate.stats.distributions import normal_quantile
from gate.stats.planning import (
    PlanEnds,
    PlanSize,
    Risks,
    cases_for,
    forecast_ends,
    least_change,
    mean_share_of_all,
    rounds_for,
    wald_floor,
)
from gate.verdict.comparability import stand
from gate.verdict.interim_looks import find_position
from tests.support.verdict_tables import build, passing, suite_data

RISKS = Risks(alpha=0.01, beta=0.2)
SD = math.sqrt(0.084)  # of a call, in the suites that the reference figures are of


def size(cases=100, rounds=3.0, rounds_b=12.0, looks=10, shared=0.0):
    return PlanSize(cases=cases, rounds=rounds, rounds_b=rounds_b, looks=looks, shared=shared)


@pytest.mark.parametrize(
    ("cases", "points"),
    [
        (10, (35, 20, 16)),
        (40, (18, 10, 7.9)),
        (100, (11, 6.5, 5.0)),
        (300, (6.5, 3.7, 2.9)),
        (1000, (3.5, 2.0, 1.6)),
    ],
)
def test_the_least_change_of_the_reference_suites(cases, points):
    """Main has four times the rounds; ten looks; 1, 3 and 5 rounds."""
    for rounds, expected in zip((1, 3, 5), points, strict=True):
        found = 100 * SD * least_change(size(cases, rounds, 4 * rounds), RISKS)
        digits = 0 if expected >= 8 else 1
        assert round(found, digits) == expected


def test_one_look_is_the_textbook_formula():
    z_alpha, z_beta = 2.326348, 0.841621
    expected = (z_alpha + z_beta) * math.sqrt((1 / 3 + 1 / 12) / 100)
    assert least_change(size(looks=1), RISKS) == pytest.approx(expected, rel=1e-6)


def test_the_least_change_needs_the_cases_and_rounds_that_it_was_found_for():
    for one in (size(), size(rounds_b=None), size(looks=1, shared=1e-4)):
        change = least_change(one, RISKS)
        assert cases_for(change, one, RISKS) == pytest.approx(one.cases)
        assert rounds_for(change, one, RISKS) == pytest.approx(one.rounds)


def test_calls_for_five_points_with_and_without_early_ends():
    """One round a case: 422 calls fixed; ten looks have a cap of 500, of which 0.38 and 0.62 are
    made.
    """
    change = 0.05 / SD
    fixed = cases_for(change, size(rounds=1, rounds_b=4, looks=1), RISKS)
    cap = cases_for(change, size(rounds=1, rounds_b=4), RISKS)
    assert (fixed, cap) == (pytest.approx(422, abs=1), pytest.approx(500, abs=1))
    enough = size(cases=cap, rounds=1, rounds_b=4)
    unchanged = forecast_ends(enough, RISKS, change=0.0, tolerance=0.0)
    changed = forecast_ends(enough, RISKS, change=change, tolerance=0.0)
    assert unchanged.mean_share == pytest.approx(0.385, abs=0.01)
    assert changed.mean_share == pytest.approx(0.62, abs=0.01)
    assert unchanged.caught <= 0.01
    assert changed.caught == pytest.approx(0.8, abs=1e-3)


def test_the_reference_suite_with_a_cap_of_twice_its_rounds():
    """100 x 3, main has 12 rounds: 178 of 600 calls when nothing changed, simulated."""
    one = size(rounds=6, looks=20)
    assert 600 * forecast_ends(
        one, RISKS, change=0.0, tolerance=0.02 / SD
    ).mean_share == pytest.approx(178, abs=8)
    assert forecast_ends(one, RISKS, change=0.10 / SD, tolerance=0.02 / SD).caught > 0.98


def test_a_simulated_random_walk_ends_as_computed():
    one, change, tolerance = size(looks=5), 0.2, 0.07
    plan, rng = one.boundaries(RISKS), np.random.default_rng(3)
    t = np.array(plan.times)
    steps = rng.standard_normal((200_000, 5)) * np.sqrt(np.diff(t, prepend=0.0))
    harm = (np.cumsum(steps, axis=1) + change / one.spread * t) / np.sqrt(t)
    allowed = tolerance / one.spread * np.sqrt(t)
    bars = np.maximum(plan.harm, allowed + np.array([1, 1, 1, 1, 0]))
    accused = harm >= bars
    acquitted = (harm <= plan.futility) | (harm <= allowed - np.array(plan.proof))
    acquitted &= (harm < normal_quantile(0.96)) | (harm < allowed)  # no strong suspicion
    acquitted[:, -1] = True
    first = np.argmax(accused | acquitted, axis=1)
    found = forecast_ends(one, RISKS, change=change, tolerance=tolerance)
    assert found.mean_share == pytest.approx(((first + 1) / 5).mean(), abs=0.003)
    assert found.caught == pytest.approx(accused[np.arange(len(first)), first].mean(), abs=0.004)


def test_a_change_as_large_as_the_tolerance_is_called_one_about_half_of_the_time():
    found = forecast_ends(size(cases=10_000), RISKS, change=0.1, tolerance=0.1)
    assert 0.4 < found.caught < 0.6


def test_an_enormous_suite_is_no_numerical_trouble():
    one = size(cases=1_000_000)
    assert forecast_ends(one, RISKS, change=0.0, tolerance=0.07).mean_share == pytest.approx(0.1)
    assert forecast_ends(one, RISKS, change=0.2, tolerance=0.07).caught == pytest.approx(
        1.0, abs=1e-6
    )


def test_looks_come_when_those_of_a_run_come():
    baseline, current = build({"success": passing(20, 4)}), build({"success": passing(20, 3)})
    looks = Looks(calls=(12, 24, 36, 48, 60))
    data = suite_data(name="s", current=current, baseline=baseline, looks=looks, made=60, chosen=20)
    run = find_position(data, stand(data, max_removed=0.1).pairing)
    assert size(cases=20, rounds=3, rounds_b=4, looks=5).times() == pytest.approx(run.times)


def test_without_a_stored_baseline_information_grows_with_the_calls():
    assert size(rounds_b=None, looks=4).times() == (0.25, 0.5, 0.75, 1.0)


def test_too_few_shuffles_catch_nothing():
    assert math.isinf(least_change(size(cases=5, rounds=1, rounds_b=1, looks=1), RISKS))
    assert math.isfinite(least_change(size(cases=6, rounds=1, rounds_b=1, looks=1), RISKS))


def test_a_small_baseline_limits_what_rounds_can_do():
    change = 0.8 * least_change(size(rounds=300, rounds_b=3), RISKS)
    assert math.isinf(rounds_for(change, size(rounds_b=3), RISKS))
    assert math.isfinite(cases_for(change, size(rounds_b=3), RISKS))


def test_the_session_effect_hides_what_no_number_of_calls_shows():
    one = size(shared=0.01)
    assert least_change(one, RISKS) > least_change(size(), RISKS)
    assert math.isinf(cases_for(0.2, one, RISKS))
    assert math.isinf(rounds_for(0.2, one, RISKS))


def test_the_floor_is_walds():
    """104 and 215 calls for five points at these errors."""
    floor = wald_floor(0.05 / SD, RISKS)
    assert (round(floor.unchanged), round(floor.changed)) == (103, 214)


def test_several_metrics_end_when_the_last_one_does():
    early, late = PlanEnds(stopped=(1.0, 1.0), caught=0.0), PlanEnds(stopped=(0.0, 1.0), caught=0.0)
    assert mean_share_of_all([early, late]) == late.mean_share == 1.0
    halves = [PlanEnds(stopped=(0.5, 1.0), caught=0.0)] * 2
    assert halves[0].mean_share == 0.75
    assert mean_share_of_all(halves) == 0.875


def test_a_plan_that_waits_for_an_improvement_makes_more_calls_when_nothing_changed():
    """100 x 3 and main has 12 rounds: 268 of 600 calls instead of 180."""
    one = size(rounds=6, looks=20)
    alone, both = (
        600 * forecast_ends(one, RISKS, change=0.0, tolerance=0.02 / SD, both=both).mean_share
        for both in (False, True)
    )
    assert both == pytest.approx(268, abs=5)
    assert both > alone + 60
