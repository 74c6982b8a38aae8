"""What the base branch answered, kept in a session, so that its reports can show it whenever they
are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from gate.errors import GateError
from gate.records.baseline import AnswersOf, StoredAnswer
from gate.store.baseline.answers import keep_beside, read_beside
from gate.verdict.suite_data import SuiteData


def keep_answers(
    folder: Path, measured: Sequence[SuiteData], redact: Callable[[str], str], *, shown: bool
) -> tuple[str, ...]:
    """Keeps the answers to cases that are as they were then, in the session `folder`. Gives a
    sentence for each suite whose answers cannot be read: no verdict hangs on them.
    """
    notes = []
    for suite in measured:
        try:
            keep_beside(folder, suite.name, _same_cases(suite) if shown else iter(()), redact)
        except (GateError, OSError) as error:
            notes.append(f"suite {suite.name}: no stored answers of the base branch: {error}")
    return tuple(notes)


def answers_in(folder: Path) -> AnswersOf:
    """A function that looks up what a session keeps."""

    def find(suite: str, case_ids: frozenset[str]) -> Mapping[str, StoredAnswer]:
        return {one.case_id: one for one in read_beside(folder, suite) if one.case_id in case_ids}

    return find


def _same_cases(suite: SuiteData) -> Iterator[StoredAnswer]:
    digests = dict(zip(suite.current.cases, suite.current.digests, strict=True))
    for answer in suite.compared.stored_answers():
        if digests.get(answer.case_id) == answer.case_digest:
            yield answer
