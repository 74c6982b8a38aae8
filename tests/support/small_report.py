"""A small Report for tests that need one."""

from __future__ import annotations

from typing import Any

from gate.records import BaselineInfo, Calls, CaseChanges, Cost, Policy, Provenance, Report


def report(
    outcome: str = "pass", exit_code: int = 0, cases: CaseChanges | None = None, **changes: Any
) -> Report:
    values: dict[str, Any] = {
        "session_id": "20261120-120000-0123abcd",
        "created_at": "2026-11-20T12:00:00Z",
        "duration_s": 1.0,
        "outcome": outcome,
        "exit_code": exit_code,
        "reason": "why",
        "policy": Policy(),
        "provenance": Provenance(),
        "suites": {},
        "comparisons": (),
        "gates": (),
        "cases": cases or CaseChanges(),
        "calls": Calls(planned=1, cap=1, made=1, saved=0),
        "cost": Cost(usd=None),
        "baseline": BaselineInfo(source="none"),
    }
    return Report(**{**values, **changes})
