"""One case as somebody looks at it: what was asked, what was wanted, what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.records.baseline import StoredAnswer
from gate.records.settings import Json
from gate.records.trial_row import TrialRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCase:
    """`rows`: its rounds as details.jsonl has them, in order. All of it is hostile text."""

    suite: str
    case_id: str
    question: str
    # The keys that its graders read.
    expected: Mapping[str, Json] = field(default_factory=dict)
    rows: tuple[TrialRow, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)  # of its scores
    planned: int = 0  # rounds
    before: StoredAnswer | None = None  # what the base branch answered

    @property
    def passed(self) -> int:
        """Rounds that did not fail. What no grader has an opinion on is no failure."""
        return sum(not is_failed_round(row) for row in self.rows)

    @property
    def passed_always(self) -> bool:
        return bool(self.rows) and self.passed == self.planned and not self.undecided

    @property
    def undecided(self) -> bool:
        """Whether no grader has an opinion on any of its answers."""
        return bool(self.rows) and all(
            row["passed"] is None and not is_failed_round(row) for row in self.rows
        )


def is_failed_round(row: TrialRow) -> bool:
    """Whether it failed, was not answered, or could not be judged."""
    if row["passed"] is None:
        return row["status"] != "completed" or bool(row["unscored"])
    return row["passed"] is not True
