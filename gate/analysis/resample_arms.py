"""Recorded rounds of an unchanged agent as two arms: dealt out at random, or one run against the
others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gate.analysis.table import Table, mark_asked
from gate.records.baseline import BaselineRun

Places = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Shuffler = np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two arms of the same cases."""

    baseline: Table
    current: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Deck:
    """`there`: cases x rounds, whether the case was asked. Each case gives `current` rounds to the
    current arm, and to the baseline `baseline` or as many as it has.
    """

    table: Table
    there: Mask
    baseline: int
    current: int

    @property
    def draws(self) -> bool:
        """Whether there are too few rounds to deal each of them once: then both arms draw theirs
        from all, with replacement.
        """
        return int(self.there.sum(axis=1).max(initial=0)) < self.baseline + self.current

    def deal(self, rng: Shuffler) -> Sides:
        """Each case's rounds at random; a round's values stay together. Under no change both arms
        have rounds of the same distribution, which is what the shuffle test assumes.
        """
        keys = np.where(self.there, rng.random(self.there.shape), 2.0)
        order = np.argsort(keys, axis=1)
        rounds = self.there.sum(axis=1)
        first, current = np.zeros_like(rounds), np.full_like(rounds, self.current)
        if self.draws:
            wanted = (len(rounds), self.baseline + self.current)
            drawn = np.floor(rng.random(wanted) * rounds[:, None]).astype(np.intp)
            order = np.take_along_axis(order, drawn, axis=1)
            baseline = np.minimum(self.baseline, rounds)
        else:
            current = np.minimum(self.current, rounds // 2)
            baseline = np.minimum(self.baseline, rounds - current)
        return Sides(
            baseline=self._part(order, current, baseline, self.baseline),
            current=self._part(order, first, current, self.current),
        )

    def _part(self, order: Places, first: Places, number: Places, most: int) -> Table:
        """`number` rounds of each case from its place `first` on."""
        places = first[:, None] + np.arange(most)
        picked = np.take_along_axis(order, np.minimum(places, order.shape[1] - 1), axis=1)
        gone = np.arange(most) >= number[:, None]
        columns = {}
        for name, values in self.table.columns.items():
            columns[name] = np.take_along_axis(values, picked, axis=1)
            columns[name][gone] = np.nan
        return replace(self.table, rounds=most, columns=columns)


def shuffler(seed: int) -> Shuffler:
    return np.random.default_rng(seed)


def make_deck(table: Table, *, baseline: int, current: int, alike: bool = False) -> Deck:
    """Cases with two rounds or more. The baseline has `baseline` rounds, or as many as there are.
    `alike`: both arms get the same number.
    """
    there = mark_asked(table)
    enough = np.flatnonzero(there.sum(axis=1) >= 2)
    if len(enough) < len(there):
        table, there = table.select(enough), there[enough]
    most = int(there.sum(axis=1).max(initial=0))
    baseline = current if alike else min(baseline, most)
    return Deck(table=table, there=there, baseline=baseline, current=current)


def rounds_recorded(table: Table) -> int:
    """The number of rounds of the case that has most."""
    return int(mark_asked(table).sum(axis=1).max(initial=0))


def with_rounds(table: Table, wanted: Sequence[bool] | Mask) -> Table:
    """Only the rounds that are marked."""
    mask = np.asarray(wanted, dtype=np.bool_)
    columns = {name: values[:, mask] for name, values in table.columns.items()}
    return replace(table, rounds=int(mask.sum()), columns=columns)


def one_against_others(table: Table, runs: Sequence[BaselineRun], number: int) -> Sides:
    """The rounds of one run against those of all others, of the cases that both asked."""
    start = sum(run.kept for run in runs[:number])
    in_run = np.zeros(table.rounds, dtype=np.bool_)
    in_run[start : start + runs[number].kept] = True
    there = mark_asked(table)
    both = np.flatnonzero(there[:, in_run].any(axis=1) & there[:, ~in_run].any(axis=1))
    table = table.select(both)
    return Sides(baseline=with_rounds(table, ~in_run), current=with_rounds(table, in_run))


def any_order(cases: int, rng: Shuffler) -> Places:
    """The place of each case in a random order."""
    return np.asarray(rng.permutation(cases), dtype=np.intp)


def take_trials(sides: Sides, place: Places, trials: int, *, both: bool) -> Sides:
    """What there is after this many trials of the current arm: round by round, in each round the
    cases by their `place`. With `both` the baseline is measured along with it.
    """
    n = len(place)
    rounds = -(-trials // n)
    if trials >= n * sides.current.rounds:
        return sides
    mask = np.arange(rounds) * n + place[:, None] < trials
    current = _keep_made(sides.current, mask)
    baseline = _keep_made(sides.baseline, mask) if both else sides.baseline
    if trials >= n:
        return Sides(baseline=baseline, current=current)
    rows = np.flatnonzero(place < trials)
    return Sides(baseline=baseline.select(rows), current=current.select(rows))


def _keep_made(table: Table, mask: Mask) -> Table:
    rounds = min(mask.shape[1], table.rounds)
    columns = {
        name: np.where(mask[:, :rounds], values[:, :rounds], np.nan)
        for name, values in table.columns.items()
    }
    return replace(table, rounds=rounds, columns=columns)
