"""What the workers of a cluster are told of a run before they get any work, and what cannot be sent
to them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.agents.under_test import NOBODY
from gate.errors import UsageError
from gate.files.own_source import digest_of_gate
from gate.plugins import AgentTraits, read_traits
from gate.records import PluginSpec, Suite
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup
from gate.text.figures import join_words
from gate.text.redaction import Redactor
from gate.user_code.hashes import grader_file
from gate.user_code.processes import PROCESSES

SEND_SECRETS = "--send-secrets"
ROOT_VARIABLE = "GATE_ROOT"  # of a worker: where the checkout is
_INSTEAD = "use threads (leave out --executor), or shards"
_SKIPPED = ("node_modules", "site-packages", "__pycache__")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKit:
    """An agent and the retriever beside it, as gate.yml describes them."""

    agent: PluginSpec
    retriever: PluginSpec | None

    def specs(self) -> Iterator[PluginSpec]:
        yield self.agent
        if self.retriever is not None:
            yield self.retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKit:
    """Everything that making trials needs to know, without their cases. Nothing in it is secret,
    unless `sent` has something: names of variables -> values that go to the workers.
    """

    run: str  # the id by which work is told apart
    build: str  # of Agent Gate
    candidate: AgentKit
    control: AgentKit | None
    suites: tuple[Suite, ...]
    root: Path  # of the checkout, unless the worker says where it has its own
    variables: tuple[str, ...]  # that a worker must have
    files: Mapping[str, str]  # of the checkout, relative to `root` -> sha256
    seconds: float  # for a call of the user's code
    sent: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def agents(self) -> tuple[AgentKit, ...]:
        return (self.candidate, *filter(None, [self.control]))


def make_kit(setup: Setup, run: str) -> RunKit:
    """The kit of a run. Raises UsageError for what cannot be sent, by name."""
    place, control = setup.place, setup.control
    config, options, env = place.config, place.options, place.host.env
    _check_can_travel(setup)
    candidate = AgentKit(agent=config.agent, retriever=config.retriever)
    beside = AgentKit(agent=control.agent, retriever=control.retriever) if control.agent else None
    agents = [spec for one in filter(None, [candidate, beside]) for spec in one.specs()]
    names = sorted({name for spec in agents for name in _variables(spec)})
    variables = tuple(name for name in names if env.get(name, "").strip())
    suites = tuple(plan.suite for plan in setup.plans)
    if not options.send_secrets:
        _refuse_values(agents, suites, place.host.redactor())
    return RunKit(
        run=run,
        build=digest_of_gate(),
        candidate=candidate,
        control=beside,
        suites=suites,
        root=place.rules.root.resolve(),
        variables=variables,
        files=_digest_files(agents, setup.plans, place.rules.root.resolve()),
        seconds=PROCESSES.seconds,
        sent={name: env[name] for name in variables} if options.send_secrets else {},
    )


def _check_can_travel(setup: Setup) -> None:
    """Raises UsageError for what only works in one process."""
    place = setup.place
    options, config = place.options, place.config
    if options.record or options.replay:
        used = "--record" if options.record else "--replay"
        raise UsageError(f"--executor dask: {used} works in one process only; {_INSTEAD}")
    if options.case or options.failed is not None:
        used = "--case" if options.case else "--failed"
        raise UsageError(f"--executor dask: {used} only shows answers; leave out --executor")
    if read_traits(AgentTraits, setup.agent).plays_back:
        raise UsageError(
            "--executor dask: recorded answers need no agent; grade them with `gate grade "
            "--executor dask`"
        )
    check_graders(setup.plans, has_judge=bool(config.judge or config.verifier))
    for plan in setup.plans:
        if plan.ask is not None or plan.suite.suite:
            raise UsageError(
                f"--executor dask: the suite '{plan.name}' is code, which cannot be sent to "
                f"workers; {_INSTEAD}"
            )
    for spec in filter(None, [config.agent, setup.control.agent]):
        if spec.name == "openagent" and spec.options.get("logs", True) is not None:
            raise UsageError(
                "--executor dask: an `openagent` server's logs are read by one process that knows "
                f"of all its requests; set `agent.logs: null`, or {_INSTEAD}"
            )


def check_graders(plans: Sequence[SuitePlan], *, has_judge: bool) -> None:
    """Raises UsageError for graders that ask a model: its budget and its cache are of one
    process.
    """
    for plan in plans:
        asking = [name for name, one in plan.graders.items() if hasattr(one, "questions")]
        if asking and has_judge:
            raise UsageError(
                f"--executor dask: the suite '{plan.name}' has {join_words(asking)}, which asks a "
                "model: its budget and its cache belong to one process; leave the grader to a "
                f"suite of its own, or {_INSTEAD}"
            )


def _variables(spec: PluginSpec) -> Iterator[str]:
    """Names of the environment that the agent reads its secrets from."""
    for name in (spec.options.get("api_key_env"), *(spec.options.get("env") or ())):
        if isinstance(name, str):
            yield name


def _refuse_values(agents: Sequence[PluginSpec], suites: Sequence[Suite], hides: Redactor) -> None:
    """Raises UsageError where what is sent has the value of a secret in it."""
    for what, options in (
        *((f"the agent '{spec.name}'", dict(spec.options)) for spec in agents),
        *((f"the suite '{suite.name}'", {"request": dict(suite.request)}) for suite in suites),
        *(
            (f"the grader '{spec.name}'", dict(spec.options))
            for suite in suites
            for spec in suite.graders
        ),
    ):
        if hides.scrub(options) is not options:
            raise UsageError(
                f"--executor dask: the options of {what} hold the value of a secret, which would "
                f"be sent to the workers: name its variable in `api_key_env`, or allow it with "
                f"{SEND_SECRETS}"
            )


def digest_file(path: Path) -> str:
    """sha256 of a file; empty where there is none."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _digest_files(
    agents: Iterable[PluginSpec], plans: Iterable[SuitePlan], root: Path
) -> dict[str, str]:
    """The files of the checkout that the agents and graders consist of, as far as that is known
    before they are called.
    """
    files = {
        name: digest
        for loaded in PROCESSES.sources(root).values()
        for name, digest in loaded.items()
    }
    named = {name for spec in agents for name in _name_files(spec, root)}
    return files | {name: digest for name in sorted(named) if (digest := digest_file(root / name))}


def _name_files(spec: PluginSpec, root: Path) -> Iterator[str]:
    """Of a function: all Python files in the folder of its own, and below. Of a program: the words
    that are files.
    """
    options = spec.options
    if spec.name == NOBODY:
        return
    if (own := grader_file(str(options.get("callable") or ""))) and (root / own).is_file():
        for path in sorted((root / own).parent.rglob("*.py")):
            name = path.relative_to(root)
            if not any(part.startswith(".") or part in _SKIPPED for part in name.parts):
                yield name.as_posix()
    command = options.get("command") or ()
    for word in (*(command.split() if isinstance(command, str) else command), options.get("file")):
        if isinstance(word, str) and word and (root / word).is_file():
            yield word
