"""A small session on disk, as `gate run` leaves it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gate.records import AcceptedChange, BaselineInfo, Estimate, MetricSpec, Provenance, SuiteReport
from gate.records.codec import to_json
from gate.store.session import Meta, SessionWriter, SuiteMeta
from tests.support.small_report import report

SPEC = MetricSpec(name="agent.success_rate", column="success", unit="share")


def store(
    out: Path,
    cases: Mapping[str, Sequence[bool]],
    *,
    number: int = 1,
    suite: str = "analytics",
    outcome: str = "pass",
    finished: bool = True,
    not_selected: int = 0,
    accepted: tuple[AcceptedChange, ...] = (),
    **provenance: Any,
) -> Path:
    """`cases`: id -> passed by round. Returns the session's folder."""
    rounds = len(next(iter(cases.values())))
    made = Provenance(**{"commit": f"{number:040x}", "agent": "openai m", **provenance})
    meta = Meta(
        session_id=f"20261119-12000{number}-0123abcd",
        created_at=f"2026-11-19T12:00:0{number}Z",
        provenance=made,
        suites={
            suite: SuiteMeta(
                dataset="d.jsonl",
                dataset_digest="dd",
                rounds=rounds,
                cases=len(cases),
                not_selected=not_selected,
                specs={SPEC.name: SPEC},
                graders={"success": "g1"},
            )
        },
    )
    with SessionWriter.create(out, meta, lambda text: text) as session:
        for case, passed in cases.items():
            for index, value in enumerate(passed, 1):
                session.append(_row(suite, case, index, passed=value))
        session.write_details()
        if finished:
            suites = {suite: _report(suite, outcome, cases)}
            whole = report(outcome, provenance=made, suites=suites, accepted=accepted)
            session.write("summary.json", json.dumps(to_json(whole)))
            session.write("comment.md", "## Pass\n\nas measured\n")
        return session.folder


def _row(suite: str, case: str, number: int, *, passed: bool) -> dict[str, Any]:
    attempt = {"n": 1, "status": "completed", "passed": passed, "failures": [], "latency_ms": 5.0}
    attempt |= {"waited_ms": 0.0, "usage": {}, "error": None}
    return {
        "suite": suite,
        "case_id": case,
        "case_digest": f"d-{case}",
        "category": None,
        "tags": [],
        "round": number,
        "attempts": [attempt],
        "status": "completed",
        "passed": passed,
        "failures": [],
        "scores": {},
        "dimension_scores": {},
        "reasons": {},
        "unscored": {},
        "latency_ms": 5.0,
        "cost_usd": None,
        "question": f"question of {case}",
        "error": None,
        "started_at": "2026-11-19T12:00:00.000Z",
        "usage": {},
        "model": "m",
        "steps": None,
        "output": "an answer",
        "retrieved_ids": None,
        "safety_violations": None,
    }


def _report(suite: str, outcome: Any, cases: Mapping[str, Sequence[bool]]) -> SuiteReport:
    every = [value for passed in cases.values() for value in passed]
    rate = Estimate(metric=SPEC.name, value=sum(every) / len(every))
    return SuiteReport(
        name=suite,
        outcome=outcome,
        reason="",
        version=None,
        dataset="d.jsonl",
        dataset_digest="dd",
        cases=len(cases),
        trials=len(every),
        rounds=1,
        metrics={SPEC.name: rate},
        failures_top=(),
        success_rate_ci95=None,
        baseline=BaselineInfo(source="none"),
    )
