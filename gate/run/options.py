"""The options of a run or an import, and the parts of the caller's process that it may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime

from gate.records import Json
from gate.records.settings import OutputOptions
from gate.run.home import Home, log_nothing
from gate.system.signals import Stop
from gate.text.redaction import Redactor

# What a session does not keep of its options: a key, and what only this process knows.
_NOT_STORED = (
    *("provider_key", "home", "settings", "own_rules", "note", "all_cases", "joins"),
    *("processes", "executor", "scheduler", "send_secrets"),  # say how fast, not what
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The process around a command. `secrets`: what no output may show; it grows while gate.yml is
    read. `log` prints a line outside the output.
    """

    env: Mapping[str, str]
    stop: Stop = field(default_factory=Stop)
    secrets: set[str] = field(default_factory=set, repr=False)
    log: Callable[[str], None] = log_nothing

    def redactor(self) -> Redactor:
        """A redactor of the secrets that are known so far."""
        return Redactor(self.secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(OutputOptions):
    """The options of `gate run`, from the command line, the action, another command or the Python
    interface. None, or an empty tuple, leaves the decision to gate.yml.
    """

    config: str | None = None
    suite: tuple[str, ...] = ()
    case: tuple[str, ...] = ()
    failed: str | None = None  # the session whose failing cases are asked again
    dataset: str | None = None
    base_url: str | None = None
    model: str | None = None
    provider_key: str | None = field(default=None, repr=False)
    rounds: int | None = None
    max_attempts: int | None = None
    timeout: float | None = None  # seconds
    concurrency: int | None = None
    baseline: str | None = None
    out: str | None = None
    sample: int | None = None
    shard: tuple[int, int] | None = None  # index from 1, count
    stage: int | None = None  # 1 or 2, of a run in shards that may end early
    protect: str | bool | None = None  # True: without naming a ref
    stop_rule: str | None = None  # "early" or "off"
    resume: str | None = None
    record: str | None = None
    replay: str | None = None
    answers: tuple[str, ...] = ()  # files of recorded answers that are graded
    processes: int | None = None  # that grade them
    budget_usd: float | None = None
    executor: str | None = None  # "threads" or "dask"
    scheduler: str | None = None  # the address of Dask's
    send_secrets: bool = False  # to its workers

    home: Home | None = None  # where gate.yml is, if that is known already
    settings: Mapping[str, str] = field(default_factory=dict)  # dotted keys over gate.yml
    own_rules: bool = False  # gate.yml judges as it stands here, for a plan
    all_cases: bool = False  # no sample, whatever gate.yml says of the event
    note: str = ""  # for the report
    # Of a merge: the options of the run whose parts it joins, as its session stores them.
    joins: Mapping[str, Json] | None = None

    @property
    def offline(self) -> bool:
        """Whether the answers are recorded, and no agent is asked."""
        return bool(self.replay or self.answers)

    def as_stored(self) -> dict[str, Json]:
        """The given options, as meta.json stores them."""
        if self.joins is not None:
            return dict(self.joins)
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if name not in _NOT_STORED and value not in (None, False, ())
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions(OutputOptions):
    """The options of `gate import`."""

    source: str  # an importer's name, or `auto`
    path: str
    option: tuple[str, ...] = ()  # NAME=VALUE, for the importer
    at: datetime | None = None  # when it was measured
    suite: tuple[str, ...] = ()
    regrade: bool = False
    config: str | None = None
    baseline: str | None = None
    dataset: str | None = None  # where to write the cases
    recording: str | None = None  # where to write the answers
    out: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)  # dotted keys over gate.yml
