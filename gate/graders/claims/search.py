"""Which calculation with two numbers of a few gives a value, looked for from the value.

Units limit what can be calculated from what: money is money times a count, never a count of days.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Container, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from gate.graders.claims.operations import Operand

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


Sizes = list[tuple[float, int]]  # sizes in order, and whose they are


def _at(sizes: Sizes, want: float, allowed: float) -> list[int]:
    """Those of a size; none of a size below 0."""
    if not sizes or want < -allowed:
        return []
    low = bisect_left(sizes, (want - allowed,))
    most = want + allowed
    if low == len(sizes) or sizes[low][0] > most:
        return []
    return [k for size, k in takewhile(lambda one: one[0] <= most, sizes[low:])]


class _Index(NamedTuple):
    """Operands by size: all, and those of which each calculation must have one."""

    every: Sizes
    few: Sizes


_NONE = _Index([], [])


class Candidates:
    """Operands in the order of their sizes. Each calculation has one `among` some of them."""

    def __init__(self, operands: Sequence[Operand], among: Collection[int]) -> None:
        self.operands = operands
        self.among = among
        self.amounts = [abs(one.amount) for one in operands]
        self._by_factor: dict[float, tuple[list[float], dict[str, _Index]]] = {}

    def sizes(self, factor: float) -> tuple[list[float], dict[str, _Index]]:
        """The sizes in the base units of their kinds, and those of each kind in order; `factor` is
        that of bare operands.
        """
        if factor not in self._by_factor:
            sizes = []
            of_kind: dict[str, Sizes] = {}
            for k, one in enumerate(self.operands):
                unit = one.unit.factor if one.unit is not None else 1.0 if one.kind else factor
                sizes.append(self.amounts[k] * unit)
                of_kind.setdefault(one.kind, []).append((sizes[k], k))
            by_kind = {kind: self.index(some) for kind, some in of_kind.items()}
            self._by_factor[factor] = sizes, by_kind
        return self._by_factor[factor]

    def index(self, sizes: Sizes) -> _Index:
        sizes.sort()
        return _Index(sizes, [one for one in sizes if one[1] in self.among])


def calculations(target: Target, candidates: Candidates, wanted: Container[str]) -> Iterator[Found]:
    """The calculations with two operands that give the target, of the `wanted` names."""
    value, allowed, kind, factor = target
    some, among, raw = candidates.operands, candidates.among, candidates.amounts
    if not among or not _LEAST < value < _MOST:
        return
    sizes, by_kind = candidates.sizes(factor)
    if kind in ("%", "times"):
        for its, index in by_kind.items():
            for name, k, j in _parts(target, its, index, among, wanted):
                if name == "rest" or some[k].source < 0 or some[k].source != some[j].source:
                    yield Found(name, k, j)
        return
    counts = _NONE  # what an amount is multiplied with, or divided by
    if "product" in wanted or "quotient" in wanted:
        others = [(raw[k], k) for k, one in enumerate(some) if not kind or one.kind != kind]
        counts = candidates.index(
            [one for one in others if some[one[1]].kind != "money" or not kind]
        )
    differs = "difference" in wanted
    for k, one in enumerate(some):
        size, its = sizes[k], one.kind
        if not _LEAST < size < _MOST:
            continue
        adds = its == kind or (not its and kind == "money")
        beside = 0 if k in among else 1  # all, or the few
        alike = by_kind[its][beside]
        if differs and its != "%" and (not kind or (its in (kind, "") and size > value)):
            other = by_kind.get("" if its else kind, _NONE)[beside]
            for j in _less(target, one, size, raw[k], alike, other):
                yield Found("difference", k, j)
        if not adds:
            if not kind and its and "quotient" in wanted:
                same = _at(alike, size / value, allowed * size / value**2)
                yield from (Found("quotient", k, j) for j in same if j != k)
            continue
        if "sum" in wanted:
            yield from (Found("sum", k, j) for j in _at(alike, value - size, allowed) if j > k)
        countable = counts[beside]
        if not countable:
            continue
        for j in _at(countable, value / size, allowed / size):
            if j != k and not (not kind and some[j].kind == "money"):
                yield Found("product", k, j)
        for j in _at(countable, size / value, allowed * size / value**2):
            if j != k and some[j].kind not in ("money", "%"):
                yield Found("quotient", k, j)


def _less(
    target: Target, one: Operand, size: float, raw: float, alike: Sizes, other: Sizes
) -> list[int]:
    """What an operand is more than by the target. A bare number goes with each measuring unit;
    where the target is bare, so does each pair of one kind, as it is written. `alike`: the operands
    of its kind, `other`: the bare ones, or for a bare one those of the target's kind.
    """
    value, allowed, kind, _ = target
    its = one.kind
    if not kind and its:
        scale = one.unit.factor if one.unit is not None else 1.0
        return _at(alike, (raw - value) * scale, allowed * scale) if raw > value else []
    if size <= value:
        return []
    found = _at(alike, size - value, allowed)
    return found if kind in ("", "money") else found + _at(other, size - value, allowed)


def _parts(
    target: Target, its: str, alike: _Index, among: Container[int], wanted: Container[str]
) -> Iterator[tuple[str, int, int]]:
    """Of a percentage, or of how many times as much; of operands of one kind."""
    value, allowed, kind, _ = target
    for size, k in alike.every:
        beside = alike.every if k in among else alike.few
        if not beside or not _LEAST < size < _MOST:
            continue
        if its == kind == "%":
            if size > value and "difference" in wanted:
                yield from (("difference", k, j) for j in _at(beside, size - value, allowed))
            if value > size and "sum" in wanted:
                yield from (("sum", k, j) for j in _at(beside, value - size, allowed) if j > k)
            if "rest" in wanted and k in among and abs(1.0 - size - value) <= allowed:
                yield "rest", k, k
        if "ratio" in wanted:
            same = _at(beside, size / value, allowed * size / value**2)
            yield from (("ratio", k, j) for j in same if j != k)
        for way in (1.0 + value, 1.0 - value) if kind == "%" and "change" in wanted else ():
            if way > 0:
                same = _at(beside, size / way, allowed * size / way**2)
                yield from (("change", k, j) for j in same if j != k)
