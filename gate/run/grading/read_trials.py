"""Lines of recorded answers -> batches of trials: which line is of which suite, case and round, and
which is of none. Depends on the files alone, and not on who grades.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.agents.recordings.answer_rows import TEXTS, RowKey, row_key
from gate.errors import UsageError
from gate.files.record_lines import read_lines
from gate.run.grading.grade_batch import Line, TrialLines
from gate.run.prepare import SuitePlan
from gate.text.figures import join_words
from gate.text.shortening import shorten

MOST_TRIALS = 256  # of a batch
MOST_BYTES = 1_000_000  # of a batch's lines
_SHOWN = 80  # characters of an id


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFile:
    """A file of recorded answers; `name` is what messages call it."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that is not graded, and why: `kind` is UNREADABLE, UNKNOWN or DUPLICATE."""

    file: int
    line: int
    kind: str
    why: str


UNREADABLE, UNKNOWN, DUPLICATE = "unreadable", "unknown", "duplicate"


@dataclass(slots=True, kw_only=True)
class Batch:
    """Trials for one request; `case_ids`: of each trial."""

    trials: list[TrialLines] = field(default_factory=list)
    case_ids: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    size: int = 0  # bytes

    def add(self, case_id: str, trial: TrialLines) -> None:
        self.case_ids.append(case_id)
        self.trials.append(trial)
        self.size += sum(len(line) for _, _, line in trial[3])


_Key = tuple[int, str, int]  # suite, case, round


class TrialReader:
    """Reads the files once, in order. `places`: of each plan, case id -> place of the case; `done`:
    whether a trial (suite, case, round) has its result already; `most`: trials of a batch.
    """

    def __init__(
        self,
        files: Sequence[AnswerFile],
        plans: Sequence[SuitePlan],
        places: Sequence[dict[str, int]],
        done: Callable[[str, str, int], bool],
        most: int = MOST_TRIALS,
    ) -> None:
        self._files, self._plans, self._places = files, plans, places
        self._done, self._most = done, most
        # A bit a round, of cases with an answer: as small as what must be known can be.
        self._seen: list[dict[str, int]] = [{} for _ in plans]
        self._open: dict[_Key, list[Line]] = {}  # tries without a last one so far
        self._names = {plan.name: number for number, plan in enumerate(plans)}
        self._batch = Batch()
        self.broken: UsageError | None = None  # why the files were not read to their end
        self.rows = 0  # lines with an answer, or with none

    def batches(self) -> Iterator[Batch]:
        """All trials, in the order in which their last lines stand in the files."""
        tries = self._count_tries()
        try:
            for line in self._lines():
                self._take(line, tries)
                if len(self._batch.trials) >= self._most or self._batch.size >= MOST_BYTES:
                    yield self._next_batch()
        except UsageError as error:
            self.broken = error
        if self.broken is None:
            for (suite, case_id, number), lines in self._open.items():
                self._add(suite, case_id, number, lines)
                if len(self._batch.trials) >= self._most:
                    yield self._next_batch()
        yield self._next_batch()

    def _lines(self) -> Iterator[Line]:
        for number, file in enumerate(self._files):
            for line_number, line in read_lines(file.path, file.name, TEXTS):
                yield number, line_number, line

    def _next_batch(self) -> Batch:
        batch, self._batch = self._batch, Batch()
        return batch

    def _take(self, line: Line, tries: Counter[_Key]) -> None:
        try:
            key = row_key(line[2])
        except ValueError as error:
            self.rows += 1
            self._skip(line, UNREADABLE, str(error))
            return
        if key is None:
            return
        self.rows += 1
        found = self._find(key)
        if isinstance(found, str):
            self._skip(line, UNKNOWN, found)
        elif found is not None:
            self._take_try(line, key, found, tries)

    def _take_try(self, line: Line, key: RowKey, suite: int, tries: Counter[_Key]) -> None:
        """A try whose trial may have further ones waits for them."""
        seen = self._seen[suite].get(key.case_id, 0)
        number = key.round or seen.bit_length() or 1  # after the last one: bit n is of round n
        if seen >> number & 1:
            shown = shorten(key.case_id, _SHOWN)
            why = f"the case '{shown}' has an answer of round {number} before this line"
            self._skip(line, DUPLICATE, f"{why}; keep one of them")
            return
        if self._done(self._plans[suite].name, key.case_id, number):
            self._seen[suite][key.case_id] = seen | 1 << number
            return
        whole = (suite, key.case_id, number)
        lines = self._open.pop(whole, [])
        lines.append(line)
        if key.answered and len(lines) >= tries[whole]:
            self._add(*whole, lines)
        else:
            self._open[whole] = lines

    def _add(self, suite: int, case_id: str, number: int, lines: list[Line]) -> None:
        seen = self._seen[suite]
        seen[case_id] = seen.get(case_id, 0) | 1 << number
        place = self._places[suite][case_id]
        self._batch.add(case_id, (suite, place, number, lines))

    def _find(self, key: RowKey) -> int | str | None:
        """The number of the row's suite; why there is none; None for a case that does not run."""
        suites: Iterable[int] = range(len(self._plans))
        if key.suite is not None:
            if key.suite not in self._names:
                return f"the suite '{shorten(key.suite, _SHOWN)}' is none of those that are graded"
            suites = [self._names[key.suite]]
        found = [suite for suite in suites if key.case_id in self._places[suite]]
        if len(found) == 1:
            return found[0]
        shown = shorten(key.case_id, _SHOWN)
        if found:
            names = join_words(self._plans[suite].name for suite in found)
            return (
                f"the case '{shown}' is in the suites {names}: name one in the key `suite` of the "
                "row, or choose one with --suite"
            )
        if any(key.case_id in self._plans[suite].all_ids for suite in suites):
            return None
        names = join_words(plan.name for plan in self._plans)
        return (
            f"the case '{shown}' is not in the dataset of {names}: choose its suite with --suite, "
            "or its cases with --dataset"
        )

    def _skip(self, line: Line, kind: str, why: str) -> None:
        self._batch.skipped.append(Skipped(file=line[0], line=line[1], kind=kind, why=why))

    def _count_tries(self) -> Counter[_Key]:
        """How many lines each trial has, of suites that ask again after any failure: which of their
        answers is the last one shows at the end only, so their files are read twice.
        """
        again = {
            number
            for number, plan in enumerate(self._plans)
            if plan.suite.retry == "any_failure" and plan.suite.max_attempts > 1
        }
        counts: Counter[_Key] = Counter()
        for _, _, line in self._lines() if again else ():
            try:
                key = row_key(line)
            except ValueError:
                continue
            suite = None if key is None else self._find(key)
            if key is not None and key.round is not None and suite in again:
                counts[suite, key.case_id, key.round] += 1
        return Counter({key: count for key, count in counts.items() if count > 1})
