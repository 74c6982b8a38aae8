"""Every run of an import: which time it was that its case was asked, and where it is put aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from gate.errors import UsageError
from gate.importers.formats.otel.evaluations import TOOL, spec
from gate.importers.formats.otel.spool import Spool
from gate.importers.formats.otel.trials import trial, unpack_run
from gate.records import MOST_ROUNDS, Trial
from gate.records.imported import ImportedSuite
from gate.text.escaping import one_line

MOST_METRICS = 200  # of a suite
_SPARSE = 10  # times as many places for results as there are results, ...
_FEW = 100_000  # ... unless there are no more places than this
_LATE = 1 << 63  # of a run that does not say when it began


class _Entry(NamedTuple):
    suite: str
    case: str
    start: int
    key: str
    at: int  # in the spool


@dataclass(slots=True)
class _Suite:
    cases: int = 0
    rounds: int = 0
    trials: int = 0
    metrics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, None] = field(default_factory=dict)  # metrics that say pass or fail


@dataclass(slots=True)
class Ledger:
    """Bounded: a few words a run. Call `close` after the last `add`, then read."""

    start: int | None = None  # of the earliest run, ns
    reworded: int = 0  # runs whose case was asked with other words before
    _spool: Spool = field(default_factory=Spool)
    _entries: list[_Entry] = field(default_factory=list)
    _suites: dict[str, _Suite] = field(default_factory=dict)
    _questions: dict[tuple[str, str], bytes] = field(default_factory=dict)

    def add(self, entry: Sequence[Any], data: bytes) -> None:
        """A run as `runs_of` gives it. Raises UsageError for more kinds of evaluations than a
        report can have.
        """
        name, case, start, key, asked, metrics = entry
        at = self._spool.put(data)
        self._entries.append(_Entry(name, case, _LATE if start is None else start, key, at))
        if start is not None:
            self.start = start if self.start is None else min(self.start, start)
        self.reworded += self._questions.setdefault((name, case), asked) != asked
        suite = self._suites.setdefault(name, _Suite())
        for metric, decides in metrics:
            suite.metrics[metric] = None
            if decides:
                suite.judges[metric] = None
        if len(suite.metrics) > MOST_METRICS:
            raise UsageError(
                f"{name}: more than {MOST_METRICS} names of evaluations; give results of one kind "
                "one gen_ai.evaluation.name"
            )

    def close(self) -> None:
        """Numbers the rounds. Raises UsageError where cases were asked too unevenly for a table."""
        self._entries.sort()
        for (name, case), entries in groupby(self._entries, key=lambda one: one[:2]):
            suite, times = self._suites[name], sum(1 for _ in entries)
            suite.cases += 1
            suite.trials += times
            suite.rounds = max(suite.rounds, times)
            if times > MOST_ROUNDS:
                raise UsageError(_often(name, case, times))
        for name, suite in self._suites.items():
            places = suite.cases * suite.rounds
            if places > _FEW and places > _SPARSE * suite.trials:
                counted = Counter(one.case for one in self._entries if one.suite == name)
                raise UsageError(_often(name, *counted.most_common(1)[0]))

    def __len__(self) -> int:
        return len(self._entries)

    def suites(self) -> dict[str, ImportedSuite]:
        return {name: _describe_suite(self._suites[name]) for name in sorted(self._suites)}

    def trials(self) -> Iterator[Trial]:
        """By suite, case and time."""
        for _, entries in groupby(self._entries, key=lambda one: one[:2]):
            for number, entry in enumerate(entries, 1):
                yield trial(unpack_run(self._spool.get(entry.at)), number)


def _describe_suite(suite: _Suite) -> ImportedSuite:
    metrics = sorted(suite.metrics)
    judges = ", ".join(sorted(suite.judges))
    success = dict.fromkeys(("success", "first_success"), f"{TOOL}: {judges}") if judges else {}
    return ImportedSuite(
        rounds=suite.rounds,
        cases=suite.cases,
        dataset="traces",
        metrics=tuple(map(spec, metrics)),
        graders={**success, **dict.fromkeys(metrics, TOOL)},
    )


def _often(suite: str, case: str, times: int) -> str:
    return (
        f"{suite}: the case '{one_line(case, 80)}' was asked {times:,} times, others seldom, so "
        "they are no rounds of one test; import with --option case=trace, each trace a case"
    )
