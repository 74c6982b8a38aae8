"""The simulation of slow rot judges histories by its own copy of the rule: it is the gate's."""

from __future__ import annotations

import pytest

from benchmarks.rot import NEVER, RUNS, World, first_red, first_red_by_gate

ROT = (0.0,) * RUNS + tuple(0.015 * merge for merge in range(1, 11) for _ in range(2))
RISE_AND_ROT = (0.0,) * RUNS + (-0.1,) * 12 + (0.05,) * 6


@pytest.mark.parametrize("wanted", ["release", "best"])
@pytest.mark.parametrize("tau", [0.0, 0.02])
def test_the_simulated_nights_end_as_those_of_the_gate(wanted: str, tau: float) -> None:
    worlds = [World(cases=60, falls=falls, tau=tau, wanted=wanted) for falls in (ROT, RISE_AND_ROT)]
    simulated = [first_red(n, seed=4, world=world) for world in worlds for n in range(4)]
    assert simulated == [
        first_red_by_gate(n, seed=4, world=world) for world in worlds for n in range(4)
    ]
    assert len(set(simulated)) > 2
    assert min(simulated) < NEVER


def test_the_best_level_is_followed_in_the_simulation() -> None:
    release, best = (
        [
            first_red(n, seed=4, world=World(cases=60, falls=RISE_AND_ROT, tau=0.0, wanted=wanted))
            for n in range(8)
        ]
        for wanted in ("release", "best")
    )
    assert sum(best) < sum(release)
