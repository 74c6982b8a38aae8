"""What the base branch answered, kept in a session, so that its reports can show it whenever they
are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gate.analysis.pairing import pair_cases
from gate.errors import GateError
from gate.records.baseline import AnswersOf, StoredAnswer
from gate.stats.pairs import case_means
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
    """Those with an answer, then those without one that fail now: of them the scores alone."""
    digests = dict(zip(suite.current.cases, suite.current.digests, strict=True))
    means = _mean_scores(suite)
    for answer in suite.compared.stored_answers():
        if digests.get(answer.case_id) == answer.case_digest:
            yield replace(answer, means=means.pop(answer.case_id, {}))
    for case_id, passed in suite.current.passed_shares().items():
        if passed < 1.0 and case_id in means:
            yield StoredAnswer(
                case_id=case_id,
                case_digest=digests[case_id],
                passed=None,
                answer=None,
                means=means[case_id],
            )


def _mean_scores(suite: SuiteData) -> dict[str, dict[str, float]]:
    """Case -> column of a grader -> mean over the stored rounds."""
    if suite.baseline is None:
        return {}
    before = pair_cases(suite.baseline, suite.current).baseline
    means: dict[str, dict[str, float]] = {case_id: {} for case_id in before.cases}
    for name in sorted(suite.current.graders.keys() & before.columns.keys()):
        column = case_means(before.columns[name]).tolist()
        for case_id, mean in zip(before.cases, column, strict=True):
            if mean == mean:  # NaN is unknown
                means[case_id][name] = round(mean, 6)
    return means
