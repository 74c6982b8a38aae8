"""The frozen records, in the order in which they flow: Suite, Case, Response, Trial, Estimate,
Verdict, Report.

Nothing here computes. A metric's *natural* value is what the user reads (ms, USD, share);
comparisons between runs are
always `current - baseline` in natural units, or relative where `relative` is true (-0.05 is 5 %
less).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gate.errors import Place

Json = Any  # what json.loads returns: None, bool, int, float, str, list, dict

TrialStatus = Literal["completed", "agent_error", "infra_error"]
Level = Literal["block", "warn"]
Rule = Literal["point", "convicted", "proven"]
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
GateStatus = Literal["pass", "fail", "inconclusive", "missing", "accepted"]
Mode = Literal["pull_request", "branch", "release", "schedule", "laptop"]

# ------------------------------------------------------------------------------------ configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """A plug-in as it is written in gate.yml: its registered name (or user path) and its options."""

    name: str
    options: Mapping[str, Json] = field(default_factory=dict)
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """A limit on one metric: `min`/`max` block, `target` is wished for and never blocks."""

    metric: str
    min: float | None = None
    max: float | None = None
    target: float | None = None
    level: Level = "block"
    rule: Rule | None = None  # None: convicted, or proven in release mode
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """Harm nobody minds: absolute in the metric's unit, or relative (0.05 for "5%")."""

    value: float
    relative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRule:
    """How one metric named under `regression.metrics` is compared with the baseline."""

    metric: str
    tolerance: Tolerance | None = None
    level: Level | None = None
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionRules:
    alpha: float = (
        0.01  # chance of a false block per run, shared by all blocking (suite, metric) pairs
    )
    power: float = 0.8  # chance to catch a drop of the size that is printed as detectable
    tolerance: Tolerance | None = (
        None  # None: the default of each metric's scale (contract: 0.02 in [0, 1], ...)
    )
    metrics: Mapping[str, MetricRule] = field(default_factory=dict)
    max_removed: float = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What each outcome that is neither pass nor fail does to the exit code: pass, warn or fail."""

    inconclusive: Literal["pass", "warn", "fail"] = "warn"
    no_baseline: Literal["pass", "warn", "fail"] = "warn"
    not_comparable: Literal["pass", "warn", "fail"] = "fail"
    error: Literal["pass", "warn", "fail"] = "fail"
    missing_metric: Literal["pass", "warn", "fail"] = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRules:
    # auto | repo | artifact | none | a path of a baseline file, a folder of them or a session
    source: str = "auto"
    path: str = "baselines"
    artifact: str = "gate-baseline"
    branch: str = "main"
    workflow: str | None = (
        None  # the workflow file whose runs make the artifact; None: any run of the branch
    )
    keep_rounds: int = 15
    max_age_days: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Spending limits of one run; None is no limit."""

    usd: float | None = None
    calls: int | None = None
    minutes: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """A case that is run and shown but never blocks until `until` (ISO date); an expired entry is
    an error.
    """

    case: str
    owner: str
    until: str
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None  # None: as `input`


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A dataset, its graders, rounds and gates."""

    name: str
    dataset: str  # path, relative to the folder of gate.yml
    graders: tuple[PluginSpec, ...]
    rounds: int = 3
    max_attempts: int = 2
    retry: Literal["infra", "any_failure"] = "infra"
    version: str | None = None
    sample: Mapping[str, int | Literal["all"]] = field(
        default_factory=dict
    )  # event name -> number of cases
    gates: tuple[
        GateRule, ...
    ] = ()  # this suite's own gates; they win over the top-level ones by metric
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    dir: str = "results"
    html: bool = True
    junit: bool = True
    sarif: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """gate.yml, checked: every default is filled in, every plug-in name is known."""

    agent: PluginSpec
    suites: tuple[Suite, ...]
    gates: tuple[GateRule, ...] = ()
    regression: RegressionRules = RegressionRules()
    policy: Policy = Policy()
    protect: bool = True
    baseline: BaselineRules = BaselineRules()
    budget: Budget = Budget()
    pricing: Mapping[str, Price] = field(default_factory=dict)
    quarantine: tuple[Quarantine, ...] = ()
    report: ReportOptions = ReportOptions()
    judge: PluginSpec | None = None
    digest: str = ""  # sha256 of everything but `agent`, canonical JSON
    file: str | None = None  # None: no gate.yml, built-in defaults
    warnings: tuple[str, ...] = ()


# --------------------------------------------------------------------------------------------- data


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of a dataset. `keys` holds every key of the row as it was written, aliases of
    `input` resolved.
    """

    id: str
    input: Json  # a string, a list of messages, or any object
    keys: Mapping[str, Json]
    category: str | None = None
    tags: tuple[str, ...] = ()
    # sha256 of what the agent sees and the graders read (not category, tags, status, metadata)
    digest: str = ""
    place: Place = Place("dataset")

    @property
    def question(self) -> str:
        """The input as text: itself, the last user message, or its JSON-like form."""
        if isinstance(self.input, str):
            return self.input
        if isinstance(self.input, list):
            users = [m for m in self.input if isinstance(m, dict) and m.get("role") == "user"]
            if users and isinstance(users[-1].get("content"), str):
                return str(users[-1]["content"])
        return str(self.input)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A retrieved document, in the order in which the agent ranked it."""

    id: str
    score: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool. Arguments that are not JSON are kept in `raw_arguments`; `arguments` is
    then None.
    """

    name: str
    arguments: Json = None
    raw_arguments: str | None = None
    result: Json = None
    error: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer; None is unknown, never 0. `input_tokens` includes the cached ones."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None  # as the agent reports it; it wins over the price table

    @property
    def total_tokens(self) -> int | None:
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What an agent answered, normalised over all protocols."""

    answer: str
    retrieved: tuple[Document, ...] | None = None  # None: the agent does not say what it retrieved
    context: str | None = None
    steps: tuple[ToolCall, ...] | None = None  # None: the agent does not say what it did
    usage: Usage = Usage()
    model: str | None = None
    finish_reason: str | None = None
    safety_violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A grader's judgement of one answer.

    `values`: metric name -> number, or None where it does not apply to this case. `passed` is None
    when the grader has
    no opinion on pass or fail. An unscored answer has `unscored` (why) and no values.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    passed: bool | None = None
    failures: tuple[str, ...] = ()  # codes, e.g. "fact_missing:4.2 %"
    reason: str = ""
    unscored: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One try of one trial, graded."""

    n: int  # from 1
    status: TrialStatus
    latency_ms: float | None  # without time waited out for a 429 or 503
    response: Response | None = None
    scores: Mapping[str, Score] = field(default_factory=dict)  # grader name -> score
    passed: bool | None = None  # None: unscored, or no grader has an opinion
    failures: tuple[str, ...] = ()
    error: str | None = None
    waited_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One (case, round) with every attempt that was made."""

    suite: str
    case: Case
    round: int  # from 1
    attempts: tuple[Attempt, ...]
    started_at: str  # ISO 8601, UTC
    judged: int  # index of the attempt that counts (contract 9.4)

    @property
    def attempt(self) -> Attempt:
        return self.attempts[self.judged]


# -------------------------------------------------------------------------------------- measurement


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
    options: Mapping[str, Json] = field(default_factory=dict)
    unit: str = ""  # "share", "ms", "USD", "tokens", "steps", "points"
    direction: Direction = "higher"
    low: float | None = 0.0
    high: float | None = 1.0
    on_agent_error: float | None = 0.0
    description: str = ""

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
    min: float | None = None
    max: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    n: int = 0  # trials with a value
    unit: str = ""
    direction: Direction = "higher"
    method: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Current minus baseline on one metric of one suite, paired by case."""

    suite: str
    metric: str
    baseline: float | None
    current: float | None
    delta: float | None  # natural units, or relative when `relative`
    ci_low: float | None
    ci_high: float | None
    confidence: float
    p_value: float | None  # one-sided, for "worse"
    p_better: float | None
    p_adjusted: float | None  # Holm over the blocking pairs of the run
    tolerance: float
    relative: bool
    status: Status
    n_paired: int
    mde: (
        float | None
    )  # smallest drop that would be caught with the configured power, same scale as `delta`
    level: Level
    method: str
    direction: Direction = "higher"
    unit: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    suite: str
    metric: str
    value: float | None
    min: float | None
    max: float | None
    target: float | None
    rule: Rule
    status: GateStatus
    level: Level
    ci_low: float | None = None  # bounds one-sided at alpha / number of blocking gates
    ci_high: float | None = None
    proved: bool = (
        True  # False: the interval straddles the limit, or the target is not reached for certain
    )
    target_met: bool | None = None
    unit: str = ""
    direction: Direction = "higher"
    reason: str = ""
    place: Place | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChanges:
    newly_failing: tuple[CaseChange, ...] = ()
    newly_passing: tuple[CaseChange, ...] = ()
    flaky: tuple[CaseChange, ...] = ()
    added: tuple[CaseChange, ...] = ()
    removed: tuple[CaseChange, ...] = ()
    changed: tuple[CaseChange, ...] = ()
    errored: tuple[CaseChange, ...] = ()
    quarantined: tuple[CaseChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    planned: int  # cases x rounds
    cap: int
    made: int
    saved: int  # max(0, planned - made)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    usd: float | None  # None: nothing is known
    baseline_usd: float | None = None  # of as many trials of the baseline
    unknown_models: tuple[str, ...] = ()
    unknown_trials: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineInfo:
    """Where the numbers compared with come from."""

    source: str  # "repo", "artifact", "file", "session", "none"
    detail: str = ""  # path, run url or rule that chose it
    commit: str | None = None
    created_at: str | None = None
    age_days: float | None = None
    rounds: int = 0
    runs: int = 0
    fingerprint_diff: tuple[str, ...] = ()  # "agent model: a -> b"
    notes: tuple[str, ...] = ()  # "older than 30 days", "run 1a2b left out: it differs (p = 0.003)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReport:
    name: str
    outcome: Outcome
    reason: str
    version: str | None
    dataset: str
    dataset_digest: str
    cases: int
    trials: int
    rounds: int
    metrics: Mapping[str, Estimate]
    failures_top: tuple[tuple[str, int], ...]
    success_rate_ci95: tuple[float, float] | None
    baseline: BaselineInfo
    infra_errors: int = 0
    agent_errors: int = 0
    not_run: int = 0  # trials that a budget or an interruption left unmade
    not_selected: int = 0  # cases that sampling or a shard left out
    graders_unscored: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    commit: str | None = None
    base_commit: str | None = None
    config_digest: str = ""
    agent_digest: str = ""
    agent: str = ""  # type and model, no secrets
    judge: str | None = None
    tool_version: str = ""
    event: str = "laptop"
    mode: Mode = "laptop"
    seed: int = 0
    repository: str | None = None
    run_url: str | None = None
    run_id: str | None = None
    run_attempt: str | None = None
    pull_request: int | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a reporter may show; its JSON form is summary.json. Rendering it twice gives the
    same bytes.
    """

    session_id: str
    created_at: str  # ISO 8601, UTC
    duration_s: float
    outcome: Outcome
    exit_code: int
    reason: str
    policy: Policy
    provenance: Provenance
    suites: Mapping[str, SuiteReport]
    comparisons: tuple[Comparison, ...]
    gates: tuple[GateResult, ...]
    cases: CaseChanges
    calls: Calls
    cost: Cost
    baseline: BaselineInfo  # of the first suite that has one; each suite carries its own
    loosened: tuple[str, ...] = ()  # rules that the pull request loosens, one sentence each
    notes: tuple[str, ...] = ()  # warnings a reader should see
    comment_id: str = "gate"
    reproduce: str = ""  # the command that runs the worst case again
    schema_version: int = 1

    @property
    def passed(self) -> bool:
        """Exit code 0: pass, or an outcome that the policy lets through."""
        return self.exit_code == 0
