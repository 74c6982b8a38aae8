"""Everything a reporter may show: the Report and its parts; its JSON form is summary.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gate.records.baseline import AnchorReport
from gate.records.labels import Ratings
from gate.records.patterns import (
    CaseCounts,
    CategoryReport,
    Cluster,
    Decision,
    FailureCause,
    LoggedViolation,
    ModeCount,
    Reliability,
)
from gate.records.server_logs import EvidenceCounts
from gate.records.settings import KnownFailures, Policy
from gate.records.verdict import (
    CaseChanges,
    Comparison,
    Direction,
    Estimate,
    Floor,
    GateResult,
    GateStatus,
    MetricFall,
    Outcome,
    Status,
)

Mode = Literal["pull_request", "branch", "release", "schedule", "laptop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Trials that were planned, could be, were made, and that the verdict spared."""

    planned: int  # cases x rounds
    cap: int  # trials that the run could come to
    made: int  # attempts
    saved: int  # max(0, planned - made) where the verdict ended the run, 0 where a budget did


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrice:
    """A price, in USD per million tokens, as its provider's list had it on a day."""

    model: str
    input: float
    output: float
    source: str  # address, without https://
    read_on: str  # 2026-08-05


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """USD of the run, as far as it is known."""

    usd: float | None  # None: nothing is known
    baseline_usd: float | None = None  # of as many trials of the stored baseline
    budget_usd: float | None = None
    control_usd: float | None = None  # what of `usd` the control agent's answers cost
    unknown_models: tuple[str, ...] = ()
    unknown_trials: int = 0
    judge_usd: float | None = None  # beside `usd`: of judges and verifiers; None: nothing is known
    judge_calls: int = 0
    judge_unknown: int = 0  # votes of unknown cost
    listed: tuple[ListedPrice, ...] = ()  # what of it rests on lists of providers, by model


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineInfo:
    """The origin of the numbers that are compared with."""

    source: str  # "repo", "artifact", "file", "session", "control", "none"
    detail: str = ""  # path, run url or rule that chose it
    commit: str | None = None
    created_at: str | None = None
    age_days: float | None = None
    rounds: int = 0
    runs: int = 0
    fingerprint_diff: tuple[str, ...] = ()  # "agent model: a -> b"
    notes: tuple[str, ...] = ()  # "older than 30 days"
    pooling: tuple[str, ...] = ()  # "run 1a2b left out: it differs (p = 0.003)"
    todo: str = ""  # how a stored file comes to be compared with: "commit it: git add ..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """Numbers in short; `std` is the sample's, None below two."""

    n: int
    mean: float
    worst: float
    std: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTexts:
    """What a case is about, in hostile texts of 400 characters at most."""

    asked: str
    expected: str = ""  # as one text; empty: nothing is expected, or it is not shown
    was: str | None = None  # what the base branch answered; None: no stored answer, or not shown
    now: str | None = None  # of the first round that failed, else of the first; None: no answer
    failed: bool | None = None  # whether a round failed; None: an older version wrote it
    why: str = ""  # what the graders said that failed it; empty: it did not fail, or nobody said


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadOf:
    """`trials`: their number in each of the steps from the lowest value to the highest."""

    trials: tuple[int, ...]
    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Where the trials of a run have their values, and where those of its baseline have them. The
    steps from `low` to `high` are equal differences, or equal `ratios`.
    """

    unit: str
    low: float
    high: float
    ratios: bool
    now: SpreadOf
    was: SpreadOf | None = None  # None: the baseline has no such values


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """Which run of the base branch a value in `history` is of."""

    commit: str | None
    created_at: str  # ISO 8601, UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedStart:
    """Somebody accepted a change: the run at `before` of the runs begins a new pool."""

    before: int
    told: str  # who, when and why; hostile text
    metrics: tuple[str, ...] = ()  # empty: all


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelShift:
    """Among the stored runs a metric went to another level, first in the run numbered `at` (from
    0). `before`, `after`: means of the levels.
    """

    metric: str
    at: int
    before: float
    after: float
    runs_before: int
    runs_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Foresight:
    """The least fall of a metric that a run like this one would catch, were this its baseline: a
    share of the metric's value where `relative`.
    """

    metric: str
    unit: str
    direction: Direction
    relative: bool
    least: float | None  # None: not even the worst answers could be told from chance
    wanted: float | None = None  # a smaller fall; None: there is none to be had
    cases: int | None = None  # that it takes to catch `wanted`
    guess: str = ""  # why it is only a guess; empty: measured


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReport:
    """What one suite came to."""

    name: str
    outcome: Outcome
    reason: str
    version: str | None  # of the dataset, as gate.yml has it
    dataset: str  # file, or class of a suite written as code
    dataset_digest: str  # hash over its cases
    cases: int  # chosen ones
    trials: int  # made ones
    rounds: int  # planned for each case
    metrics: Mapping[str, Estimate]  # by name
    failures_top: tuple[tuple[str, int], ...]  # the ten most frequent codes, with their trials
    success_rate_ci95: tuple[float, float] | None  # for cases like these, not for these
    baseline: BaselineInfo
    success_rate_method: str = ""  # of success_rate_ci95
    success_rate_seed: int | None = None  # what its random numbers start from; None: it has none
    infra_errors: int = 0  # trials that ended so
    agent_errors: int = 0  # trials that ended so
    # infra_error, agent_error -> what most of them ended with, one line
    error_reasons: Mapping[str, str] = field(default_factory=dict)
    failed_latency_ms: Amounts | None = None  # of trials without an answer; None: there is none
    not_run: int = 0  # trials that a budget or an interruption left unmade
    not_selected: int = 0  # cases that sampling or a shard left out
    look: int = 0  # the look after which the suite made no more trials, from 1
    looks: int = 0  # that were planned; 0: all rounds were to be made
    ended: str = ""  # why a suite with looks made no more trials
    # Grader -> answers that it could not score.
    graders_unscored: Mapping[str, int] = field(default_factory=dict)
    unscored_reasons: Mapping[str, str] = field(default_factory=dict)  # grader -> why, mostly
    # Blocking metric -> its value in each stored run of the baseline, oldest first.
    history: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    history_runs: tuple[StoredRun, ...] = ()  # those runs; empty: an older version wrote it
    history_shifts: tuple[LevelShift, ...] = ()  # as `gate history` finds them
    history_starts: tuple[AcceptedStart, ...] = ()  # of pools
    modes: tuple[ModeCount, ...] = ()  # why trials failed, most cases first
    clusters: tuple[Cluster, ...] = ()  # largest first
    categories: tuple[CategoryReport, ...] = ()  # by name; empty where there is one at most
    counts: CaseCounts | None = None  # None: an older version wrote it
    reliability: Reliability | None = None  # None: one round, or nothing decides pass
    violations: int = 0  # all of them; `violation_log` has the first
    violation_log: tuple[LoggedViolation, ...] = ()  # the first violations
    evidence: EvidenceCounts | None = None  # None: no trial declares or logs tool calls
    quoted: tuple[QuotedValue, ...] = ()  # published results of others, which decide nothing
    floor: Floor | None = None  # nothing passed; None: something did, or the suite has no floor
    # Dimension -> from 0 (worst) to 1: the mean over cases of what their trials have.
    dimension_scores: Mapping[str, float | None] = field(default_factory=dict)
    people: tuple[Ratings, ...] = ()  # what people's labels say, by metric
    # Case -> its texts: of the newly failing and other failing cases the first 50, worst first.
    texts: Mapping[str, CaseTexts] = field(default_factory=dict)
    # latency_ms, cost_usd -> of trials; empty where all are alike, or an older version wrote it.
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    foresight: Foresight | None = None  # of a first run; None: a baseline, or nothing is known

    anchor: AnchorReport | None = None  # where main stands; None: there is no anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The code, rules and agent that a run is of."""

    commit: str | None = None
    base_commit: str | None = None
    config_digest: str = ""
    agent_digest: str = ""
    agent_options: str = ""  # digest without the address; empty: an older version wrote it
    agent: str = ""  # type and model, no secrets
    judge: str | None = None
    verifier: str | None = None
    concurrency: int | None = None  # calls of the agent under way at once: it bears on latency
    tool_version: str = ""
    event: str = "laptop"
    mode: Mode = "laptop"
    seed: int = 0
    repository: str | None = None
    run_url: str | None = None
    run_id: str | None = None
    run_attempt: str | None = None
    pull_request: int | None = None

    def take_agent(self, asked: Provenance | None) -> Provenance:
        """This provenance, with the agent of the run that `asked` is of: its shards may have had a
        key that is not here.
        """
        if asked is None:
            return self
        return replace(
            self,
            agent=asked.agent,
            agent_digest=asked.agent_digest,
            agent_options=asked.agent_options,
            concurrency=asked.concurrency,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedChange:
    """Somebody's word, given on the pull request, that a change for the worse is meant."""

    who: str  # login
    when: str  # ISO 8601, UTC
    why: str  # hostile text
    metrics: tuple[str, ...] = ()  # empty: whatever got worse
    url: str = ""  # of the comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The totals of all suites; each trial counts once. None where no trial has such a value.
    Latency (ms) and tokens count only answers that came.
    """

    suites: int
    cases: int
    trials: int
    judged: int  # trials that passed or failed
    success_rate: float | None
    mean_latency_ms: float | None
    worst_latency_ms: float | None
    avg_tokens: float | None
    failures_top: tuple[tuple[str, int], ...]  # the ten most frequent codes, with their trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many of everything there are, of all suites."""

    suites: int
    cases: int
    trials: int
    newly_failing: int
    newly_passing: int
    flaky: int
    added: int
    removed: int
    changed: int
    errored: int
    no_opinion: int
    quarantined: int
    regressions: int  # metrics
    improvements: int
    failed_gates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInShort:
    """A metric without the way through suites and comparisons. `low` and `high` bound the change,
    or `now` where nothing was compared.
    """

    baseline: float | None
    now: float | None
    change: float | None  # a share of the baseline where `relative`
    low: float | None
    high: float | None
    status: Status | GateStatus | None  # of a limit that is not met, else of the comparison
    relative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a reporter may show; its JSON form is summary.json. Rendering it twice gives the
    same bytes.
    """

    session_id: str  # the name of its folder
    created_at: str  # ISO 8601, UTC
    duration_s: float
    outcome: Outcome  # the verdict: that of the worst suite
    exit_code: int  # of `gate run`
    reason: str  # why, in one sentence
    policy: Policy  # what the other outcomes do to the exit code
    provenance: Provenance
    suites: Mapping[str, SuiteReport]  # by name
    comparisons: tuple[Comparison, ...]  # with the baseline, one for each metric of a suite
    gates: tuple[GateResult, ...]  # limits of gate.yml, and by default
    cases: CaseChanges  # the case lists
    calls: Calls
    cost: Cost
    baseline: BaselineInfo  # of the first suite that has one; each suite carries its own
    loosened: tuple[str, ...] = ()  # rules that the pull request loosens, one sentence each
    unprotected: bool = False  # what is loosened is in force: the base branch has `protect: false`
    notes: tuple[str, ...] = ()  # warnings a reader should see
    worse: tuple[MetricFall, ...] = ()  # what blocks first
    accepted: tuple[AcceptedChange, ...] = ()  # changes for the worse that somebody meant
    comment_id: str = "gate"  # which comment of the pull request
    reproduce: str = ""  # the command that runs the worst case again
    next_command: str = ""  # on a laptop: continues what an error ended, saves a first run
    alpha: float = 0.01  # chance that comparisons block a run in which nothing changed
    power: float = 0.8  # chance to catch a drop of the size `mde`
    schema_version: int = 1
    decision: Decision | None = None  # on the main branch and at a release
    overall: Totals | None = None  # None: of one suite, or an older version wrote it
    open_suites: tuple[str, ...] = ()  # that need stage 2 of a run in shards, before a verdict
    shows_answers: bool = True  # False: nobody is to see what was expected or answered before
    page_url: str = ""  # where report.html will be found, of `report.url`
    known_failures: KnownFailures = "skipped"  # how junit.xml has what fails on main too
    lost: tuple[str, ...] = ()  # why parts of the run left no result, one sentence each
    causes: tuple[FailureCause, ...] = ()  # of the newly failing cases, of most of them first
    # How many of everything: for programs, made of the rest when it is written, as `metrics` is.
    counts: Counts | None = None
    # Metric, or suite/metric if several suites have it -> in short.
    metrics: Mapping[str, MetricInShort] = field(default_factory=dict)
    code: tuple[str, ...] = ()  # names and commands in the texts, which reports set as code

    @property
    def imported(self) -> bool:
        """Another tool measured it: nobody was asked, and nobody can be asked again."""
        return self.provenance.event == "import"

    @property
    def passed(self) -> bool:
        """Exit code 0: pass, or an outcome that the policy lets through."""
        return self.exit_code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedValue:
    """A published result. It is shown beside the value of `metric`, marked as quoted, and never
    decides anything.
    """

    metric: str  # ours, of the same unit: a share of 0.65 for 65 %
    value: float
    of: str  # who reached it: "GPT-4", "human"
    year: int
    source: str  # where it stands, in words or as a link
    approximate: bool = False
