"""Intervals and estimates after an early end: as often right as they say, on random paths."""

import numpy as np
import pytest

from gate.stats.boundaries import FAR, boundaries
from gate.stats.distributions import normal_quantile
from gate.stats.stagewise import StopRegions, level_at_any_look, stage_levels

ALPHA = 0.05
TIMES = (0.3, 0.6, 1.0)
PLAN = boundaries(TIMES, ALPHA, 0.2)
RUNS = 1_000


def ends(drift: float, seed: int, *, futility: tuple[float, ...]) -> list[tuple[int, float]]:
    """The look at which each run ended, and its evidence."""
    steps = np.diff(np.array([0.0, *TIMES]))
    noise = np.random.default_rng(seed).standard_normal((RUNS, len(TIMES)))
    walk = np.cumsum(noise * np.sqrt(steps) + drift * steps, axis=1) / np.sqrt(TIMES)
    over = (walk >= np.array(PLAN.harm)) | (walk <= np.array(futility))
    over[:, -1] = True
    looks = over.argmax(axis=1)
    return list(zip(looks.tolist(), walk[np.arange(RUNS), looks].tolist(), strict=True))


def drifts(look: int, evidence: float, futility: tuple[float, ...]) -> tuple[float, float, float]:
    """Bounds of the drift, and its estimate between them."""
    regions = StopRegions(
        times=TIMES[: look + 1], harm=PLAN.harm[: look + 1], futility=futility[: look + 1]
    )
    levels = stage_levels(regions, evidence, ALPHA)
    root = TIMES[look] ** 0.5
    low, middle = (normal_quantile(1.0 - p) for p in (levels.least, levels.middle))
    high = normal_quantile(1.0 - levels.most)
    return (evidence - low) / root, (evidence - middle) / root, (evidence + high) / root


@pytest.mark.parametrize("drift", [0.0, PLAN.drift])
def test_bounds_and_estimate_are_as_often_right_as_they_say(drift: float) -> None:
    found = [drifts(*one, PLAN.futility) for one in ends(drift, 5, futility=PLAN.futility)]
    low, middle, high = (np.array(column) for column in zip(*found, strict=True))
    assert (low > drift).mean() <= ALPHA + 0.015
    assert (high < drift).mean() == pytest.approx(ALPHA, abs=0.02)
    assert (middle > drift).mean() == pytest.approx(0.5, abs=0.05)
    assert (low <= middle).all()
    assert (middle <= high).all()


def test_zero_is_excluded_just_where_the_test_says_worse() -> None:
    """Also where a plan goes on after a look at which it seemed harmless."""
    for futility in (PLAN.futility, (-FAR,) * len(TIMES)):
        for look, evidence in ends(2.0, 6, futility=futility)[:150]:
            low, *_ = drifts(look, evidence, futility)
            assert (low > 0.0) is (evidence >= PLAN.harm[look])


def test_an_early_end_exaggerates_and_the_estimate_corrects_it() -> None:
    blocked = [one for one in ends(2.0, 7, futility=PLAN.futility) if one[1] >= PLAN.harm[one[0]]]
    seen = np.mean([evidence / TIMES[look] ** 0.5 for look, evidence in blocked])
    corrected = np.mean([drifts(*one, PLAN.futility)[1] for one in blocked])
    assert 2.0 < corrected < seen - 0.1


def test_a_single_look_is_a_test_of_a_fixed_size() -> None:
    regions = StopRegions(times=(1.0,), harm=(2.3,), futility=(2.3,))
    levels = stage_levels(regions, 1.0, 0.01)
    assert (levels.least, levels.middle, levels.most) == (0.01, 0.5, 0.01)
    assert level_at_any_look((1.0,), 0, 0.01) == 0.01


def test_bounds_that_hold_at_every_look() -> None:
    """Whoever stops at the look that is worst for the bound is wrong with alpha."""
    z = np.array([normal_quantile(1 - level_at_any_look(TIMES, k, ALPHA)) for k in range(3)])
    noise = np.random.default_rng(8).standard_normal((20_000, len(TIMES)))
    walk = np.cumsum(noise * np.sqrt(np.diff([0.0, *TIMES])), axis=1) / np.sqrt(TIMES)
    assert (walk >= z).any(axis=1).mean() == pytest.approx(ALPHA, abs=0.005)
    assert max(z) / min(z) < 1.1
