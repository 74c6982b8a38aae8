"""Stated odds that noise breaks a limit, beside the share of unchanged runs that break it."""

from collections.abc import Callable

import numpy as np
import pytest

from gate.stats.noise_odds import Level, RoundPlan, estimate_level, odds_beyond

Array = np.ndarray
Z = 2.326  # of an interval one-sided at 1 %
LIKE = 10_000  # unchanged runs


def share_that_breaks(
    first: Array, rest: Array, limit: float, *, part: float, below: bool = True
) -> float:
    """Of runs whose planned rounds have the mean `first`; `part` of all rounds are planned."""
    sign = 1.0 if below else -1.0
    whole = part * first + (1.0 - part) * rest
    return float(((sign * (limit - first) > 1e-9) & (sign * (limit - whole) > 1e-9)).mean())


@pytest.mark.parametrize("cases", [5, 40, 200])
@pytest.mark.parametrize("rounds", [1, 3, 5])
@pytest.mark.parametrize("share", [0.8, 0.95, 1.0])
@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("more", [1, 2])
def test_stated_odds_are_the_share_of_unchanged_runs_that_break_the_limit(
    cases: int, rounds: int, share: float, alike: bool, more: int
) -> None:
    """Of an agent whose level is known well, with limits at its level and one and two standard
    errors below it: within 4 points, within 6 of a suite of five cases.
    """
    rng = np.random.default_rng(7)
    chances = np.full(cases, share)
    if not alike and share < 1.0:
        chances = rng.beta(2 * share, 2 * (1.0 - share), cases)
    stored = (rng.random((cases, 8_000)) < chances[:, None]).astype(float)
    level = estimate_level(stored, low=0.0, high=1.0, cases=cases)
    first = rng.binomial(rounds, chances, (LIKE, cases)).mean(axis=1) / rounds
    rest = rng.binomial(rounds, chances, (LIKE, cases)).mean(axis=1) / rounds
    sd = float(first.std())
    for limit in (chances.mean(), chances.mean() - sd, chances.mean() - 2 * sd):
        seen = share_that_breaks(first, rest, limit, part=1.0 / more)
        size = RoundPlan(planned=rounds, cap=more * rounds, z=Z)
        stated = odds_beyond(level, limit, "below", size)
        assert stated == pytest.approx(seen, abs=0.06 if cases < 40 else 0.04)


@pytest.mark.parametrize("cases", [5, 40])
@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("kind", ["score", "cost"])
def test_so_it_is_of_scores_and_costs(cases: int, rounds: int, kind: str) -> None:
    rng = np.random.default_rng(11)
    usual = rng.normal(0.0, 0.5, cases)

    def ask(number: int, like: int) -> Array:
        noise = rng.normal(0.0, 0.7, (like, cases, number))
        if kind == "cost":
            return np.exp(usual[:, None] + noise)
        return np.clip(np.rint(4.2 + usual[:, None] + noise), 1.0, 5.0)

    below = kind == "score"
    level = estimate_level(
        ask(20_000, 1)[0], low=1.0 if below else 0.0, high=5.0 if below else None, cases=cases
    )
    first, rest = (ask(rounds, LIKE // 4).mean(axis=(1, 2)) for _ in range(2))
    sd = float(first.std()) * (-1 if below else 1)
    for limit in (level.value, level.value + sd, level.value + 2 * sd):
        seen = share_that_breaks(first, rest, limit, part=0.5, below=below)
        size = RoundPlan(planned=rounds, cap=2 * rounds, z=Z)
        stated = odds_beyond(level, limit, "below" if below else "above", size)
        assert stated == pytest.approx(seen, abs=0.05)


@pytest.mark.parametrize(("share", "most"), [(0.8, 0.06), (0.95, 0.06), (1.0, 0.06)])
@pytest.mark.parametrize("make", [lambda n: 4 * n, lambda n: 16 * n])
def test_a_level_from_stored_rounds_states_it_within_a_few_points_on_average(
    share: float, most: float, make: Callable[[int], int]
) -> None:
    """The baseline's level is itself measured: over 400 baselines of 40 cases x 3 rounds."""
    rng = np.random.default_rng(5)
    limit = share - 2.0 * (share * (1.0 - share) / 120) ** 0.5
    size = RoundPlan(planned=3, cap=3, z=Z)
    stated = [
        odds_beyond(
            estimate_level(
                (rng.random((40, make(3))) < share).astype(float), low=0.0, high=1.0, cases=40
            ),
            limit,
            "below",
            size,
        )
        for _ in range(400)
    ]
    seen = (rng.binomial(120, share, LIKE) / 120 < limit - 1e-9).mean()
    assert np.mean(stated) == pytest.approx(seen, abs=most)


def known(**changes: object) -> Level:
    made = {"value": 0.9, "noise": 0.09, "spread": 0.09, "cases": 40, "low": 0.0, "high": 1.0}
    return Level(**{**made, **changes})


def test_a_session_effect_makes_it_likelier() -> None:
    size = RoundPlan(planned=3, cap=3, z=Z)
    alone = odds_beyond(known(), 0.82, "below", size)
    assert odds_beyond(known(shared=0.03**2), 0.82, "below", size) > 3 * alone


def test_more_rounds_for_a_value_in_doubt_make_it_rarer() -> None:
    once = odds_beyond(known(), 0.88, "below", RoundPlan(planned=3, cap=3, z=Z))
    twice = odds_beyond(known(), 0.88, "below", RoundPlan(planned=3, cap=6, z=Z))
    assert 0.3 * once < twice < 0.8 * once
    far = odds_beyond(known(), 1.0, "below", RoundPlan(planned=3, cap=6, z=Z))
    assert far == pytest.approx(1.0)


def test_a_value_on_its_limit_keeps_it() -> None:
    five = known(value=0.8, noise=0.16, spread=0.16, cases=5, integral=True)
    assert odds_beyond(five, 0.8, "below", RoundPlan(planned=1, cap=1, z=Z)) == pytest.approx(
        1 - 0.8**5 - 5 * 0.8**4 * 0.2
    )


def test_rounds_that_all_agree_do_not_prove_that_there_is_no_noise() -> None:
    level = estimate_level(np.ones((40, 3)), low=0.0, high=1.0, cases=40)
    broken = odds_beyond(level, 1.0, "below", RoundPlan(planned=3, cap=3, z=Z))
    assert 0.05 < broken < 0.15
    assert odds_beyond(level, 0.97, "below", RoundPlan(planned=3, cap=3, z=Z)) < 0.01


def test_without_a_value_there_is_no_level() -> None:
    assert estimate_level(np.full((3, 2), np.nan), low=0.0, high=1.0, cases=3) is None
