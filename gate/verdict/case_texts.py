"""What was asked, expected and answered in the cases that a report is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from gate.analysis.expected import describe_expected, find_expected
from gate.records import CaseTexts, TrialRow
from gate.records.baseline import AnswersOf, StoredAnswer
from gate.records.shown_case import is_failed_round
from gate.records.trial_row import RowsOf
from gate.verdict.explain import reason_of

MOST = 50  # cases of a suite
_SHOWN = 400  # characters of a text


def texts_by_suite(
    worst: Sequence[tuple[str, str]], rows_of: RowsOf, answers_of: AnswersOf, *, shown: bool
) -> dict[str, dict[str, CaseTexts]]:
    """Suite -> case -> its texts, of the first MOST of each suite among the `worst` (suite, case),
    in their order. Not `shown`: without what was expected, and what the base branch answered.
    """
    by_suite: dict[str, list[str]] = {}
    for suite, case_id in worst:
        by_suite.setdefault(suite, []).append(case_id)
    return {
        suite: _texts_of(suite, case_ids[:MOST], rows_of, answers_of, shown=shown)
        for suite, case_ids in by_suite.items()
    }


def _texts_of(
    suite: str, case_ids: Sequence[str], rows_of: RowsOf, answers_of: AnswersOf, *, shown: bool
) -> dict[str, CaseTexts]:
    wanted = frozenset(case_ids)
    before = answers_of(suite, wanted) if shown else {}
    rounds = {
        case_id: list(rows)
        for case_id, rows in groupby(rows_of(suite, wanted), key=lambda row: row["case_id"])
    }
    return {
        case_id: _texts(rounds[case_id], before, shown=shown)
        for case_id in case_ids
        if case_id in rounds
    }


def _texts(
    rows: Sequence[TrialRow], before: Mapping[str, StoredAnswer], *, shown: bool
) -> CaseTexts:
    worst = next(filter(is_failed_round, rows), rows[0])
    was = before.get(worst["case_id"])
    return CaseTexts(
        asked=_cut(worst["question"]),
        expected=_cut(describe_expected(find_expected(rows))) if shown else "",
        was=None if was is None or was.text is None else _cut(was.text),
        now=_cut_if_any(worst["error"] if worst["output"] is None else worst["output"]),
        failed=is_failed_round(worst),
        # Which may quote what was expected.
        why=_cut(reason_of(worst)) if shown and is_failed_round(worst) else "",
    )


def _cut_if_any(text: str | None) -> str | None:
    return None if text is None else _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
