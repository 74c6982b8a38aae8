"""Counts over one suite's rows that no table of floats holds: codes, statuses, calls, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.records import Json

TOP = 10


@dataclass(slots=True, kw_only=True)
class Tally:
    """Grows row by row, in any order."""

    trials: int = 0
    calls: int = 0  # tries, the retried ones too
    infra_errors: int = 0
    agent_errors: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)  # grader -> answers it could not judge
    usd: float = 0.0
    priced: int = 0  # trials with a known cost
    unknown_models: Counter[str] = field(default_factory=Counter)
    last_error: str = ""
    judge_calls: int = 0  # of judges and verifiers
    judge_usd: float = 0.0  # as far as known
    judge_unknown: int = 0  # votes of unknown cost

    def add(self, row: Mapping[str, Json]) -> None:
        self.trials += 1
        self.calls += len(row["attempts"])
        self.infra_errors += row["status"] == "infra_error"
        self.agent_errors += row["status"] == "agent_error"
        self.codes.update(dict.fromkeys(row["failures"], 1))
        self.unscored.update(dict.fromkeys(row["unscored"], 1))
        self.last_error = row["error"] or self.last_error
        if judging := row.get("judging"):
            self.judge_calls += judging["calls"]
            self.judge_usd += judging["usd"]
            self.judge_unknown += judging["unknown"]
        if row["cost_usd"] is not None:
            self.usd += row["cost_usd"]
            self.priced += 1
        elif row["status"] == "completed":
            self.unknown_models[row["model"] or "unnamed"] += 1

    def top(self) -> tuple[tuple[str, int], ...]:
        """The ten most frequent failure codes; ties in alphabetical order."""
        ranked = sorted(self.codes.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ranked[:TOP])
