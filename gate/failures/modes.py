"""The mode of a failed trial, by rules over its status and its graders' codes."""

from __future__ import annotations

from collections.abc import Mapping

from gate.records import FailureMode, Json


def mode_of(row: Mapping[str, Json]) -> FailureMode | None:
    """The mode of a row of details.jsonl; None where it passed, or nobody knows whether it did."""
    if row["status"] == "agent_error":
        return "agent_error"
    return "wrong_answer" if row["passed"] is False else None
