"""Cases of the base branch that a pull request removes or edits (docs/semantics.md 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NAMED = 5  # cases named in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDrift:
    """How a pull request's dataset differs from the base's: case ids, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def find_case_drift(base: Mapping[str, str], head: Mapping[str, str]) -> CaseDrift:
    """How the head's cases differ from the base's; both are case id -> content hash."""
    return CaseDrift(
        added=tuple(sorted(head.keys() - base.keys())),
        removed=tuple(sorted(base.keys() - head.keys())),
        edited=tuple(sorted(i for i in base.keys() & head.keys() if base[i] != head[i])),
    )


def list_loosened_cases(
    suite: str, case_drift: CaseDrift, places: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Cases that the head removes or edits. `places`: case id -> `file:line` as the head has it."""
    lines = []
    for word, ids in (("removes", case_drift.removed), ("edits", case_drift.edited)):
        if ids:
            some = ", ".join(_format_case(case_id, places or {}) for case_id in ids[:NAMED])
            more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
            plural = "case" if len(ids) == 1 else "cases"
            lines.append(f"{word} {len(ids):,} {plural} of `{suite}`: {some}{more}")
    return tuple(lines)


def _format_case(case_id: str, places: Mapping[str, str]) -> str:
    return f"`{case_id}` in `{places[case_id]}`" if case_id in places else f"`{case_id}`"
