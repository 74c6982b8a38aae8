"""Which results of JUnit files belong together: several of one test are rounds, reruns, or tests
of the same name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gate.errors import Problem
from gate.files.problems import Findings
from gate.importers.formats.junit.cases import JUnitCase, TestSuite, cases
from gate.importers.trials.build import MOST_TRIALS, check_number

MOST_METRICS = 200
Key = tuple[str, str]  # testsuite, id
Block = tuple[int, int]  # file, testsuite element in it


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """One result: of the test `case_id` in a round, with the failed ones before it."""

    case_id: str
    round: int
    results: tuple[JUnitCase, ...]


@dataclass(slots=True, kw_only=True)
class Overview:
    """What a first reading found, and what the second one needs to put results together."""

    groups: dict[str, str] = field(default_factory=dict)  # id -> its testsuite
    shared: set[str] = field(default_factory=set)  # ids of tests of several testsuites
    rounds: dict[Key, int] = field(default_factory=dict)
    last: dict[Key, Block] = field(default_factory=dict)
    several: dict[tuple[Block, Key], list[bool]] = field(default_factory=dict)  # did it fail?
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)  # of properties
    names: set[str] = field(default_factory=set)  # of testsuites
    newest: datetime | None = None
    skipped: int = 0
    results: int = 0
    first_failed: dict[Key, bool] = field(default_factory=dict)

    def add(self, case: JUnitCase, file: int) -> None:
        if case.outcome == "skipped":
            self.skipped += 1
            return
        self.results += 1
        key, block = (case.group, case.id), (file, case.number)
        if self.groups.setdefault(case.id, case.group) != case.group:
            self.shared.add(case.id)
        failed = case.outcome != "passed"
        if self.last.get(key) == block:
            earlier = self.several.setdefault((block, key), [self.first_failed[key]])
            earlier.append(failed)
        else:
            self.rounds[key] = self.rounds.get(key, 0) + 1
            self.last[key], self.first_failed[key] = block, failed
        for name, value in case.properties.items():
            if name in self.ranges or len(self.ranges) < MOST_METRICS:
                low, high = self.ranges.get(name, (math.inf, -math.inf))
                self.ranges[name] = (min(low, value), max(high, value))

    def case_id(self, case: JUnitCase) -> str:
        return f"{case.group} {case.id}".strip() if case.id in self.shared else case.id

    def sizes(self, reruns: bool) -> tuple[int, int]:
        """Cases and rounds."""
        more: dict[Key, int] = {}
        for (_, key), failed in self.several.items():
            more[key] = max(more.get(key, 0), len(split_reruns(failed, reruns)) - 1)
        return len(self.rounds) + sum(more.values()), max(self.rounds.values(), default=1)


def split_reruns(failed: Sequence[bool], reruns: bool) -> list[range]:
    """Which of the results that one testsuite has of a name are of one test: a rerun follows a
    failure, so what follows a success is another test of the same name.
    """
    starts = [n for n in range(len(failed)) if n == 0 or not reruns or not failed[n - 1]]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(failed)], strict=True)]


def overview(files: Sequence[Path], most: int = MOST_TRIALS) -> Overview:
    """Raises InvalidInput with everything that is wrong, UsageError for more results than that."""
    found, problems = Overview(), Findings()
    for number, file in enumerate(files):
        for element in cases(file):
            if isinstance(element, Problem):
                problems.take(element)
            elif isinstance(element, TestSuite):
                found.names.add(element.name)
                if element.timestamp is not None:
                    found.newest = max(filter(None, (found.newest, element.timestamp)))
            else:
                found.add(element, number)
                check_number(found.results, file.as_posix(), most)
    problems.refuse()
    return found


def runs(files: Sequence[Path], found: Overview, reruns: bool) -> Iterator[TestRun]:
    """Every result once, what belongs together as one; in the order of the files, and of a file
    those tests last that it has several results of.
    """
    rounds: dict[Key, int] = {}
    for number, file in enumerate(files):
        waiting: dict[tuple[Block, Key], list[JUnitCase]] = {}
        for case in cases(file):
            if not isinstance(case, JUnitCase) or case.outcome == "skipped":
                continue
            key, block = (case.group, case.id), (number, case.number)
            if (block, key) in found.several:
                waiting.setdefault((block, key), []).append(case)
            else:
                yield _run(found, rounds, key, [case])
        for (_, key), results in waiting.items():
            yield from _several(found, rounds, key, results, reruns)


def _run(
    found: Overview, rounds: dict[Key, int], key: Key, results: Sequence[JUnitCase]
) -> TestRun:
    round_ = 1
    if found.rounds[key] > 1:
        round_ = rounds[key] = rounds.get(key, 0) + 1
    return TestRun(case_id=found.case_id(results[0]), round=round_, results=tuple(results))


def _several(
    found: Overview, rounds: dict[Key, int], key: Key, results: Sequence[JUnitCase], reruns: bool
) -> Iterator[TestRun]:
    first, *others = split_reruns([result.outcome != "passed" for result in results], reruns)
    run = _run(found, rounds, key, [results[n] for n in first])
    yield run
    for number, part in enumerate(others, 2):
        same = tuple(results[n] for n in part)
        yield TestRun(case_id=f"{run.case_id} #{number}", round=run.round, results=same)
