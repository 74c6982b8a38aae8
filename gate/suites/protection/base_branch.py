"""What a pull request may not move: its own goalposts. Rules and cases come from the base branch
(docs/semantics.md 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gate.records import Config

NAMED = 5  # cases named in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDrift:
    """How a pull request's dataset differs from the base's: case ids, sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    edited: tuple[str, ...]


def protect_rules(head: Config, base: Config) -> Config:
    """The base's rules around the head's agent and retriever; suites that only the head has are
    kept (they do not gate).
    """
    base_suites = {suite.name for suite in base.suites}
    added = tuple(suite for suite in head.suites if suite.name not in base_suites)
    return replace(
        base,
        agent=head.agent,
        retriever=head.retriever,
        suites=base.suites + added,
        file=head.file,
    )


def new_suites(head: Config, base: Config) -> frozenset[str]:
    return frozenset(s.name for s in head.suites) - {s.name for s in base.suites}


def drift(base: Mapping[str, str], head: Mapping[str, str]) -> CaseDrift:
    """`base`, `head`: case id -> content hash."""
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
