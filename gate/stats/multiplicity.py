"""Several tests at once: Holm's step-down and the Benjamini-Hochberg step-up procedure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def step_down(
    p_values: Sequence[float], worth: Callable[[int, int], float], sharing: int, alpha: float = 1.0
) -> list[float]:
    """Adjusted p-values: Holm's test (1979) with family-wise error alpha rejects those of at most
    alpha.

    Test i of `sharing` tests that share alpha is multiplied by `worth(i, sharing)`: `sharing` for a
    test of a fixed size, more if interim looks spend alpha, too (Ye, Li, Liu and Yao 2013). Once an
    adjusted p-value exceeds `alpha`, nothing else is rejected, and exact factors, which may be
    slow, are not computed any more.
    """
    first = [worth(i, sharing) for i in range(len(p_values))]
    order = sorted(range(len(p_values)), key=lambda i: p_values[i] * first[i])
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        left = sharing - rank
        factor = worth(i, left) if running <= alpha else first[i] * left / sharing
        running = max(running, min(1.0, factor * p_values[i]))
        adjusted[i] = running
    return adjusted


def benjamini_hochberg(p_values: Sequence[float] | Array) -> Array:
    """q-values (Benjamini and Hochberg 1995): a test with a value of at most q is rejected at the
    false discovery rate q.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return q
