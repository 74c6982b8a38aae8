"""What must hold of group-sequential boundaries whenever the looks come."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gate.stats.boundaries import boundaries
from gate.stats.distributions import normal_quantile

ALPHAS = st.sampled_from([0.05, 0.01, 0.0025, 1e-4])
BETAS = st.sampled_from([0.05, 0.1, 0.2, 0.3])


@st.composite
def looks(draw: st.DrawFn) -> tuple[float, ...]:
    """Up to ten, some almost together."""
    steps = draw(st.lists(st.sampled_from([1, 5, 10, 30, 100]), min_size=1, max_size=10))
    reached, times = 0, []
    for step in steps:
        reached += step
        times.append(reached)
    return tuple(time / reached for time in times)


@settings(max_examples=40)
@given(looks(), ALPHAS, BETAS)
def test_looks_only_cost(times: tuple[float, ...], alpha: float, beta: float) -> None:
    """No look is easier than a single one would be, and the same power needs a larger change."""
    found = boundaries(times, alpha, beta)
    assert len(found.harm) == len(found.futility) == len(found.proof) == len(times)
    assert min(found.harm) >= normal_quantile(1.0 - alpha) - 1e-4
    assert min(found.proof) >= normal_quantile(1.0 - beta) - 1e-4
    fixed = normal_quantile(1.0 - alpha) + normal_quantile(1.0 - beta)
    assert fixed - 1e-3 <= found.drift <= 1.5 * fixed


@settings(max_examples=40)
@given(looks(), ALPHAS, BETAS)
def test_the_boundaries_meet_at_the_last_look_and_never_cross(
    times: tuple[float, ...], alpha: float, beta: float
) -> None:
    found = boundaries(times, alpha, beta)
    assert found.futility[-1] == found.harm[-1]
    assert all(f <= h for f, h in zip(found.futility, found.harm, strict=True))


@pytest.mark.parametrize("gap", [0.05, 0.01, 0.001, 1e-4])
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_looks_that_almost_coincide_are_almost_one_look(gap: float, alpha: float) -> None:
    """The second has little to spend, but few paths can cross there that have not crossed."""
    twice, once = boundaries((0.5, 0.5 + gap, 1.0), alpha, 0.2), boundaries((0.5, 1.0), alpha, 0.2)
    near = 4.0 * gap**0.5
    assert twice.harm == pytest.approx((once.harm[0], once.harm[0], once.harm[1]), abs=near)
    assert twice.drift == pytest.approx(once.drift, abs=near / 10.0)
    assert twice.futility[1] == pytest.approx(once.futility[0], abs=near)


@settings(max_examples=20)
@given(looks(), BETAS)
def test_a_stricter_level_asks_for_more(times: tuple[float, ...], beta: float) -> None:
    loose, strict = boundaries(times, 0.05, beta), boundaries(times, 0.01, beta)
    assert all(a < b for a, b in zip(loose.harm, strict.harm, strict=True))
    assert loose.drift < strict.drift


@settings(max_examples=20)
@given(looks(), ALPHAS)
def test_a_boundary_does_not_depend_on_looks_to_come(
    times: tuple[float, ...], alpha: float
) -> None:
    """So that a run may be looked at, or ended, at other times than planned."""
    assume(len(times) > 1)
    fewer = (*times[:-2], 1.0)
    one, other = boundaries(times, alpha, 0.2), boundaries(fewer, alpha, 0.2)
    assert one.harm[: len(times) - 2] == pytest.approx(other.harm[: len(times) - 2], abs=1e-9)
