"""Which calculation with two numbers of a few gives a value, looked for from the value.

Units limit what can be calculated from what: money is money times a count, never a count of days.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from gate.graders.claims.operations import Operand, base

_LEAST, _MOST = 1e-12, 1e18  # of a value that is looked for


class Target(NamedTuple):
    """A value in the base unit of its kind, and how far off a result may be."""

    value: float
    allowed: float
    kind: str  # "%", "money", a dimension, "" or "times"
    factor: float = 1.0  # of its unit: bare operands are taken to be in that


class Found(NamedTuple):
    """A calculation that gives the target. `a` is the larger part, the whole or the dividend."""

    name: str  # difference, sum, product, quotient, ratio, change
    a: int
    b: int


class _Sizes:
    """Some operands by size."""

    def __init__(self, sized: list[tuple[float, int]]) -> None:
        sized.sort()
        self._whose = [k for _, k in sized]
        self._sizes = [size for size, _ in sized]

    def at(self, want: float, allowed: float) -> list[int]:
        """Those of a size; none of a size below 0."""
        if want < -allowed:
            return []
        sizes = self._sizes
        low = high = bisect_left(sizes, want - allowed)
        while high < len(sizes) and sizes[high] <= want + allowed:
            high += 1
        return self._whose[low:high]


_NONE = _Sizes([])


def calculations(
    target: Target, some: Sequence[Operand], wanted: Container[str]
) -> Iterator[Found]:
    """The calculations with two of the operands that give the target, of the `wanted` names."""
    value, allowed, kind, factor = target
    if not _LEAST < value < _MOST:
        return
    sizes = [abs(base(one) if one.kind else one.amount * factor) for one in some]
    kinds = {one.kind for one in some}
    by_kind = {
        its: _Sizes([(size, k) for k, size in enumerate(sizes) if some[k].kind == its])
        for its in kinds
    }
    if kind in ("%", "times"):
        for its, alike in by_kind.items():
            mine = [
                k for k, one in enumerate(some) if one.kind == its and _LEAST < sizes[k] < _MOST
            ]
            for name, k, j in _parts(target, its, mine, sizes, alike, wanted):
                if name == "rest" or some[k].source < 0 or some[k].source != some[j].source:
                    yield Found(name, k, j)
        return
    raw = [abs(one.amount) for one in some]
    counts = _NONE  # what an amount is multiplied with, or divided by
    if "product" in wanted or "quotient" in wanted:
        others = [(raw[k], k) for k, one in enumerate(some) if not kind or one.kind != kind]
        counts = _Sizes([(size, k) for size, k in others if some[k].kind != "money" or not kind])
    for k, one in enumerate(some):
        size, its = sizes[k], one.kind
        if not _LEAST < size < _MOST:
            continue
        adds = its == kind or (not its and kind == "money")
        if "difference" in wanted and its != "%":
            for j in _less(target, k, one, sizes, raw, by_kind):
                yield Found("difference", k, j)
        if not adds:
            if not kind and its and "quotient" in wanted:
                same = by_kind[its].at(size / value, allowed * size / value**2)
                yield from (Found("quotient", k, j) for j in same if j != k)
            continue
        if "sum" in wanted:
            same = by_kind[its].at(value - size, allowed)
            yield from (Found("sum", k, j) for j in same if j > k)
        for j in counts.at(value / size, allowed / size):
            if j != k and not (not kind and some[j].kind == "money"):
                yield Found("product", k, j)
        for j in counts.at(size / value, allowed * size / value**2):
            if j != k and some[j].kind not in ("money", "%"):
                yield Found("quotient", k, j)


def _less(
    target: Target,
    k: int,
    one: Operand,
    sizes: Sequence[float],
    raw: Sequence[float],
    by_kind: Mapping[str, _Sizes],
) -> Iterator[int]:
    """What operand k is more than by the target. A bare number goes with each measuring unit; where
    the target is bare, so does each pair of one kind, as it is written.
    """
    value, allowed, kind, _ = target
    its = one.kind
    if not kind and its:
        scale = one.unit.factor if one.unit is not None else 1.0
        if raw[k] > value:
            yield from by_kind[its].at((raw[k] - value) * scale, allowed * scale)
    elif its in (kind, "") and sizes[k] > value:
        yield from by_kind[its].at(sizes[k] - value, allowed)
        if kind not in ("", "money"):
            yield from by_kind.get("" if its else kind, _NONE).at(sizes[k] - value, allowed)


def _parts(
    target: Target,
    its: str,
    mine: Sequence[int],
    sizes: Sequence[float],
    alike: _Sizes,
    wanted: Container[str],
) -> Iterator[tuple[str, int, int]]:
    """Of a percentage, or of how many times as much; of operands of one kind."""
    value, allowed, kind, _ = target
    for k in mine:
        size = sizes[k]
        if its == kind == "%":
            if size > value and "difference" in wanted:
                yield from (("difference", k, j) for j in alike.at(size - value, allowed))
            if value > size and "sum" in wanted:
                yield from (("sum", k, j) for j in alike.at(value - size, allowed) if j > k)
            if "rest" in wanted and abs(1.0 - size - value) <= allowed:
                yield "rest", k, k
        if "ratio" in wanted:
            same = alike.at(size / value, allowed * size / value**2)
            yield from (("ratio", k, j) for j in same if j != k)
        for way in (1.0 + value, 1.0 - value) if kind == "%" and "change" in wanted else ():
            if way > 0:
                same = alike.at(size / way, allowed * size / way**2)
                yield from (("change", k, j) for j in same if j != k)
