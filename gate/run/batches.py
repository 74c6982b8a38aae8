"""Which trials are made, and in which order: whole rounds, or batches between two looks."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from gate.plugins import Grader
from gate.records import Case, Suite
from gate.run.trial_worker import AskOwn, Task

Done = Callable[[str, str, int], bool]  # suite, case id, round


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSuite:
    """A suite ready to run: its graders made, its cases streamable any number of times, all or some
    of them.
    """

    suite: Suite
    graders: Mapping[str, Grader]
    cases: Callable[[Set[str] | None], Iterable[Case]]
    ask: AskOwn | None = None  # its own way to ask; None: the run's agent
    rounds: range | None = None  # to be made; None: those of the suite

    @property
    def numbers(self) -> range:
        """The rounds to be made, from 1."""
        return range(1, self.suite.rounds + 1) if self.rounds is None else self.rounds

    def task(self, case: Case, number: int) -> Task:
        """Round `number` of a case, not yet begun."""
        return Task(suite=self.suite, graders=self.graders, case=case, round=number, ask=self.ask)


def deal_rounds(suites: Iterable[PreparedSuite], done: Done) -> Iterator[Task]:
    """The tasks round by round: round 1 of every suite, then round 2, without those that are done.
    So an early end (budget, Ctrl-C) leaves whole rounds, not only the first cases.
    """
    prepared = list(suites)
    for number in sorted({number for suite in prepared for number in suite.numbers}):
        for suite in prepared:
            if number not in suite.numbers:
                continue
            for case in suite.cases(None):
                if not done(suite.suite.name, case.id, number):
                    yield suite.task(case, number)


def case_order(ids: Iterable[str], *, suite: str, seed: str) -> tuple[str, ...]:
    """The case ids in the order of every round. It depends on the commit and not on results: with
    the baseline's failures first, the first batch could not get worse.
    """
    return tuple(sorted(ids, key=lambda case_id: _hash(seed, suite, case_id)))


def deal_batch(
    suite: PreparedSuite, order: Sequence[str], trials: range, done: Done
) -> Iterator[Task]:
    """The tasks with these trial numbers, without those that are done. Trial s is round s // n + 1
    of case order[s % n]. Within a round they come in the order of the dataset.
    """
    n = len(order)
    for before in range(trials.start // n * n, trials.stop, n):
        number = before // n + 1
        part = frozenset(order[max(0, trials.start - before) : trials.stop - before])
        for case in suite.cases(part):
            if not done(suite.suite.name, case.id, number):
                yield suite.task(case, number)


def interleave(streams: Iterable[Iterator[Task]]) -> Iterator[Task]:
    """One task of each stream in turn until all streams are empty."""
    waiting = deque(streams)
    while waiting:
        stream = waiting.popleft()
        for task in islice(stream, 1):
            yield task
            waiting.append(stream)


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
