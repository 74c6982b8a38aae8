"""gate.yml as records: the agent, suites, gates and rules of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from gate.errors import Place

WRITTEN = "gate.evaluate"  # `file` of a Config that a program gave instead of a gate.yml
EVIDENCE = "evidence"  # the folder of a release's evidence in its session, and so no suite's name
MOST_CASES = 100_000_000  # of a suite
MOST_ROUNDS = 10_000  # of a suite in one run
LONGEST_S = 604_800.0  # of a time-out: a week; clocks of the system end at 24 days
MOST_DAYS = 36_500  # a hundred years
LARGEST = 1e60  # of a measured number: its fourth power, the noise of a variance, is still a float


# JSON whose form is known: it fits a schema, or Agent Gate has made it (docs/decisions/0031).
CheckedJson = Any
if TYPE_CHECKING:  # what json.loads returns: isinstance says what a value is
    Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
else:
    Json = Any  # the codec reads the hints of records
Level = Literal["block", "warn"]
Rule = Literal["point", "convicted", "proven"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How a command prints what it came to."""

    format: str = "rich"  # "plain", "json", "github"
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False

    @property
    def as_text(self) -> bool:
        """Whether it is words for a terminal or a log, not a document."""
        return self.format in ("rich", "plain")

    @property
    def colorless(self) -> bool:
        """Whether no colour and no live line may be used, whatever the terminal can do."""
        return self.no_color or self.format == "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """A plug-in as it is written in gate.yml: its name (or user path) and its options."""

    name: str
    # Not in the repr: a header may hold what ${NAME} stands for.
    options: Mapping[str, CheckedJson] = field(default_factory=dict, repr=False)
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """A limit on one metric: `min`/`max` block, `target` is wished for and never blocks."""

    metric: str
    min: float | None = None
    max: float | None = None
    target: float | None = None
    level: Level = "block"
    rule: Rule | None = None  # None: point
    place: Place = Place("gate.yml")
    by_default: bool = False  # nobody wrote it

    @property
    def has_limit(self) -> bool:
        """Whether it has a limit; a target alone never blocks."""
        return self.min is not None or self.max is not None

    @property
    def effective_rule(self) -> Rule:
        """Without a word in gate.yml the value decides, as a number does in any other tool."""
        return self.rule or "point"


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
    """`regression` of gate.yml."""

    # Chance that comparisons block falsely, shared by all blocking (suite, metric) pairs.
    alpha: float = 0.01
    power: float = 0.8  # chance to catch a drop of the size that is printed as detectable
    tolerance: Tolerance | None = (
        None  # None: the default of each metric's scale (docs/semantics.md 2: 0.02 in [0, 1], ...)
    )
    metrics: Mapping[str, MetricRule] = field(default_factory=dict)
    max_removed: float = 0.10
    # early: once nothing got worse, or something did; both: an improvement is waited for, too.
    # Runs that measure the base branch never stop early.
    stop: Literal["early", "off", "both"] = "early"
    max_rounds: int | None = None  # the cap of an early stop; None: twice the suite's rounds
    control: Literal["stored", "fresh"] = "stored"  # where the baseline's answers come from
    place: Place = Place("gate.yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What each outcome that is neither pass nor fail does to the exit code: pass, warn or fail;
    and what is deployed.
    """

    inconclusive: Literal["pass", "warn", "fail", "extend"] = "warn"
    no_baseline: Literal["pass", "warn", "fail"] = "warn"
    not_comparable: Literal["pass", "warn", "fail"] = "fail"
    error: Literal["pass", "warn", "fail"] = "fail"
    missing_metric: Literal["pass", "warn", "fail"] = "fail"
    deploy: Literal["improved", "not_worse"] = "improved"  # of what passes; no exit code


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRules:
    """`baseline` of gate.yml."""

    # auto | repo | artifact | none | a path of a baseline file, a folder of them or a session
    source: str = "auto"
    path: str = "baselines"
    artifact: str = "gate-baseline"
    branch: str = ""  # empty: the default branch of the repository
    workflow: str | None = (
        None  # the workflow file whose runs make the artifact; None: any run of the branch
    )
    keep_rounds: int | None = None  # of a case; None: rounds_to_keep
    max_age_days: float = 30.0
    # Where the newest run's answers are kept beside the baseline: where that goes into an artifact,
    # in the repository, too, or nowhere.
    answers: Literal["artifact", "repo", "off"] = "artifact"
    # release | best | a ref: what main itself is compared with
    anchor: str = "release"

    def rounds_to_keep(self, *, cases: int, rounds: int) -> int:
        """How many of a case's rounds the pool keeps, if a run plans `rounds` of each of `cases`.

        Without `keep_rounds` 16 times as many: a pull request of a small suite then ends with a
        quarter fewer calls than with four times (docs/statistics.md). A large suite needs them
        less, and its file would grow: 15 rounds, or up to 5,000 values of a metric.
        """
        if self.keep_rounds is not None:
            return self.keep_rounds
        return max(15, min(16 * rounds, 5_000 // max(1, cases)))


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
    reasoning: float | None = None  # None: as `output`, of which these tokens are a part
    source: str = ""  # the provider's list that has it; empty: gate.yml has it
    read_on: str = ""  # the day, as 2026-08-05, on which that list said so


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A dataset, its graders, rounds and gates."""

    name: str
    dataset: str  # path, relative to the folder of gate.yml; empty where `suite` has the cases
    graders: tuple[PluginSpec, ...]
    suite: str | None = None  # ./file.py:Class, a suite written as code
    mode: Literal["strict", "upstream"] = "strict"  # of graders that know both
    # Of each request, beside the agent's options; a case's own keys win.
    request: Mapping[str, CheckedJson] = field(default_factory=dict)
    rounds: int = 3
    max_attempts: int = 2
    retry: Literal["infra", "any_failure"] = "infra"
    version: str | None = None
    sample: Mapping[str, int | Literal["all"]] = field(
        default_factory=dict
    )  # event name -> number of cases
    floor: bool = True  # fails where nothing at all passes
    gates: tuple[
        GateRule, ...
    ] = ()  # this suite's own gates; they win over the top-level ones by metric
    place: Place = Place("gate.yml")


# How junit.xml has what fails without being the change's fault.
KnownFailures = Literal["skipped", "properties", "failures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitOptions:
    """`report.junit` of gate.yml, where it is more than true or false."""

    known_failures: KnownFailures = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """`report` of gate.yml."""

    dir: str = "results"
    html: bool = True
    junit: bool | JUnitOptions = True
    sarif: bool = False
    answers: bool = True  # reports show what was expected, and what the base branch answered
    url: str = ""  # where report.html will be found, with ${NAME} as written; empty: nowhere


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAgent:
    """What tells whether another commit has the same agent: keys of `agent`, the base's."""

    version: str = ""  # another one: an agent elsewhere was deployed anew
    paths: tuple[str, ...] = ()  # files that count, from the folder of gate.yml; none: all


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """gate.yml, checked: every default is filled in, every plug-in name is known."""

    agent: PluginSpec
    suites: tuple[Suite, ...]
    gates: tuple[GateRule, ...] = ()
    regression: RegressionRules = RegressionRules()
    policy: Policy = Policy()
    policy_set: tuple[str, ...] = ()  # keys that gate.yml sets; the others are `fail` at a release
    protect: bool = True
    baseline: BaselineRules = BaselineRules()
    budget: Budget = Budget()
    pricing: Mapping[str, Price] = field(default_factory=dict)
    quarantine: tuple[Quarantine, ...] = ()
    report: ReportOptions = ReportOptions()
    judge: PluginSpec | None = None
    verifier: PluginSpec | None = None  # of what the answer claims; None: the judge is asked
    retriever: PluginSpec | None = None  # asked beside the agent, or instead of one
    control_agent: PluginSpec | None = None  # the base branch's agent, for `control: fresh`
    same_agent: SameAgent = SameAgent()
    digest: str = ""  # sha256 of everything but `agent`, canonical JSON
    file: str | None = None  # None: no gate.yml, built-in defaults
    warnings: tuple[str, ...] = ()

    @property
    def quarantined(self) -> frozenset[str]:
        """Ids of the cases that are held back."""
        return frozenset(entry.case for entry in self.quarantine)

    def find_suite(self, name: str) -> Suite | None:
        return next((suite for suite in self.suites if suite.name == name), None)
