"""Numbers over a suite and what is decided from them: metrics, comparisons, gates, case lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from gate.errors import Place
from gate.records.labels import Corrected
from gate.records.patterns import FailureMode, StepDiff
from gate.records.settings import CheckedJson, Level, Rule

Bounds = Callable[[float], tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """How sharply a plan of looks sees: what a detectable change is computed from."""

    drift: float  # change, in standard errors at the last look, that is caught with `power`
    power: float
    level: float  # one-sided nominal level of the last look
    share: float = 1.0  # of the last look's information that is there now; (0, 1]
    cases: float = 1.0  # share of the cases that were asked so far; (0, 1]
    fresh: bool = False  # the baseline grows with the run


@dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """A size at which no result could ever be called a change, and how much of either would be
    enough.
    """

    cases: int
    rounds: int  # most that a case has now
    enough_cases: int  # with as many rounds
    enough_rounds: int | None = None  # of as many cases, with the baseline as it is; None: no help


def sees(_: float) -> None:
    """There is a result that could be called a change, at whatever level."""


def never(_: float) -> bool:
    """No loss is known to be significant at any level."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Current against baseline, cases paired. `delta` = current - baseline in natural units, or
    as a share of the baseline where `relative`.

    `p_worse`: chance, if nothing changed, of a change at least this bad; `p_better` the mirror.
    Where two tests disagree about the noise, these are the larger of their chances; `p_doubt`
    is the smaller one of "worse": what an acquittal has to face.
    """

    baseline: float
    current: float
    delta: float
    relative: bool
    se: float  # of delta if nothing changed, on delta's scale
    p_worse: float
    p_better: float
    p_doubt: float
    bounds: Bounds  # alpha -> (low, high) of delta, each wrong with probability at most alpha
    detectable: Callable[[Sight], float]  # smallest change that is caught, a size on delta's scale
    size: Callable[[float], float]  # so many standard errors of an unchanged agent, likewise
    n_paired: int
    method: str
    too_few: str = ""  # why these are too few data, e.g. "60 of 100 calls needed for a p95"
    # Level of a test -> why nothing of this size could reach it; None: something could.
    blind: Callable[[float], Blind | None] = sees
    room: float = math.inf  # size of losing all there is to lose
    all_lost: Callable[[float], bool] = never  # level of a test -> whether that loss reaches it


MOST_LOOKS = 20
FEWEST_CALLS = 10  # of a batch between two looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Numbers of trials after which the verdict is looked at, ascending; the last is the cap.

    Raises ValueError for anything else: a stored plan may come from anybody.
    """

    calls: tuple[int, ...]

    def __post_init__(self) -> None:
        all_integers = all(type(number) is int for number in self.calls)
        if not (all_integers and 0 < len(self.calls) <= MOST_LOOKS) or any(
            late <= early for early, late in pairwise((0, *self.calls))
        ):
            raise ValueError(f"looks come after 1 to {MOST_LOOKS} ascending numbers of trials")

    @property
    def cap(self) -> int:
        return self.calls[-1]


def equal_looks(cap: int, *, batch: int = FEWEST_CALLS) -> Looks:
    """Looks after equal batches of at least `batch` trials, at most twenty of them. Their number is
    even, so that half of the cap, which the planned trials are by default, is a look.
    """
    number = max(1, min(MOST_LOOKS, cap // max(FEWEST_CALLS, batch)))
    number -= number % 2 if number > 1 else 0
    return Looks(calls=tuple(round(cap * (k + 1) / number) for k in range(number)))


Direction = Literal["higher", "lower"]  # which one is better
Outcome = Literal["pass", "fail", "inconclusive", "no_baseline", "not_comparable", "error"]
Status = Literal[
    "regression",
    "suspected",
    "inconclusive",
    "no_regression",
    "within_tolerance",
    "improvement",
    "accepted",
    "new",
    "missing",
    "not_comparable",
]
# warn: beyond a limit, but not so surely as its rule asks
GateStatus = Literal["pass", "fail", "warn", "inconclusive", "missing", "accepted"]
# What an inconclusive row lacks: answers that are missing, trials that the run did not make, an
# agent that could be reached; empty: more data than the plan has.
Wants = Literal["", "answers", "trials", "agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """What a metric is: how per-trial values of `column` become one number, in which unit and
    direction.

    `family` names the reduction in METRICS. `low`/`high` are the metric's own bounds (None:
    unbounded).
    `on_agent_error` is the value of a trial that ended in an agent error; None leaves the trial
    out.
    """

    name: str  # dimension.metric
    column: str
    family: str = "mean"
    options: Mapping[str, CheckedJson] = field(default_factory=dict)
    unit: str = ""  # "share", "ms", "USD", "tokens", "steps", "points"
    direction: Direction = "higher"
    low: float | None = 0.0
    high: float | None = 1.0
    on_agent_error: float | None = 0.0
    description: str = ""
    asks: Literal["", "judge", "verifier"] = ""  # the model whose opinion it is
    only_passed: bool = False  # its best value counts of trials that passed only
    per: str = ""  # a ratio: the column, of 0 and 1, whose sum the sum is divided by

    @property
    def columns(self) -> tuple[str, ...]:
        """What its value is made of."""
        return (self.column, self.per) if self.per else (self.column,)

    @property
    def dimension(self) -> str:
        return self.name.split(".", 1)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A metric over a suite. `min`/`max` are over the per-case means; the interval is two-sided at
    `confidence`.
    """

    metric: str
    value: float | None  # None: could not be measured, `reason` says why
    min: float | None = None  # mean of the lowest case
    max: float | None = None  # mean of the highest case
    ci_low: float | None = None  # for these cases
    ci_high: float | None = None
    confidence: float = 0.95
    n: int = 0  # trials with a value
    unit: str = ""
    direction: Direction = "higher"  # which way is better
    method: str = ""  # of the interval
    reason: str = ""  # why there is no value
    corrected: Corrected | None = None  # by people's labels, for a judge's opinion


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Current minus baseline on one metric of one suite, paired by case."""

    suite: str
    metric: str
    baseline: float | None
    current: float | None
    delta: float | None  # natural units, or relative when `relative`
    ci_low: float | None  # of `delta`
    ci_high: float | None
    confidence: float  # of the interval
    p_value: float | None  # one-sided, for "worse"
    p_better: float | None
    p_adjusted: float | None  # by Holm or the boundary of the look; at most alpha: convicted
    tolerance: float  # the accepted change
    relative: bool
    status: Status
    n_paired: int  # cases on both sides
    mde: (
        float | None
    )  # smallest drop that would be caught with the configured power, same scale as `delta`
    level: Level  # `warn` never blocks
    method: str  # the test
    direction: Direction = "higher"  # which way is better
    unit: str = ""
    reason: str = ""
    wants: Wants = ""  # what an inconclusive one lacks; empty: more data than the plan has
    settled: bool = True  # False: the run ended while more trials could still have told
    unbiased: float | None = None  # `delta` without the bias of an early end; None: one look only

    @property
    def typical(self) -> bool:
        """The change is that of a typical answer, the ratio of the geometric means; `baseline` and
        `current` are plain means, which one stuck answer can move otherwise.
        """
        return self.method.endswith("of logarithms")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseOdds:
    """How often an agent like the baseline's would break a limit by noise alone, with a run of this
    size. `why`: why it is unknown, or only a first guess.
    """

    chance: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """One limit, and what was measured against it."""

    suite: str
    metric: str
    value: float | None  # of the cases, lost ones as the baseline had them
    min: float | None
    max: float | None
    target: float | None  # a goal that never blocks
    rule: Rule
    status: GateStatus
    level: Level  # `warn` never blocks
    ci_low: float | None = None  # bounds one-sided at alpha / number of blocking gates
    ci_high: float | None = None
    proved: bool = True  # the whole interval is within the limit; without one, at the target
    target_met: bool | None = None  # None: there is no target
    unit: str = ""
    direction: Direction = "higher"  # which way is better
    reason: str = ""
    wants: Wants = ""  # what an inconclusive one lacks; empty: more data than the plan has
    place: Place | None = None  # in gate.yml
    by_default: bool = False  # gate.yml does not have it
    as_before: int = 0  # cases that the run lost, and that count as the baseline had them
    noise_odds: NoiseOdds | None = None  # None: a target alone, or stored by an older version

    @property
    def limits(self) -> tuple[float, ...]:
        """What the value is compared with: no figure of it may read as one that it is not."""
        bounds = (self.min, self.max, self.target)
        return tuple(limit for limit in bounds if limit is not None)


def limits_by_metric(gates: Iterable[GateResult]) -> dict[tuple[str, str], tuple[float, ...]]:
    """(suite, metric) -> all that its figures are compared with."""
    limits: dict[tuple[str, str], tuple[float, ...]] = {}
    for gate in gates:
        key = (gate.suite, gate.metric)
        limits[key] = (*limits.get(key, ()), *gate.limits)
    return limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A suite of which not one graded answer passed."""

    answers: int
    mild: str = ""  # why it only warns; empty: the suite fails


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """One case of the case lists of a verdict."""

    suite: str
    case_id: str
    category: str | None = None
    baseline_passed: int | None = None  # rounds
    baseline_rounds: int | None = None
    current_passed: int | None = None
    current_rounds: int | None = None
    failures: tuple[str, ...] = ()  # codes seen now, most frequent first
    reason: str = ""  # one line of evidence, hostile text
    p_value: float | None = None
    place: Place | None = None  # where the case stands in the dataset
    mode: FailureMode | None = None  # most frequent among the failed rounds
    # (passed, rounds) in each stored run of the baseline, oldest first.
    history: tuple[tuple[int, int], ...] = ()
    steps: StepDiff | None = None  # of a failed round


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChanges:
    """Cases by what became of them since the baseline."""

    newly_failing: tuple[CaseChange, ...] = ()
    newly_passing: tuple[CaseChange, ...] = ()
    flaky: tuple[CaseChange, ...] = ()
    added: tuple[CaseChange, ...] = ()
    removed: tuple[CaseChange, ...] = ()
    changed: tuple[CaseChange, ...] = ()
    errored: tuple[CaseChange, ...] = ()  # no answer came, or none could be judged
    no_opinion: tuple[CaseChange, ...] = ()  # answered, and no grader says pass or fail
    quarantined: tuple[CaseChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFall:
    """One case of a metric that got worse; means over its rounds."""

    case_id: str
    category: str | None = None
    baseline: float | None  # None: the baseline has no value
    current: float
    reason: str = ""  # what the grader said of its worst round, hostile text


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFall:
    """The cases that made a grader's metric worse or broke its limit: those that newly fail are
    apart.
    """

    suite: str
    metric: str
    column: str
    unit: str
    direction: Direction
    cases: int  # all of them; `worst` has the first
    fell: bool  # False: none fell, they are beyond the limit
    blocks: bool = False
    worst: tuple[CaseFall, ...] = ()
    # Newly failing cases that fell in it, too, the largest fall first.
    failing: tuple[CaseFall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The only thing that says pass."""

    outcome: Outcome
    exit_code: int
    reason: str  # one sentence
    suites: Mapping[str, tuple[Outcome, str]]  # name -> outcome and one sentence
    comparisons: tuple[Comparison, ...]
    gates: tuple[GateResult, ...]
    cases: CaseChanges
    floors: Mapping[str, Floor] = field(default_factory=dict)  # name -> where nothing passed
