"""The rows of a session as its reports read them. A pass over all of them costs more than anything
else that a report does, so what several reports want is read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from gate.plugins import Rows
from gate.records import TrialRow
from gate.records.baseline import StoredAnswer
from gate.records.trial_row import RowsOf

T = TypeVar("T")
Read = Callable[[Iterable[TrialRow]], Mapping[str, T]]  # by suite


Before = Callable[[str], Iterator[StoredAnswer]]  # of a suite


def no_answers(suite: str) -> Iterator[StoredAnswer]:
    """Nothing, where nothing is kept."""
    return iter(())


class SharedRows:
    """Reads all rows when called. `some`: reads those of some cases without the others, where that
    is possible. `before`: reads what the base branch answered.
    """

    def __init__(
        self, every: Rows, some: RowsOf | None = None, before: Before = no_answers
    ) -> None:
        self.answers_before = before
        self._every = every
        self._some = some
        self._read: dict[Any, Mapping[str, Any]] = {}

    def __call__(self) -> Iterator[TrialRow]:
        return self._every()

    def once(self, read: Read[T]) -> Mapping[str, T]:
        """What `read` makes of all rows, by suite; made at the first call."""
        if read not in self._read:
            self._read[read] = read(self._every())
        return self._read[read]

    def rows_of_cases(self, suite: str, case_ids: frozenset[str]) -> Iterator[TrialRow]:
        if self._some is not None:
            return self._some(suite, case_ids)
        return (
            row for row in self._every() if row["suite"] == suite and row["case_id"] in case_ids
        )

    def only(self, suite: str) -> SharedRows:
        """The rows of one suite; what was made of all of them is not made again."""
        selection = SharedRows(
            lambda: (row for row in self._every() if row["suite"] == suite),
            self._some,
            self.answers_before,
        )
        selection._read = {
            read: {suite: made[suite]} for read, made in self._read.items() if suite in made
        }
        return selection


def share_rows(rows: Rows) -> SharedRows:
    return rows if isinstance(rows, SharedRows) else SharedRows(rows)
