"""One suite's values as columns of cases x rounds, NaN where a trial has no value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from gate.analysis.columns import TrialColumns
from gate.records import MetricSpec, TrialRow

Array = npt.NDArray[np.float64]
UNSCORED = "unscored:"  # and a column's name: 1 where a grader gave it no score


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """`columns[name]` has shape (cases, rounds); row i belongs to `cases[i]`, whose content hash
    is `digests[i]`.
    """

    suite: str
    cases: tuple[str, ...]
    digests: tuple[str, ...]
    rounds: int
    columns: Mapping[str, Array]
    specs: Mapping[str, MetricSpec] = field(default_factory=dict)  # metric name -> what it is
    graders: Mapping[str, str] = field(default_factory=dict)  # column -> hash of its grader
    categories: tuple[str | None, ...] = ()

    def column(self, name: str) -> Array:
        """The column, all NaN when nothing ever filled it."""
        column = self.columns.get(name)
        return np.full((len(self.cases), self.rounds), np.nan) if column is None else column

    def values(self, spec: MetricSpec) -> Array:
        """What the metric is computed from. Of a ratio complex numbers, its `per` the imaginary
        part; NaN where either is unknown.
        """
        over = self.column(spec.column)
        return ratio_of(over, self.column(spec.per)) if spec.per else over

    def passed_shares(self) -> dict[str, float]:
        """Case -> share of its judged rounds that passed; without cases that have none."""
        success = self.column("success")
        judged = (~np.isnan(success)).sum(axis=1)
        shares = np.nansum(success, axis=1) / np.maximum(judged, 1)
        rows = zip(self.cases, shares.tolist(), judged.tolist(), strict=True)
        return {case: share for case, share, rounds in rows if rounds}

    def grader_hashes(self, spec: MetricSpec) -> tuple[str | None, ...]:
        """Hashes of the graders that the metric depends on."""
        return tuple(self.graders.get(name) for name in spec.columns)

    def without(self, cases: Set[str]) -> Table:
        """The same table without these cases."""
        if cases.isdisjoint(self.cases):
            return self
        return self.select([row for row, case in enumerate(self.cases) if case not in cases])

    def select(self, rows: npt.NDArray[np.intp] | list[int]) -> Table:
        """The same table with these rows only, in this order."""
        picked = [int(i) for i in rows]
        return Table(
            suite=self.suite,
            cases=tuple(self.cases[i] for i in picked),
            digests=tuple(self.digests[i] for i in picked),
            rounds=self.rounds,
            columns={name: values[picked] for name, values in self.columns.items()},
            specs=self.specs,
            graders=self.graders,
            categories=tuple(self.categories[i] for i in picked) if self.categories else (),
        )


def ratio_of(over: Array, under: Array) -> Array:
    """Two columns as one, complex: `over` + i `under`."""
    return cast("Array", over + 1j * under)


def table_of(
    columns: TrialColumns, specs: Mapping[str, MetricSpec], graders: Mapping[str, str]
) -> Table:
    """What has been collected so far, cases sorted by id."""
    order = sorted(columns.index)
    arrivals = [*map(columns.index.__getitem__, order)]
    position = np.empty(len(order), dtype=np.intp)
    position[arrivals] = np.arange(len(order))
    # Views, no copies: they have to be gone before the columns grow again.
    at = np.frombuffer(columns.at, dtype=np.int64).reshape(-1, 2)
    rows, rounds = position[at[:, 0]], at[:, 1]
    filled = {}
    marks = {UNSCORED + name: values for name, values in columns.mark_unscored().items()}
    for name, values in {**columns.values, **marks, **columns.mark_unjudged()}.items():
        filled[name] = np.full((len(order), columns.rounds), np.nan)
        filled[name][rows, rounds] = np.frombuffer(values, dtype=np.float64)
    return Table(
        suite=columns.suite,
        cases=tuple(order),
        digests=tuple(map(columns.digests.__getitem__, arrivals)),
        rounds=columns.rounds,
        columns=filled,
        specs=specs,
        graders=graders,
        categories=tuple(map(columns.categories.__getitem__, arrivals)),
    )


def tabulate(
    suite: str,
    rows: Iterable[TrialRow],
    specs: Mapping[str, MetricSpec],
    graders: Mapping[str, str],
) -> Table:
    """A table from stored rows of one suite."""
    columns = TrialColumns(suite)
    for row in rows:
        columns.add(row)
    return table_of(columns, specs, graders)


def floats(rows: Sequence[Sequence[float | None]], rounds: int) -> Array:
    """Lists of `rounds` values each as an array of shape (rows, rounds); None becomes NaN."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), rounds)


def mark_asked(table: Table) -> npt.NDArray[np.bool_]:
    """Cases x rounds: whether the case was run in that round, answered or not."""
    there = np.zeros((len(table.cases), table.rounds), dtype=np.bool_)
    for values in table.columns.values():
        there |= ~np.isnan(values)
    return there


def newest_rounds(table: Table, rounds: int) -> tuple[Table, npt.NDArray[np.bool_]]:
    """The newest `rounds` rounds of each case (of those in which it was asked), and which of the
    table's rounds any case still needs; the others are gone.
    """
    there = mark_asked(table)
    from_here_on = there[:, ::-1].cumsum(axis=1)[:, ::-1]
    wanted = there & (from_here_on <= rounds)
    needed = wanted.sum(axis=0) > 0
    columns = {
        name: np.where(wanted, values, np.nan)[:, needed] for name, values in table.columns.items()
    }
    return replace(table, rounds=int(needed.sum()), columns=columns), needed


def last_rounds(table: Table, rounds: int) -> Table:
    """The newest `rounds` rounds of the table."""
    return take_rounds(table, table.rounds - rounds, rounds)


def take_rounds(table: Table, start: int, rounds: int) -> Table:
    """So many rounds of the table from number `start` on."""
    columns = {name: values[:, start : start + rounds] for name, values in table.columns.items()}
    return replace(table, rounds=rounds, columns=columns)


def select_rounds(table: Table, numbers: Sequence[int]) -> Table:
    """The rounds of these numbers, from 0."""
    columns = {name: values[:, list(numbers)] for name, values in table.columns.items()}
    return replace(table, rounds=len(numbers), columns=columns)


def clear_columns(table: Table, cleared: Set[str]) -> Table:
    """The same table without a value in these columns, which it may not have had so far."""
    nothing = np.full((len(table.cases), table.rounds), np.nan)
    return replace(table, columns={**table.columns, **dict.fromkeys(sorted(cleared), nothing)})


def has_values(values: Array) -> bool:
    """Whether any of them is known."""
    return bool((~np.isnan(values)).any())


def append_rounds(old: Table, new: Table, *, keep_absent: bool = False) -> Table:
    """The rounds of `new` after those of `old`, for the cases and columns of `new`.

    A case whose content changed, and a column whose grader changed, has NaN in the old rounds.
    `keep_absent` keeps the cases that `new` did not run, with NaN in its rounds.
    """
    rows_old, rows_new = _row_numbers(old), _row_numbers(new)
    cases = sorted({*rows_new, *(rows_old if keep_absent else ())})
    after = [rows_new.get(case, -1) for case in cases]
    before = [
        -1 if j >= 0 and i >= 0 and old.digests[i] != new.digests[j] else i
        for i, j in zip((rows_old.get(case, -1) for case in cases), after, strict=True)
    ]
    none = [-1] * len(cases)
    columns = {}
    for name in new.columns:
        same_grader = old.graders.get(name) == new.graders.get(name)
        past = _pick_rows(old, name, before if same_grader else none)
        columns[name] = np.hstack([past, _pick_rows(new, name, after)])
    at = [(new, j) if j >= 0 else (old, i) for i, j in zip(before, after, strict=True)]
    return Table(
        suite=new.suite,
        cases=tuple(cases),
        digests=tuple(table.digests[row] for table, row in at),
        rounds=old.rounds + new.rounds,
        columns=columns,
        specs=new.specs,
        graders=new.graders,
        categories=tuple(t.categories[row] if t.categories else None for t, row in at),
    )


def _row_numbers(table: Table) -> dict[str, int]:
    return {case: row for row, case in enumerate(table.cases)}


def _pick_rows(table: Table, name: str, rows: list[int]) -> Array:
    """These rows of a column; -1 gives a row of NaN."""
    missing = np.full((1, table.rounds), np.nan)
    return np.vstack([table.column(name), missing])[np.array(rows, dtype=np.intp)]
