"""What a suite's failures have in common, and what its cases cost: modes, clusters, categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# Why a trial failed, in one word; rules in gate/analysis/failures, definitions in
# docs/trajectories.md.
FailureMode = Literal[
    "safety",
    "timeout",
    "agent_error",
    "loop",
    "inefficient",
    "refusal",
    "tool_args_wrong",
    "wrong_tool",
    "missing_tool_use",
    "retrieval_miss",
    "hallucinated_data",
    "format",
    "instruction",
    "wrong_answer",
]
Severity = Literal["low", "medium", "high"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something an agent must not do. `excerpt` is hostile text in which secrets are masked."""

    rule: str  # code, e.g. "forbidden_tool"
    detail: str = ""  # what of the rule was met: a tool, a pattern's name, a kind of secret
    severity: Severity = "high"
    step: int | None = None  # from 1; None: the answer, or the agent does not say where
    excerpt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedViolation:
    """A line of the violation log."""

    suite: str
    case_id: str
    round: int  # from 1
    violation: Violation
    by: str = ""  # grader; empty: the agent reports it itself


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeCount:
    """How many trials of a suite failed in one mode, and of how many cases."""

    mode: FailureMode
    trials: int
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Failures that look alike: same mode, same codes but for their details."""

    mode: FailureMode
    label: str  # what they share, hostile text
    trials: int
    cases: tuple[str, ...]  # ids, the most frequent first; at most as many as are shown
    n_cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryReport:
    """One category of a suite's cases; None is unmeasured."""

    category: str | None
    cases: int
    trials: int
    success_rate: float | None
    avg_steps: float | None
    cost_per_task: float | None  # USD
    cost_per_success: float | None  # USD
    unknown_cost: int = 0  # trials
    top_mode: FailureMode | None = None
    top_mode_cases: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCounts:
    """The cases that a run asked, by what their rounds came to."""

    asked: int
    passing: int  # every round that was judged passed
    flaky: int  # some did
    failing: int  # none did

    @property
    def decided(self) -> int:
        return self.passing + self.flaky + self.failing


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Cases by what their rounds did; a case of one round is in none of these."""

    rounds: int
    reliable: int  # every round passed
    flaky: int  # some did
    consistently_failing: int  # none did


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """One line of a step-level comparison of two trajectories; texts are hostile."""

    kind: Literal["same", "added", "removed", "changed"]
    was: str = ""  # the step before: tool and arguments, cut
    now: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDiff:
    """What an agent did otherwise than before, or than the reference trajectory does."""

    against: Literal["baseline", "reference"]
    round: int  # of this run, from 1
    steps: tuple[StepChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a run on the main branch says of a release: "improved: deploy, otherwise not"."""

    deploy: bool
    reason: str  # one sentence
    improved: tuple[str, ...] = ()  # suite/metric
