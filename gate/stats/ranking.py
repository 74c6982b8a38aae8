"""One ranked list against relevance judgements: every metric and cut-off in one pass.

Definitions and values are those of trec_eval, up to rounding (Voorhees and Harman 2005; nDCG:
Järvelin and Kekäläinen 2002). Plain Python: numpy over all queries is not faster, and for one query
several times slower (benchmarks/README.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate, count
from math import exp2, expm1, log, log2
from operator import mul, truediv
from typing import Literal

Gain = Literal["linear", "exponential"]

_LARGE = 60.0  # from here on 2^gain - 1 is 2^gain
_SAFE = (1e-100, 1e100)  # sums of gains on this scale neither overflow nor lose digits
_DISCOUNTS = (0.0, *[1.0 / log2(rank + 1) for rank in range(1, 1_001)])  # by rank


def measures(
    ids: Sequence[str],
    relevant: Mapping[str, float],
    *,
    cutoffs: tuple[int, ...],
    reciprocal_cutoffs: tuple[int, ...] = (),
    gain: Gain = "linear",
    over_retrieved: bool = False,
) -> dict[str, float]:
    """The metrics by name: precision, recall, hit_rate and ndcg `@k` for each of `cutoffs`, `mrr@k`
    for each of `reciprocal_cutoffs`, mrr and map over the whole list.

    `ids`: best first, each once. `relevant`: id -> gain above 0, of at least one document. Cut-offs
    are 1 or more. `over_retrieved`: precision is divided by the number of ids if that is below k.
    """
    total = len(relevant)
    ranks = [rank for rank, document in enumerate(ids, 1) if document in relevant]
    gains = [relevant[ids[rank - 1]] for rank in ranks]
    best = sorted(relevant.values(), reverse=True)
    dcg = _discount_gains(_scale_gains(gains, best[0], gain), ranks)
    ideal = _discount_gains(_scale_gains(best, best[0], gain), range(1, total + 1))
    values: list[float] = []
    for k in cutoffs:
        hits = bisect_right(ranks, k)
        shown = min(k, len(ids) or 1) if over_retrieved else k
        share = dcg[hits] / ideal[k if k < total else total]
        values += (
            hits / shown,
            hits / total,
            1.0 if hits else 0.0,
            share if share < 1.0 else 1.0,  # rounding
        )
    reciprocal = 1.0 / ranks[0] if ranks else 0.0
    values += [reciprocal if ranks and ranks[0] <= k else 0.0 for k in reciprocal_cutoffs]
    precisions = map(truediv, count(1), ranks)  # at the rank of each relevant document
    values += (reciprocal, sum(precisions) / total)
    return dict(zip(_names(cutoffs, reciprocal_cutoffs), values, strict=True))


@cache
def _names(cutoffs: tuple[int, ...], reciprocal_cutoffs: tuple[int, ...]) -> tuple[str, ...]:
    at_k = (f"{name}@{k}" for k in cutoffs for name in ("precision", "recall", "hit_rate", "ndcg"))
    return (*at_k, *(f"mrr@{k}" for k in reciprocal_cutoffs), "mrr", "map")


def _discount_gains(worth: Sequence[float], ranks: Sequence[int]) -> list[float]:
    """The discounted gain of the first 0, 1, 2, ... documents."""
    if ranks and ranks[-1] >= len(_DISCOUNTS):
        discounts = [1.0 / log2(rank + 1) for rank in ranks]
    else:
        discounts = [_DISCOUNTS[rank] for rank in ranks]
    return list(accumulate(map(mul, worth, discounts), initial=0.0))


def _scale_gains(gains: Sequence[float], most: float, gain: Gain) -> Sequence[float]:
    """The gains on a scale on which `most`, the largest, does not overflow; nDCG is a ratio."""
    if gain == "linear":
        return gains if _SAFE[0] < most < _SAFE[1] else [value / most for value in gains]
    if most <= _LARGE:
        return [expm1(value * log(2.0)) for value in gains]
    return [exp2(value - most) for value in gains]
