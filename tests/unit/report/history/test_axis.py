import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.report.history.axis import choose_ticks, spread_evenly

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.61, 0.98, (0.6, 0.7, 0.8, 0.9, 1.0)),
        (0.9, 0.9, (0.84, 0.86, 0.88, 0.9, 0.92, 0.94, 0.96)),
        (913, 5704, (0, 2000, 4000, 6000)),
        (0.0079, 0.021, (0.005, 0.01, 0.015, 0.02, 0.025)),
    ],
)
def test_ticks_are_round_and_reach_over_the_values(low, high, ticks):
    assert choose_ticks(low, high, len(ticks) - 1) == pytest.approx(ticks)


@given(NUMBERS, NUMBERS, st.integers(2, 8))
def test_ticks_hold_every_range(one, other, most):
    low, high = sorted((one, other))
    ticks = choose_ticks(low, high, most)
    room = 1e-6 * max(1.0, abs(low), abs(high))
    assert ticks[0] <= low + room
    assert ticks[-1] >= high - room
    assert 2 <= len(ticks) <= most + 2


@pytest.mark.parametrize(
    ("amount", "most", "chosen"),
    [(0, 3, ()), (1, 3, (0,)), (3, 3, (0, 1, 2)), (24, 3, (0, 12, 23)), (9, 3, (0, 4, 8))],
)
def test_dates_are_spread_over_the_runs(amount, most, chosen):
    assert spread_evenly(amount, most) == chosen
