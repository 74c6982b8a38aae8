"""Labels for tests: what people said of answers that a judge scored."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from typing import Any

from gate.files.rows import DatasetSource
from gate.records import Label, MetricSpec
from gate.records.codec import to_json

FILE = "reviews/labels.jsonl"
METRIC = "correctness.factual_correctness"
SPEC = MetricSpec(
    name=METRIC, column=METRIC, unit="points", low=1.0, high=5.0, on_agent_error=1.0, asks="judge"
)
DIGEST = "judge-1"


def label(case: str = "c000", human: float = 4.0, judge: float | None = 5.0, **more: Any) -> Label:
    values: dict[str, Any] = {
        "suite": "s",
        "case_id": case,
        "case_digest": case,
        "round": 1,
        "answer_digest": hashlib.sha256(case.encode()).hexdigest(),
        "rubric": "answer",
        "metric": METRIC,
        "human": human,
        "judge": judge,
        "judge_digest": DIGEST,
        "reviewer": "Ann",
        "labelled_at": "2026-11-21T12:00:00Z",
    }
    return Label(**{**values, **more})


def labels(count: int, *, bias: float = 1.0, **more: Any) -> list[Label]:
    """Over 20 cases: people give 1 to 4 in turn, the judge `bias` more but for each seventh."""
    return [
        label(f"c{n % 20:03d}", 1.0 + n % 4, 1.0 + n % 4 + (0.0 if n % 7 == 6 else bias), **more)
        for n in range(count)
    ]


def lines(rows: Iterable[Label]) -> str:
    return "".join(json.dumps(to_json(row)) + "\n" for row in rows)


def source(text: str | bytes) -> DatasetSource:
    data = text if isinstance(text, bytes) else text.encode()
    return DatasetSource(name=FILE, open=lambda: io.BytesIO(data))
