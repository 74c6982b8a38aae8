"""What is kept of the runs that a baseline consists of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRun:
    """One run of the base branch. `kept` of its `rounds` are still in `values`; `means` are the
    metrics' own numbers (a p95 is a p95) and outlive the values.
    """

    session_id: str
    commit: str | None
    created_at: str  # ISO 8601, UTC
    rounds: int = 0
    kept: int = 0
    cases: int = 0  # that it ran, 0 when unknown: a sample's means are not those of all cases
    means: Mapping[str, float | None] = field(default_factory=dict)
    fingerprint: Mapping[str, str] = field(default_factory=dict)  # agent, judge, dataset, ...
    # Absent where an older version wrote the run, and then left out again: see `header_of`.
    trials: int | None = None  # that were made
    modes: Mapping[str, int] | None = None  # failure mode -> cases, the top one first; {}: none


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """What the newest run of the base branch answered to a case: of its first round with the
    verdict of most rounds. Hostile text, without secrets, cut at 4,000 characters.
    """

    case_id: str
    case_digest: str  # of the case as it was then
    passed: bool | None
    answer: str | None  # None: none came, or it was not kept
    error: str | None = None  # of an agent that failed
    # Column -> mean of the case over the stored rounds; only in a session, and {} of older ones.
    means: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str | None:
        return self.error if self.answer is None else self.answer


# Of a suite, those of the cases that have one; their questions are as they are now.
AnswersOf = Callable[[str, frozenset[str]], Mapping[str, StoredAnswer]]


def no_answers_of(suite: str, case_ids: frozenset[str]) -> Mapping[str, StoredAnswer]:
    """An empty mapping, where no answers are kept."""
    return {}
