"""What is kept of the runs that a baseline consists of, and of the anchor: fixed rounds that main
itself is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gate.records.verdict import Direction

AnchorKind = Literal["first", "release", "ref", "best"]


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


# -------------------------------------------------------------------------------------- the anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSteps:
    """How much a metric's mean moved from each run of main to the next, added up since the anchor
    was set. Squares in the metric's unit; `noise` is the part of them that calls explain.
    """

    count: int = 0
    squares: float = 0.0
    noise: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSeen:
    """The run in which main was first seen below its anchor. `before`: commit of the run before."""

    at: str  # ISO 8601, UTC
    session_id: str
    commit: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorHeader:
    """What a baseline file says of its anchor; the rounds themselves stand beside the cases."""

    kind: AnchorKind
    name: str = ""  # of the release or ref
    commit: str | None = None
    created_at: str = ""  # ISO 8601, UTC: of its newest run
    runs: tuple[BaselineRun, ...] = ()  # oldest first
    wanted: Mapping[str, int] = field(default_factory=dict)  # column -> runs that it still takes up
    graders: Mapping[str, str] = field(default_factory=dict)  # column -> hash of its grader
    steps: Mapping[str, RunSteps] = field(default_factory=dict)  # by metric
    falls: Mapping[str, FirstSeen] = field(default_factory=dict)  # by metric; what main has lost
    accepted: int = 0  # how many accept records of the file it has followed
    better_since: str = ""  # when `best` saw a better level, which later runs are to confirm


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorLevel:
    """One metric of main against the anchor. The change is `now` minus `anchor`, and a share of the
    anchor where `relative`; its bounds are those at the level of the
    anchor's test.
    """

    metric: str
    unit: str
    direction: Direction
    anchor: float
    now: float | None = None  # of the newest `runs` runs together; None: too few runs yet
    change: float | None = None
    low: float | None = None
    high: float | None = None
    relative: bool = False
    typical: bool = False  # the change of a typical answer: a ratio of geometric means
    runs: int = 0
    p_value: float | None = None
    seen: FirstSeen | None = None  # main has lost it since; None: it has not


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorReport:
    """The anchor of a suite, and where main stands against it."""

    kind: AnchorKind
    name: str = ""
    commit: str | None = None
    created_at: str = ""
    runs: int = 0
    rounds: int = 0
    levels: tuple[AnchorLevel, ...] = ()
    decides: bool = False  # this run is main's own or a release: a fall fails it
    missing: str = ""  # why main has no anchor to compare with; empty: it has one

    @property
    def fallen(self) -> tuple[AnchorLevel, ...]:
        """The metrics that main has lost and nobody accepted or mended."""
        return tuple(level for level in self.levels if level.seen)
