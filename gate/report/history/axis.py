"""Round numbers along an axis."""

from __future__ import annotations

import math

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_FLAT = 0.1  # of the largest value: less up and down does not fill the whole height


def choose_ticks(low: float, high: float, most: int) -> tuple[float, ...]:
    """At most `most` + 1 round numbers with equal distances, the first at or below `low` and the
    last at or above `high`. A range of almost nothing is widened: chance must not look like
    mountains.
    """
    span = max(high - low, _FLAT * max(abs(low), abs(high)), 1e-9)
    middle = (low + high) / 2
    bottom, top = middle - span / 2, middle + span / 2
    if low >= 0:
        bottom = max(0.0, bottom)
    power = 10.0 ** math.floor(math.log10(span / most))
    for step in (power * factor for factor in (*_STEPS, 20.0, 50.0)):
        first, last = math.floor(bottom / step + 1e-9), math.ceil(top / step - 1e-9)
        if last - first <= most:
            break
    return tuple(round(number * step, 12) for number in range(first, last + 1))


def spread_evenly(amount: int, most: int) -> tuple[int, ...]:
    """At most `most` of the numbers 0 to `amount` - 1, the ends among them."""
    if amount <= most:
        return tuple(range(amount))
    return tuple(sorted({round(n * (amount - 1) / (most - 1)) for n in range(most)}))
