"""The cases of a run as people look at them, with what the dataset expects of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Set

from gate.analysis.expected import expected_of
from gate.errors import GateError
from gate.records import Case, TrialRow
from gate.records.shown_case import ShownCase
from gate.run.prepare import SuitePlan
from gate.store.session import SessionWriter
from gate.text.redaction import Redactor


def show_cases(
    plan: SuitePlan, ids: Collection[str], session: SessionWriter, redactor: Redactor
) -> Iterator[ShownCase]:
    """The cases of the suite as the dataset has them, with the agent's answers; without an
    expectation if the case cannot be read any more.
    """
    wanted = frozenset(ids)
    rows: dict[str, list[TrialRow]] = {}
    for row in session.rows_of(plan.name, wanted):
        rows.setdefault(row["case_id"], []).append(row)
    units = {spec.column: spec.unit for spec in plan.specs.values()}
    for case_id, case in _read(plan.read, wanted):
        rows_of_case = sorted(rows.get(case_id, ()), key=lambda row: int(row["round"]))
        question = rows_of_case[0]["question"] if rows_of_case else case.question if case else ""
        yield ShownCase(
            suite=plan.name,
            case_id=case_id,
            question=redactor.redact(str(question)),
            expected=redactor.scrub(expected_of(case, plan.expected_keys)) if case else {},
            rows=tuple(rows_of_case),
            units=units,
            planned=plan.suite.rounds,
        )


def _read(
    read: Callable[[Set[str]], Iterator[Case]], wanted: frozenset[str]
) -> Iterator[tuple[str, Case | None]]:
    left = set(wanted)
    try:
        for case in read(wanted):
            if case.id in left:
                left.discard(case.id)
                yield case.id, case
                if not left:
                    return
    except (GateError, OSError):  # by now
        pass
    yield from ((case_id, None) for case_id in sorted(left))
