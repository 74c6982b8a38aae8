"""A stored session whose answers a judge has scored, and a sample of it filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gate.commands.label_review.manifest import Manifest
from gate.commands.label_review.raw_answer import FORM
from gate.records import MetricSpec
from gate.records.codec import to_json
from tests.support.stored_session import store

JUDGE = "judge-digest-1"
METRICS = (
    "correctness.factual_correctness",
    "correctness.reference_coverage",
    "correctness.faithfulness",
)
SPECS = {
    name: MetricSpec(name=name, column=name, unit="points", low=1.0, high=5.0, asks="judge")
    for name in METRICS
}


def judged(
    out: Path, answers: Mapping[str, str | None], *, rounds: int = 1, number: int = 1, **more: Any
) -> Path:
    """`answers`: case id -> what the agent said; None: it failed. `more`: as in `store`."""
    folder = store(out, {case: [True] * rounds for case in answers}, number=number, **more)
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    (suite,) = meta["suites"].values()
    suite["specs"] |= {name: to_json(spec) for name, spec in SPECS.items()}
    suite["graders"] |= dict.fromkeys(METRICS, JUDGE)
    (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    rows = [json.loads(line) for line in (folder / "details.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        answer = answers[row["case_id"]]
        row["output"] = answer
        row["status"] = "agent_error" if answer is None else "completed"
        row["scores"] = dict.fromkeys(METRICS, 3.0)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "details.jsonl").write_text(lines, encoding="utf-8")
    return folder


def filled(manifest: Manifest, reviewer: str = "Ada", **changes: Any) -> dict[str, Any]:
    """The file that the form saves when every criterion of every case is rated 4."""
    ratings = {one.name: 4 for one in manifest.criteria}
    labels = [
        {
            "item": item,
            "case_id": shown.case_id,
            "round": shown.round,
            "answer_digest": shown.answer_digest,
            "ratings": dict(ratings),
            "cannot_judge": False,
            "note": "",
            "labelled_at": "2026-11-20T10:00:00.000Z",
        }
        for item, shown in enumerate(manifest.cases, 1)
    ]
    head = {"form": FORM, "version": 1, "period": manifest.period, "suite": manifest.suite}
    return {**head, "sample": manifest.digest, "reviewer": reviewer, "labels": labels, **changes}
