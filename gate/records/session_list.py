"""What a list of sessions says of each."""

from __future__ import annotations

from dataclasses import dataclass

from gate.records.verdict import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEntry:
    """One session that came to a verdict; None is unknown. Texts are hostile."""

    folder: str  # its name, without the folder around it
    stamp: str  # of summary.json when it was read: another one is read again
    created_at: str  # ISO 8601, UTC
    outcome: Outcome
    suites: tuple[str, ...]
    cases: int
    failed: int | None  # cases of which a round failed
    success_rate: float | None
    cost_usd: float | None
    duration_s: float
    commit: str | None = None
    pull_request: int | None = None
    has_page: bool = False
