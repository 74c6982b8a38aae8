"""The Python interface: what the commands say, as functions (docs/python.md). They go the way of
`gate run` and `gate compare`, so that the verdict is the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gate.agents.in_process import EventLoop, InProcess
from gate.cli import environment
from gate.commands.compare import compare as compared
from gate.errors import InvalidInput, UsageError
from gate.files import yaml as yamlfile
from gate.plugins import Agent
from gate.records import Config, Json, PluginSpec, Report
from gate.records.settings import WRITTEN
from gate.run.execute import execute
from gate.run.home import Home, find_home
from gate.run.options import Host, RunOptions
from gate.store.code_marks import take_marks
from gate.store.measurements import Stored, load
from gate.suites.config import build
from gate.suites.config.check import check_document
from gate.suites.config.current_names import use_current_names
from gate.suites.config.lint import ConfigFindings, lint
from gate.suites.config.load import DEFAULT_AGENT
from gate.suites.config.overrides import for_release
from gate.suites.protection.rules import load_own_config
from gate.user_code import processes
from gate.user_code.processes import PROCESSES

__all__ = ["Judged", "check_gates", "compare", "evaluate"]

_GATES = "gate.check_gates"
_HERE = (
    "the agent was called in this process, not in a separate one: a call that exits or "
    "hangs also ends or blocks the run"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Report):
    """A Report (docs/reports.md), and the folder of the session that it is about; None where there
    is none. `passed`: exit code 0.
    """

    session: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Function:
    """The caller's function as a run takes it (see GivenAgent)."""

    function: Callable[..., object]
    loop: EventLoop

    @property
    def spec(self) -> PluginSpec:
        return PluginSpec(name="python", options={"callable": self._name})

    @property
    def _name(self) -> str:
        named = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        return f"{getattr(self.function, '__module__', None) or 'unknown'}:{named}"

    def made(self, spec: PluginSpec) -> Agent:
        options_of_agent = ("timeout_s", "concurrency", "requests_per_minute", "adaptive")
        options: dict[str, Any] = {
            key: spec.options[key] for key in options_of_agent if key in spec.options
        }
        return InProcess(function=self.function, name=self._name, loop=self.loop, **options)


def evaluate(
    agent: Callable[..., object],
    *,
    dataset: str | Path | Sequence[Mapping[str, Json]] | None = None,
    graders: Sequence[str | Mapping[str, Json]] | None = None,
    gates: Mapping[str, Mapping[str, Json]] | None = None,
    name: str = "main",
    config: str | Path | None = None,
    suites: Sequence[str] = (),
    rounds: int | None = None,
    baseline: str | Path | None = None,
    sample: int | None = None,
    timeout_s: float | None = None,
    concurrency: int | None = None,
    out: str | Path | None = None,
) -> Judged:
    """Runs suites against `agent`, a function as under `agent: {type: python}` of gate.yml, plain
    or async: it gets a case, or the question, and returns a text or an answer object. It is called
    in this process, by up to `concurrency` threads, and the report says so.

    With a `dataset` (a file, or the cases themselves) no gate.yml is read: the suite `name` has
    these `graders` and `gates`, as gate.yml would write them. Without one the suites, gates and
    baseline are those of gate.yml (`config`, else where the command would find it), `suites` of
    them by their names. The other arguments are the options of `gate run`. The session is written
    to `out` (`results`); nothing is printed. Raises GateError where the command would end with an
    error of its own: UsageError, InvalidInput, InfrastructureError.
    """
    if dataset is None and (graders is not None or gates is not None):
        raise UsageError(
            "gate.evaluate: graders and gates can only be given with a dataset; gate.yml has "
            "its own"
        )
    if dataset is not None and (config is not None or suites):
        raise UsageError("gate.evaluate: give a dataset, or a config with its suites; not both")
    options = RunOptions(
        config=_as_text(config),
        suite=tuple(suites),
        rounds=rounds,
        baseline=_as_text(baseline),
        sample=sample,
        timeout=timeout_s,
        concurrency=concurrency,
        out=_as_text(out),
        quiet=True,
        note=_HERE,
    )
    env: Mapping[str, str] = environment()
    loop = EventLoop()
    try:
        with TemporaryDirectory(prefix="gate-") as folder, _user_code(env):
            if dataset is not None:
                home = _write_home(name, _file_of(dataset, folder), graders, gates)
                # What was given here judges, whatever event or branch this is run for.
                env = processes.environment(env)
                options = replace(options, home=home, own_rules=True)
            function = _Function(function=agent, loop=loop)
            outcome = execute(options, Host(env=env), given=function)
    finally:
        loop.end()
    return _as_judged(outcome.report, outcome.session_dir)


def compare(
    baseline: str | Path | Judged,
    current: str | Path | Judged,
    *,
    config: str | Path | None = None,
) -> Judged:
    """The verdict on one session against another, or against a baseline file: what `gate compare`
    says. `config`: the gate.yml whose gates and rules decide. Raises GateError.
    """
    now, env = datetime.now(UTC), environment()
    before, after = (load(_session(one), now) for one in (baseline, current))
    with _user_code(env):
        home = find_home(_as_text(config))
        rules = load_own_config(home.file, home.root, env, now.date())
        if after.provenance.mode == "release":
            rules = for_release(rules)
        return _as_judged(compared(before, after, rules, now, home.root), _folder(current))


def check_gates(session: str | Path | Judged, gates: Mapping[str, Mapping[str, Json]]) -> Judged:
    """Whether a session keeps limits, written as under `gates` of gate.yml: `{"agent.success_rate":
    {"min": 0.9}}`. No baseline is looked at. Raises UsageError, InvalidInput.
    """
    now = datetime.now(UTC)
    after = load(_session(session), now)
    rules = _limits(gates, after, now)
    return _as_judged(compared(None, after, rules, now, Path()), _folder(session))


def _limits(gates: Mapping[str, Mapping[str, Json]], after: Stored, now: datetime) -> Config:
    """Raises InvalidInput for what gate.yml could not have either."""
    written = {"version": 1, "baseline": {"source": "none"}, "gates": gates}
    document = yamlfile.parse(_text(written), _GATES)
    data, problems = check_document(document, {})
    rules = build.config(data, document.place, agent=DEFAULT_AGENT, file=_GATES)
    measured = {name: suite.meta.specs for name, suite in after.suites.items()}
    findings = ConfigFindings()
    rules = use_current_names(rules, measured, findings)
    problems += [*findings.problems, *lint(rules, measured, now.date()).problems]
    if problems:
        raise InvalidInput(problems)
    return replace(rules, warnings=tuple(findings.warnings))


@contextmanager
def _user_code(env: Mapping[str, str]) -> Iterator[None]:
    """Graders of the user's own run in processes, which end with the call."""
    PROCESSES.begin(env, lambda line: None)
    try:
        yield
    finally:
        PROCESSES.end()


def _file_of(cases: str | Path | Sequence[Mapping[str, Json]], folder: str) -> Path:
    """The cases as a file. Raises UsageError for what JSON cannot hold."""
    if isinstance(cases, (str, Path)):
        return Path(cases)
    file = Path(folder) / "cases.jsonl"
    try:
        text = "".join(json.dumps(dict(case)) + "\n" for case in cases)
    except (TypeError, ValueError) as error:
        raise UsageError(f"gate.evaluate: dataset: not a list of cases: {error}") from error
    file.write_text(text, encoding="utf-8")
    return file


def _write_home(
    name: str,
    dataset: Path,
    graders: Sequence[str | Mapping[str, Json]] | None,
    gates: Mapping[str, Mapping[str, Json]] | None,
) -> Home:
    """What stands for a gate.yml in the working folder."""
    suite = {"name": name, "dataset": str(dataset.absolute()), "graders": list(graders or ())}
    written: dict[str, Json] = {"version": 1, "suites": [suite]}
    if gates is not None:
        written["gates"] = dict(gates)
    return Home(file=WRITTEN, root=Path(), written=_text(written))


def _text(data: object) -> bytes:
    """JSON, which is YAML. Raises UsageError."""
    try:
        return json.dumps(data, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{WRITTEN}: graders and gates must be plain data: {error}") from error


def _as_text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)


def _session(given: str | Path | Judged) -> Path:
    """Raises UsageError."""
    folder = _folder(given)
    if folder is None:
        raise UsageError("this report does not belong to a session; give a session folder")
    return folder


def _folder(given: str | Path | Judged) -> Path | None:
    return given.session if isinstance(given, Judged) else Path(given)


def _as_judged(report: Report, session: Path | None) -> Judged:
    plain = take_marks(report)  # sentences as summary.json has them
    fields_of_report = {field.name: getattr(plain, field.name) for field in fields(Report)}
    return replace(Judged(**fields_of_report), session=session)
