"""Several tests at once: Holm's step-down and the Benjamini-Hochberg step-up procedure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values: at most alpha where Holm (1979) rejects with family-wise error alpha."""
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = running
    return adjusted


def benjamini_hochberg(p_values: Sequence[float] | Array) -> Array:
    """q-values: at most q where the procedure (1995) rejects with false discovery rate q."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    q = np.empty(len(p))
    q[order] = np.minimum(1.0, np.minimum.accumulate(scaled[::-1])[::-1])
    return q
