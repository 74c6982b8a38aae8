"""What one process does with a batch of recorded answers: read, grade, encode."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate.agents.recordings.answer_rows import AnswerRow, read_row
from gate.agents.recordings.answers import UNKNOWN, input_digest
from gate.errors import InfraFailure
from gate.plugins import Ask, Grader
from gate.records import Attempt, Case, MetricSpec, Price, Response, Suite, Trial
from gate.run.attempts import attempt_of_failure, unless_stopped
from gate.run.grade import ask_nobody, grade_attempt, make_graders
from gate.run.grading.case_store import CaseFile
from gate.run.row_of_trial import row_of_trial
from gate.store.event_log import encode_row
from gate.text.redaction import Redactor

# What goes to a process and comes back is plain, so that it costs little on the way.
Line = tuple[int, int, bytes]  # number of the file, number of the line, the line
TrialLines = tuple[int, int, int, list[Line]]  # number of the suite, place of the case, round
Fault = tuple[int, int, str]  # number of the file, number of the line, what is wrong with it
Reply = bytes | Fault  # the trial's row as it is stored, or why there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedSuite:
    """A suite; metric -> what it is."""

    suite: Suite
    specs: Mapping[str, MetricSpec]
    expected_keys: frozenset[str]  # of a case, that its row carries


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingKit:
    """Everything that grading needs to know; `cases`: the file of `store_cases`."""

    suites: tuple[GradedSuite, ...]
    prices: Mapping[str, Price]
    redactor: Redactor
    root: Path
    cases: Path
    started_at: str  # of trials: a recording does not say when they were made


class BatchGrader:
    """Grades batches with graders of this process; one thread at a time. `graders`: of each suite
    of the kit, by name; `find`: place -> case.
    """

    def __init__(
        self,
        kit: GradingKit,
        graders: Sequence[Mapping[str, Grader]],
        find: Callable[[int], Case],
        ask: Ask = ask_nobody,
    ) -> None:
        self._kit, self._graders, self._find, self._ask = kit, graders, find, ask
        self._redactor = kit.redactor

    def grade(self, batch: Sequence[TrialLines]) -> list[Reply]:
        """A reply for each trial of the batch."""
        return [self._grade_trial(*trial) for trial in batch]

    def _grade_trial(self, suite: int, place: int, number: int, lines: list[Line]) -> Reply:
        """The tries of one trial; where the suite retries any failure, the last one counts."""
        graded_suite, graders = self._kit.suites[suite], self._graders[suite]
        case = self._find(place)
        attempts: list[Attempt] = []
        for file, line_number, line in lines:
            try:
                row = _read_row_of(case, number, line)
            except ValueError as error:
                return file, line_number, str(error)
            attempt = self._attempt(case, row, graders)
            attempts.append(replace(attempt, n=len(attempts) + 1, latency_ms=row.latency_ms))
            if attempt.passed is not False and attempt.status != "infra_error":
                break
        trial = Trial(
            suite=graded_suite.suite.name,
            case=case,
            round=number,
            attempts=tuple(attempts),
            started_at=self._kit.started_at,
            judged=len(attempts) - 1,
        )
        row_found = row_of_trial(
            trial, graders, graded_suite.specs, self._kit.prices, graded_suite.expected_keys
        )
        return encode_row(row_found, self._redactor)

    def _attempt(self, case: Case, row: AnswerRow, graders: Mapping[str, Grader]) -> Attempt:
        outcome = row.outcome
        if row.input_digest not in (UNKNOWN, input_digest(case)):
            outcome = InfraFailure(f"the case '{case.id}' had another input when it was recorded")
        if isinstance(outcome, Response):  # without secrets, before graders quote from it
            scrubbed = self._redactor.scrub(outcome)
            return unless_stopped(grade_attempt(case, scrubbed, graders, self._ask))
        attempt = attempt_of_failure(outcome)
        done = attempt.response
        return replace(attempt, response=done and self._redactor.scrub(done))


def _read_row_of(case: Case, number: int, line: bytes) -> AnswerRow:
    """The row, which was taken for one of this case and round by how it begins. Raises
    ValueError.
    """
    row = read_row(line)
    if row.key.case_id != case.id or row.key.round not in (None, number):
        raise ValueError("names two cases or rounds")
    return row


def prepare_process(given: bytes) -> Callable[[list[TrialLines]], list[Reply]]:
    """In a process of its own: what grades a batch there. `given`: the kit, pickled."""
    kit: GradingKit = pickle.loads(given)  # noqa: S301 - of the process that started this one
    return BatchGrader(kit, graders_of(kit), CaseFile(kit.cases).find).grade


def graders_of(kit: GradingKit) -> list[dict[str, Grader]]:
    """Those of each suite, made anew."""
    return [make_graders(one.suite.graders, kit.root) for one in kit.suites]
