"""A trial as one flat row of texts and numbers, for tables: the same columns in every row, and in
each column one kind of value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime

from gate.errors import UsageError
from gate.records import CheckedJson, Report, TrialRow
from gate.records.codec import to_json

SCORE = "score."  # in front of a metric's column
MOST_SCORES = 1_000  # columns
_EXACT = 2**53  # whole numbers beyond it are none that a table's reader keeps
_VERDICTS = {True: "passed", False: "failed", None: "unscored"}
# Keys of a row that columns tell whole; the others are in `more`.
_TOLD = frozenset(
    [
        "suite",
        "case_id",
        "category",
        "round",
        "status",
        "passed",
        "latency_ms",
        "cost_usd",
        "model",
        "question",
        "output",
        "error",
        "scores",
        "started_at",
    ]
)


def score_names(rows: Iterable[TrialRow]) -> tuple[str, ...]:
    """Every name under `scores`, sorted. Raises UsageError for more than 1,000."""
    names: set[str] = set()
    for row in rows:
        names.update(row["scores"])
        if len(names) > MOST_SCORES:
            raise UsageError(f"more than {MOST_SCORES:,} different scores; export one --suite")
    return tuple(sorted(names))


def flatten_row(
    report: Report, row: TrialRow, scores: Iterable[str]
) -> dict[str, str | int | float | None]:
    """Texts are never null, an absent one is empty; a number that is unknown is null. Amounts are
    floats, counts whole.
    """
    return {
        "session_id": report.session_id,
        "suite": row["suite"],
        "case_id": row["case_id"],
        "category": row["category"] or "",
        "round": _as_integer(row["round"]),
        "status": row["status"],
        "verdict": _VERDICTS[row["passed"]],
        "failures": "; ".join(row["failures"]),
        "mode": row.get("mode") or "",
        "attempts": len(row["attempts"]),
        **numbers(row, scores),
        "model": row["model"] or "",
        "started_at": _moment(row["started_at"]) or _moment(report.created_at),
        "question": row["question"],
        "output": row["output"] or "",
        "error": row["error"] or "",
        "more": _rest(row),
    }


def numbers(row: TrialRow, scores: Iterable[str]) -> dict[str, int | float | None]:
    """The columns that can be null."""
    usage, steps = row.get("usage") or {}, row.get("steps")
    return {
        "latency_ms": _as_float(row["latency_ms"]),
        "cost_usd": _as_float(row["cost_usd"]),
        "input_tokens": _as_integer(usage.get("input_tokens")),
        "output_tokens": _as_integer(usage.get("output_tokens")),
        "steps": None if steps is None else len(steps) + (row.get("omitted_steps") or 0),
        **{f"{SCORE}{name}": _as_float(row["scores"].get(name)) for name in scores},
    }


def _rest(row: TrialRow) -> str:
    rest = {key: value for key, value in row.items() if key not in _TOLD}
    try:
        return json.dumps(rest, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps({key: _plain(value) for key, value in rest.items()}, ensure_ascii=False)


def _plain(value: CheckedJson) -> CheckedJson:
    """What a reader of JSON takes: no NaN, nothing that is nested too deeply for it."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return to_json(value)
    except RecursionError:
        return "nested too deeply"
    return value


def _as_float(value: CheckedJson) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _as_integer(value: CheckedJson) -> int | None:
    return int(value) if value is not None and abs(value) <= _EXACT else None


def _moment(text: str) -> str | None:
    """None for what is no ISO 8601."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return None
    return text
