"""THE extension page: one Protocol and one registry for each kind of plug-in.

A plug-in is one new file in the kind's folder (plus its test): a frozen dataclass, registered by
name, whose fields are
its options in gate.yml. The config's JSON Schema, the error messages and the contract tests follow
from the class.
CONTRIBUTING.md has a recipe for each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast, runtime_checkable

from gate.records import (
    Case,
    CheckedJson,
    Evidence,
    MetricSpec,
    PluginSpec,
    Question,
    Reply,
    Report,
    Response,
    Role,
    Score,
    Tolerance,
    TrialRow,
)
from gate.records.codec import from_json
from gate.registry import Registry
from gate.system.pace import RateLimit

if TYPE_CHECKING:  # numpy costs 0.1 s, and no command line needs it to print its help
    import numpy as np
    import numpy.typing as npt

    from gate.files.sniff import FirstLook
    from gate.records.forge import BaselineRequest, Forge, FoundBaseline
    from gate.records.imported import Imported

    Array = npt.NDArray[np.float64]
else:
    Array = Any

T = TypeVar("T")


@runtime_checkable
class Rooted(Protocol):
    """Optional for any plug-in whose options name files."""

    def rooted(self, root: Path) -> object:
        """The same plug-in with its files found below `root`. Raises UsageError."""
        ...


def build(registry: Registry[T], spec: PluginSpec, root: Path) -> T:
    """Makes the built-in plug-in that a checked piece of gate.yml describes.

    Raises UsageError for an unknown name. gate/graders/user_code/make.py makes a user's graders.
    """
    plugin = from_json(registry.get_class(spec.name), spec.options)
    return cast("T", plugin.rooted(root)) if isinstance(plugin, Rooted) else plugin


_UNSET = object()


def read_traits(kind: type[T], plugin: object) -> T:
    """The optional attributes of a plug-in as a record of `kind` (GraderTraits, AgentTraits); those
    that it lacks have the record's default.
    """
    named = ((name, getattr(plugin, name, _UNSET)) for name in kind.__slots__)  # type: ignore[attr-defined]
    return kind(**{name: value for name, value in named if value is not _UNSET})


# ------------------------------------------------------------------------------------------- agents


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The effects a plug-in may need, handed in so that tests hand in others."""

    env: Mapping[str, str] = field(repr=False)  # secrets by the name in api_key_env, proxies
    root: Path  # the folder of gate.yml; relative paths start here
    cancelled: Callable[[], bool] = lambda: False  # True once the run is being stopped
    section: str = "agent"  # of gate.yml, where the plug-in is written: for messages
    offline: bool = False  # `check` looks at settings and files: no call, and no key is needed
    session: Path | None = None  # the session's folder, for what an agent must keep; None: none yet
    base_url_given: bool = False  # --base-url is the agent's address, not gate.yml's
    # Told what a reply says of its provider's limits.
    hear: Callable[[tuple[RateLimit, ...]], None] = lambda limits: None

    def name_address(self, key: str) -> str:
        """What gave the address, for messages: `key` in gate.yml, or the option."""
        by_option = self.base_url_given and self.section == "agent"
        return "--base-url" if by_option else f"{self.section}.{key}"


class Connection(Protocol):
    """An agent as one worker thread uses it: it keeps one open session, so it is never shared."""

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        """The answer, within `timeout_s` seconds in total.

        Raises AgentFailure (the agent's fault: scored 0) or InfraFailure (nobody's answer:
        retried, then unscored).
        """
        ...

    def close(self) -> None:
        """Drops the session; called from another thread it aborts a request that is under way."""
        ...


@runtime_checkable
class RoundConnection(Protocol):
    """Optional for the connection of an agent that plays back the answers of each round."""

    def ask_round(self, case: Case, number: int, *, timeout_s: float) -> Response:
        """Raises AgentFailure, InfraFailure; `number` is from 1."""
        ...


class Agent(Protocol):
    """A protocol to ask an agent by; its fields are the keys under `agent:` in gate.yml.

    Further attributes and methods are optional: see AgentTraits and StartsEarly.
    """

    @property  # read-only, as plug-ins are frozen
    def timeout_s(self) -> float: ...  # total per request
    @property
    def concurrency(self) -> int: ...
    @property
    def requests_per_minute(self) -> float | None: ...

    def describe(self) -> str:
        """Type, model and address for the report; no secrets."""
        ...

    def check(self, world: World) -> int | None:
        """The HTTP status of a health check, if there is one. Raises InfraFailure, with the address
        and what to start, if it cannot be reached; UsageError for settings that can be no agent's.
        Where `world.offline`, settings and files are all that is looked at.
        """
        ...

    def connect(self, world: World) -> Connection: ...


OptionPath = tuple[str | int, ...]  # of an option of a plug-in, or of a value inside it


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTraits:
    """What an agent may have beside the Protocol, as attributes of these names."""

    adaptive: bool = True  # `concurrency` is the most: fewer are asked at once where that is better
    plays_back: bool = False  # gives recorded answers, also to suites that ask by themselves
    model: str | None = None  # the name of the model, where gate.yml tells it
    base_url: str | None = None  # the address, by one of two names
    url: str | None = None
    api_key_env: str | None = None  # the environment variable that holds the API key
    server: str | None = None  # a server that other requests may have to wait for
    agent: Any = None  # of an agent beside a retriever: the agent itself
    # Keys that each case must have, because the request is filled with them, and where the options
    # name them.
    case_keys: Sequence[tuple[OptionPath, str]] = ()


@runtime_checkable
class StartsEarly(Protocol):
    """Optional for an agent that takes time to start."""

    def begin(self, world: World) -> None:
        """Starts it and does not wait for it."""
        ...


AGENTS: Registry[Agent] = Registry("agent type", "gate.agents.protocols")

# A retriever is asked as an agent is; what it answers is an empty text with `retrieved`.
RETRIEVERS: Registry[Agent] = Registry("retriever type", "gate.agents.retrievers")

# ------------------------------------------------------------------------------------------ graders


class Grader(Protocol):
    """Judges one answer; its fields are its options. Must be deterministic and thread-safe.

    An option that makes no sense raises UsageError in `__post_init__`. Further attributes and
    methods are optional: see GraderTraits, ChecksCases and DoubtsCases.
    """

    @property
    def keys(self) -> Mapping[str, CheckedJson]:
        """The case keys it reads -> their JSON Schema (a class attribute, or from the options)."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """Those that each case must have; null is allowed and means "does not apply to this case":
        the score then has the value None.
        """
        ...

    def metrics(self) -> tuple[MetricSpec, ...]:
        """What it measures with these options: the only names in `Score.values`."""
        ...

    def grade(self, case: Case, response: Response) -> Score:
        """The score; raises GraderFailure when the answer could not be judged."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderTraits:
    """What a grader may have beside the Protocol, as attributes of these names."""

    # False: never has an opinion on pass or fail. Otherwise an answer that it leaves unscored is
    # neither passed nor failed.
    decides: bool = True
    fills: Sequence[str] = ()  # the columns of a trial that come of its scores' `violations`
    abouts: Mapping[str, str] = field(
        default_factory=dict
    )  # column -> the words by which its reasons name it
    # Option as it is written -> its name now, where an option has an old name.
    older_words: Mapping[str, str] = field(default_factory=dict)
    role: Role | None = None  # of a ModelGrader: the model that it asks
    partly_offline: bool = False  # needs its judge for some cases only, so gate.yml may have none
    knows_modes: bool = False  # has an option `mode`, which the suite's `mode` sets
    optional: bool = False  # left out where gate.yml has no judge
    outside: bool = False  # runs outside this process


@runtime_checkable
class ChecksCases(Protocol):
    """Optional for a grader whose keys can be wrong in ways that a JSON Schema cannot tell."""

    def case_faults(self, keys: Mapping[str, CheckedJson]) -> Iterable[str]:
        """A sentence for each mistake in the keys of a case."""
        ...


@runtime_checkable
class DoubtsCases(Protocol):
    """Optional for a built-in grader whose keys may be meant otherwise than they are written."""

    def case_doubts(self, keys: Mapping[str, CheckedJson]) -> Iterable[str]:
        """A sentence for each doubtful key of a case."""
        ...


class ModelGrader(Grader, Protocol):
    """A grader that asks a model. It stays pure: `questions` says what to ask and `read` scores the
    replies; `grade` gives the score as far as it is known without any reply.
    """

    @property
    def role(self) -> Role:
        """Which model it asks (a class attribute). Without a `judge` in gate.yml a grader that asks
        one is an error; without a `verifier` the judge is asked, and without either nobody.
        """
        ...

    def questions(self, case: Case, response: Response) -> tuple[Question, ...]:
        """Empty when the case does not count, or nothing is left to ask."""
        ...

    def read(self, case: Case, response: Response, replies: Sequence[tuple[Reply, ...]]) -> Score:
        """The score. `replies`: for each question the votes of the model; none of them where there
        is no such model. What no vote could tell is unscored, never 0.
        """
        ...


Ask = Callable[[Case, Sequence[Question]], Sequence[tuple[Reply, ...]]]  # votes on each question

GRADERS: Registry[Grader] = Registry("grader", "gate.graders")

# ------------------------------------------------------------------------------------------ metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A value with bounds that are each wrong with probability at most (1 - confidence) / 2."""

    value: float
    low: float
    high: float
    n: int  # trials
    method: str


class Family(Protocol):
    """A reduction of per-trial values to one number, with its interval and its test (METRICS;
    options are its fields).

    Arrays are cases x rounds, NaN where a trial has no value; rows of `baseline` and `current` are
    the same cases; of a metric with `per` they are complex, `per` the imaginary part. A family that
    has no value for some numbers says what it takes, as a sentence, with an attribute `needs`.
    """

    def reduce(self, values: Array) -> float:
        """The suite's number in natural units; NaN when nothing was measured."""
        ...

    def per_case(self, values: Array) -> Array:
        """One number a case, for min, max and the case lists; NaN where a case has none."""
        ...

    def interval(self, values: Array, spec: MetricSpec, *, confidence: float) -> Interval | None:
        """Two-sided interval of `reduce`; None when there is nothing to measure."""
        ...

    def compare(
        self,
        baseline: Array,
        current: Array,
        spec: MetricSpec,
        *,
        tolerance: Tolerance,
        drift: float = 0.0,
    ) -> Evidence:
        """Evidence on current against baseline.

        `tolerance` is the least change that is ever called one. `drift`: variance, in squared
        natural units, that delta has beyond the noise of single calls (the session effect);
        reductions that are no mean ignore it.
        """
        ...


METRICS: Registry[Family] = Registry("metric family", "gate.analysis.metrics")

# ---------------------------------------------------------------------------------------- baselines


class BaselineSource(Protocol):
    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        """None when this source has none; `request.explain` is told why. Raises GateError."""
        ...


BASELINES: Registry[BaselineSource] = Registry("baseline source", "gate.store.baseline.sources")

# ----------------------------------------------------------------------------- importers, reporters


class Importer(Protocol):
    """Reads another tool's results as they are: nothing is asked, nothing is written, no clock.

    Its fields are what `--option NAME=VALUE` sets.
    """

    reads: ClassVar[str]  # what PATH is, for the help: "a session's folder"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Whether it looks like this format. Never raises; sure rather than generous: of a file
        that two formats could have written, say no unless it is plainly this one's.
        """
        ...

    def read(self, path: Path) -> Imported:
        """Checked whole, so that nothing wrong is found while its trials are taken. Raises
        InvalidInput with every problem and its place, or UsageError for what is of another format,
        with the format that it looks like.
        """
        ...


IMPORTERS: Registry[Importer] = Registry("import format", "gate.importers", between="-")


Rows = Callable[[], Iterator[TrialRow]]  # reads details.jsonl again, a row a trial


class Reporter(Protocol):
    """A pure function of the stored records; `filename` is its place in the session folder."""

    filename: ClassVar[str]

    def render(self, report: Report, rows: Rows) -> str: ...


REPORTERS: Registry[Reporter] = Registry("report format", "gate.report.formats")


class Exporter(Protocol):
    """A pure function of the stored records, piece by piece: memory must not grow with the rows."""

    def pieces(self, report: Report, rows: Rows) -> Iterator[str]: ...


EXPORTERS: Registry[Exporter] = Registry("export format", "gate.report.exporters")
