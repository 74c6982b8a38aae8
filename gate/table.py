"""Trials -> floats: one suite's values as columns of cases x rounds, NaN where a trial has no
value.

Only floats stay in memory (100,000 cases x 5 rounds x 10 columns = 40 MB); texts stay in
events.jsonl. A *row* is one
line of details.jsonl, so a live run, a resumed one, `gate compare` and an import all go through
the same code.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gate.records import Json, MetricSpec

Array = npt.NDArray[np.float64]

# Columns every trial has besides its graders' metrics. Success and first-attempt success: contract
# 9.4.
TRIAL_COLUMNS = (
    "success",  # 1 or 0; NaN: infrastructure error, or no grader decides pass
    "first_success",  # the first try alone; an infrastructure error counts as 0
    "agent_error",  # 1: the agent failed; NaN: infrastructure error
    "infra_error",  # 1: nobody answered
    "retried",  # 1: more than one try was needed
    "latency_ms",  # of the answer that counts, completed trials only
    "total_tokens",
    "steps",
    "cost_usd",
    "violations",
)


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
    specs: Mapping[str, MetricSpec] = field(
        default_factory=dict
    )  # metric name -> how its column becomes a number
    graders: Mapping[str, str] = field(
        default_factory=dict
    )  # column -> hash of the grader that made it
    categories: tuple[str | None, ...] = ()

    def column(self, name: str) -> Array:
        """The column, all NaN when nothing ever filled it."""
        found = self.columns.get(name)
        return np.full((len(self.cases), self.rounds), np.nan) if found is None else found

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


class TableBuilder:
    """Grows a table trial by trial, in any order; 8 bytes a value and about 100 bytes a case."""

    def __init__(self, suite: str) -> None:
        self._suite = suite
        self._index: dict[str, int] = {}
        self._digests: list[str] = []
        self._categories: list[str | None] = []
        self._rounds = 0
        self._at: array[int] = array("q")  # case index and round of each trial, two entries a trial
        self._columns: dict[str, array[float]] = {}  # one value a trial, in order of arrival
        self._trials = 0

    def add(self, row: Mapping[str, Json]) -> None:
        """Takes one row of details.jsonl; a later row for the same case and round wins."""
        case_id = row["case_id"]
        index = self._index.get(case_id)
        if index is None:
            index = self._index[case_id] = len(self._digests)
            self._digests.append(row.get("case_digest") or "")
            self._categories.append(row.get("category"))
        self._at.extend((index, row["round"] - 1))
        self._rounds = max(self._rounds, row["round"])
        values = {**trial_values(row), **row["scores"]}
        for name, value in values.items():
            column = self._columns.get(name)
            if column is None:
                column = self._columns[name] = array("d", [np.nan]) * self._trials
            column.append(np.nan if value is None else value)
        self._trials += 1
        for column in self._columns.values():
            if len(column) < self._trials:
                column.append(np.nan)

    def table(self, specs: Mapping[str, MetricSpec], graders: Mapping[str, str]) -> Table:
        """What has arrived so far, cases in order of their first arrival sorted by id."""
        order = sorted(self._index)
        position = np.empty(len(order), dtype=np.intp)
        position[[self._index[case_id] for case_id in order]] = np.arange(len(order))
        at = (
            np.frombuffer(self._at, dtype=np.int64).reshape(-1, 2)
            if self._at
            else np.empty((0, 2), dtype=np.int64)
        )
        columns = {}
        for name, values in self._columns.items():
            filled = np.full((len(order), self._rounds), np.nan)
            filled[position[at[:, 0]], at[:, 1]] = np.frombuffer(values, dtype=np.float64)
            columns[name] = filled
        return Table(
            suite=self._suite,
            cases=tuple(order),
            digests=tuple(self._digests[self._index[case_id]] for case_id in order),
            rounds=self._rounds,
            columns=columns,
            specs=specs,
            graders=graders,
            categories=tuple(self._categories[self._index[case_id]] for case_id in order),
        )


def tabulate(
    suite: str,
    rows: Iterable[Mapping[str, Json]],
    specs: Mapping[str, MetricSpec],
    graders: Mapping[str, str],
) -> Table:
    """A table from stored rows of one suite."""
    builder = TableBuilder(suite)
    for row in rows:
        builder.add(row)
    return builder.table(specs, graders)


def trial_values(row: Mapping[str, Json]) -> dict[str, float | None]:
    """The values of TRIAL_COLUMNS for one row of details.jsonl; None is unmeasured."""
    attempts = row["attempts"]
    answered = row["status"] != "infra_error"
    done = row["status"] == "completed"
    usage = row.get("usage") or {}
    known = [usage[key] for key in ("input_tokens", "output_tokens") if usage.get(key) is not None]
    steps, violations = row.get("steps"), row.get("safety_violations")
    return {
        "success": _flag(row["passed"]) if answered else None,
        "first_success": _first_success(attempts[0]) if attempts else None,
        "agent_error": float(row["status"] == "agent_error") if answered else None,
        "infra_error": float(not answered),
        "retried": float(len(attempts) > 1),
        "latency_ms": row["latency_ms"] if done else None,
        "total_tokens": float(sum(known)) if known and done else None,
        "steps": float(len(steps)) if steps is not None and done else None,
        "cost_usd": row.get("cost_usd") if answered else None,
        "violations": float(len(violations)) if done and violations is not None else None,
    }


def _first_success(attempt: Mapping[str, Json]) -> float | None:
    return 0.0 if attempt["status"] == "infra_error" else _flag(attempt["passed"])


def _flag(passed: bool | None) -> float | None:
    return None if passed is None else float(passed)


def floats(rows: Sequence[Sequence[float | None]], rounds: int) -> Array:
    """Lists of `rounds` values each as an array of shape (rows, rounds); None becomes NaN."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), rounds)


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
        past = _picked(old, name, before if same_grader else none)
        columns[name] = np.hstack([past, _picked(new, name, after)])
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


def _picked(table: Table, name: str, rows: list[int]) -> Array:
    """These rows of a column; -1 gives a row of NaN."""
    missing = np.full((1, table.rounds), np.nan)
    return np.vstack([table.column(name), missing])[np.array(rows, dtype=np.intp)]
