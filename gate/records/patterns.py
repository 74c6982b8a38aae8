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
class ArgumentChange:
    """One argument that differs between two calls of a tool. The values are JSON, cut, hostile
    text; empty: the call has no such argument.
    """

    name: str
    was: str = ""
    now: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepChange:
    """One line of a step-level comparison of two trajectories; texts are hostile."""

    kind: Literal["same", "added", "removed", "changed"]
    was: str = ""  # the step before: tool and arguments, cut
    now: str = ""
    arguments: tuple[ArgumentChange, ...] = ()  # of a changed step, as far as they are known


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDiff:
    """What an agent did otherwise than before, or than the reference trajectory does."""

    against: Literal["baseline", "reference"]
    round: int  # of this run, from 1
    steps: tuple[StepChange, ...]


# What cases can have in common, what says most first: an argument with another value, a tool that
# is no longer or newly called, how the answer misses what was expected, a failure mode, a category.
CauseKind = Literal["argument", "tool_gone", "tool_new", "answer", "mode", "category"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CausePart:
    """One thing that newly failing cases have in common; texts are hostile."""

    kind: CauseKind
    what: str  # tool.argument, tool, kind of answer, mode or category
    was: str = ""  # values of the argument as JSON; both empty: they differ from case to case
    now: str = ""
    cases: int = 0  # newly failing ones that have it
    of: int = 0  # newly failing ones of which it is known
    elsewhere: int = 0  # cases of the same run that have it too, and did not newly fail
    of_elsewhere: int = 0  # those of which it is known; 0: of none


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCause:
    """What seems to be behind newly failing cases of a suite. Further parts hold for nearly the
    same cases as the first one.
    """

    suite: str
    parts: tuple[CausePart, ...]
    cases: tuple[str, ...]  # ids of the first part's cases, by name
    shared: int = 0  # of these, the ones that an earlier cause has


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a run on the main branch says of a release: "improved: deploy, otherwise not"."""

    deploy: bool
    reason: str  # one sentence
    improved: tuple[str, ...] = ()  # suite/metric
