"""`gate show CASE`: everything that a stored session knows about one case; calls no agent."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.commands.options.records import find_stored, output_options
from gate.errors import UsageError
from gate.records import TrialRow
from gate.records.shown_case import ShownCase
from gate.report.debugging import show
from gate.store.baseline.answers import read_beside
from gate.store.session import Session, load_session
from gate.store.session_check import check_rows
from gate.text.suggestions import did_you_mean


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the case of each suite that has it and returns 0. Raises UsageError for a case that
    the session does not have.
    """
    session = load_session(find_stored(options.session))
    cases = tuple(find_cases(session, options.case, options.suite or ()))
    for line in show(cases, session.folder, output_options(options), env):
        print(line)
    return 0


def find_cases(
    session: Session, case_id: str, suites: list[str] | tuple[()]
) -> Iterator[ShownCase]:
    """The case in each suite that has one of this id, of `suites` alone if there are any. Raises
    UsageError where there is none.
    """
    known: dict[str, None] = {}
    found: dict[str, list[TrialRow]] = {}
    for row in check_rows(session.rows(), session.meta.suites, session.folder):
        if suites and row["suite"] not in suites:
            continue
        known[row["case_id"]] = None
        if row["case_id"] == case_id:
            found.setdefault(row["suite"], []).append(row)
    if not found:
        where = f"suite {', '.join(suites)} of {session.folder}" if suites else str(session.folder)
        raise UsageError(f"{case_id}: no such case in {where}{did_you_mean(case_id, [*known])}")
    for suite, rows in found.items():
        yield _shown(session, suite, rows)


def _shown(session: Session, suite: str, rows: list[TrialRow]) -> ShownCase:
    rows.sort(key=lambda row: int(row["round"]))
    first = rows[0]
    case = ShownCase(
        suite=suite,
        case_id=first["case_id"],
        question=str(first["question"]),
        expected=first.get("expected", {}),
        rows=tuple(rows),
        units={spec.column: spec.unit for spec in session.meta.suites[suite].specs.values()},
        planned=len(rows),
    )
    same = (case.case_id, first["case_digest"])
    before = (
        answer
        for answer in read_beside(session.folder, suite)
        if (answer.case_id, answer.case_digest) == same
    )
    return replace(case, before=next(before, None))
