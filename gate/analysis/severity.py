"""Which of several cases that newly fail comes first."""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import CaseChange


def by_severity(changes: Sequence[CaseChange]) -> tuple[CaseChange, ...]:
    """The largest fall in the share of passed rounds first, then the surest, then by name."""
    return tuple(sorted(changes, key=lambda one: (*severity_of(one), one.suite, one.case_id)))


def severity_of(change: CaseChange) -> tuple[float, float]:
    """Less is worse: minus the fall in the share of passed rounds, then how unsure it is."""
    fall = _ratio(change.baseline_passed, change.baseline_rounds) - _ratio(
        change.current_passed, change.current_rounds
    )
    surety = 1.0 if change.p_value is None else change.p_value
    return -fall, surety


def _ratio(passed: int | None, total: int | None) -> float:
    return (passed or 0) / total if total else 0.0
