"""Which cases of two runs are the same: by id and content hash."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from gate.analysis.table import Table

MIN_PAIRED = 5  # must be left of a baseline that had as many (docs/semantics.md 5)


def too_few_left(paired: int, had: int) -> bool:
    """Whether the cases left to compare say nothing of a baseline that had so many."""
    return paired < (MIN_PAIRED if had >= MIN_PAIRED else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """`baseline` and `current` are cut to their common cases, row by row the same case; `whole` is
    the baseline with all its cases.
    """

    baseline: Table
    current: Table
    whole: Table
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]  # same id, other content: unpaired

    @property
    def n_paired(self) -> int:
        return len(self.current.cases)


def pair_cases(baseline: Table, current: Table, not_asked: Set[str] = frozenset()) -> Pairing:
    """`not_asked`: cases that are in the dataset but not in this run; they are not removed."""
    rows = {case: row for row, case in enumerate(current.cases)}
    rows_b: list[int] = []
    rows_c: list[int] = []
    removed, changed = [], []
    for row_b, case in enumerate(baseline.cases):
        row_c = rows.pop(case, None)
        if row_c is None:
            if case not in not_asked:
                removed.append(case)
        elif baseline.digests[row_b] == current.digests[row_c]:
            rows_b.append(row_b)
            rows_c.append(row_c)
        else:
            changed.append(case)
    return Pairing(
        baseline=_cut(baseline, rows_b),
        current=_cut(current, rows_c),
        whole=baseline,
        added=tuple(sorted(rows)),
        removed=tuple(sorted(removed)),
        changed=tuple(sorted(changed)),
    )


def _cut(table: Table, rows: list[int]) -> Table:
    """The usual case, all rows in order, costs no copy."""
    return table if rows == list(range(len(table.cases))) else table.select(rows)
