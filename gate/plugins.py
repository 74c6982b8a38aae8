"""THE extension page: one Protocol and one registry for each kind of plug-in.

A plug-in is one new file in the kind's folder (plus its test): a frozen dataclass, registered by
name, whose fields are
its options in gate.yml. The config's JSON Schema, the error messages and the contract tests follow
from the class.
CONTRIBUTING.md has a recipe for each kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from gate.codec import from_json
from gate.records import (
    Case,
    Evidence,
    Json,
    MetricSpec,
    PluginSpec,
    Report,
    Response,
    Score,
    Tolerance,
)
from gate.registry import Registry

if TYPE_CHECKING:  # numpy costs 0.1 s, and no command line needs it to print its help
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]
else:
    Array = Any

T = TypeVar("T")


def build(registry: Registry[T], spec: PluginSpec, root: Path) -> T:
    """The plug-in that a checked piece of gate.yml describes; UsageError for an unknown name."""
    return from_json(registry.find(spec.name, root), spec.options)


# ------------------------------------------------------------------------------------------- agents


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The effects a plug-in may need, handed in so that tests hand in others."""

    env: Mapping[str, str] = field(repr=False)  # secrets by the name in api_key_env, proxies
    root: Path  # the folder of gate.yml; relative paths start here
    cancelled: Callable[[], bool] = lambda: False  # True once the run is being stopped


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


class Agent(Protocol):
    """A protocol to ask an agent by; its fields are the keys under `agent:` in gate.yml."""

    @property  # read-only, as plug-ins are frozen
    def timeout_s(self) -> float: ...  # total per request
    @property
    def concurrency(self) -> int: ...
    @property
    def requests_per_minute(self) -> float | None: ...

    def describe(self) -> str:
        """Type, model and address for the report; no secrets."""
        ...

    def check(self, world: World) -> None:
        """Raises InfraFailure, with the address and what to start, if it cannot be reached."""
        ...

    def connect(self, world: World) -> Connection: ...


AGENTS: Registry[Agent] = Registry("agent type", "gate.agents")

# ------------------------------------------------------------------------------------------ graders


class Grader(Protocol):
    """Judges one answer; its fields are its options. Must be deterministic and thread-safe.

    An option that makes no sense raises UsageError in `__post_init__`. A grader that never has an
    opinion on pass or fail says so with an attribute `decides = False`; else an answer that it
    leaves unscored is neither passed nor failed.
    """

    @property
    def keys(self) -> Mapping[str, Json]:
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
    the same cases. A family without a value for a case of few rounds says how many it takes with an
    attribute `rounds_needed`.
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


METRICS: Registry[Family] = Registry("metric family", "gate.metrics")

# ---------------------------------------------------------------------------------------- baselines


class Forge(Protocol):
    """The repository's host as a baseline source sees it: GitHub through its API, or a laptop's
    git.
    """

    def read(self, path: str, ref: str) -> bytes | None:
        """A file's bytes at a commit or branch; None when it is not there. Raises
        InfrastructureError.
        """
        ...

    def listing(self, folder: str, ref: str) -> tuple[str, ...]:
        """Names of the files directly in a folder at a ref; empty when the folder is not there."""
        ...

    @property
    def has_artifacts(self) -> bool:
        """Whether artifacts can be asked for: a laptop's git knows none."""
        ...

    def artifact(self, request: BaselineRequest) -> Artifact | None:
        """The newest trustworthy baseline artifact of the branch; raises InfrastructureError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A downloaded, checked and unpacked artifact; hostile until parsed against a schema."""

    files: Mapping[str, bytes]
    commit: str
    created_at: str
    url: str
    chosen_by: str  # which rule chose the run


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRequest:
    """What a baseline source needs to know."""

    suite: str
    path: str  # baseline.path, or the path given as source
    branch: str
    base_sha: str | None  # the commit to compare with; None on a laptop without git
    base_name: str | None = None  # the tag of base_sha: then no later commit will do
    artifact: str
    workflow: str | None
    max_age_days: float
    now: datetime
    explain: Callable[[str], None] = lambda reason: None  # told why a source has no baseline
    no_branch: bool = False  # a laptop without a repository: there is only the working tree


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBaseline:
    """A baseline file's text and where it came from."""

    text: bytes
    source: str
    detail: str
    file: str  # for messages
    notes: tuple[str, ...] = ()


class BaselineSource(Protocol):
    def find(
        self, request: BaselineRequest, forge: Forge | None, root: Path
    ) -> FoundBaseline | None:
        """None when this source has none; `request.explain` is told why. Raises GateError."""
        ...


BASELINES: Registry[BaselineSource] = Registry("baseline source", "gate.baselines")

# ----------------------------------------------------------------------------- importers, reporters


class Importer(Protocol):
    """Reads another tool's results; yields rows in the shape of details.jsonl (docs/reports.md)."""

    def rows(self, path: Path) -> Iterable[Mapping[str, Json]]: ...


IMPORTERS: Registry[Importer] = Registry("import format", "gate.importers")


Rows = Callable[[], Iterator[Mapping[str, Json]]]  # reads details.jsonl again, a row a trial


class Reporter(Protocol):
    """A pure function of the stored records; `filename` is its place in the session folder."""

    filename: ClassVar[str]

    def render(self, report: Report, rows: Rows) -> str: ...


REPORTERS: Registry[Reporter] = Registry("report format", "gate.reporters")
