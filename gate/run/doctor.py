"""`gate doctor`: looks at all that a run needs, one after the other, and says what to do where
something is missing. The agent is asked one question.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from gate import __version__
from gate.agents.list_prices import LIST_PRICES
from gate.agents.pricing import cost_usd, listed_model, with_list_prices
from gate.agents.under_test import NOBODY, check_health
from gate.errors import AgentFailure, GateError, InfraFailure, InvalidInput
from gate.files.plain import plain
from gate.files.yaml import parse
from gate.github.context import is_ci, token
from gate.github.git import GitForge, open_repository
from gate.plugins import AGENTS, build
from gate.records import BaselineInfo, Case, Json
from gate.run.options import Host, RunOptions
from gate.run.prepare import SuitePlan
from gate.run.setup import Setup, set_up
from gate.text import figures
from gate.text.shortening import shorten

DEPENDENCIES = ("numpy", "requests", "PyYAML", "jsonschema", "jinja2", "rich", "orjson")
MANY_BYTES = 1 << 30  # of stored sessions, from where on it is worth a word
_FEW_RUNS = 3  # of a baseline: fewer can be lucky or unlucky as a whole
_ANSWER = 200  # characters that are shown
_WORKFLOWS = ".github/workflows"
ACTION = "agent-gate/agent-gate"
_OURS = (ACTION, "gate run", "gate action")
# What the job of a pull request must be allowed, and why.
_PERMISSIONS = {"contents": "read", "pull-requests": "write", "actions": "read"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. `advice`: what to do; empty where nothing is wrong."""

    name: str
    text: str
    advice: str = ""
    warns: bool = False  # worth a word, but a run gives a verdict all the same

    @property
    def ok(self) -> bool:
        return not self.advice or self.warns


def examine(options: RunOptions, host: Host, sessions: Path) -> Iterator[Finding]:
    """Every finding, in the order in which a run meets it. `sessions`: the folder of results."""
    yield _versions()
    try:
        setup = set_up(options, host)
    except InvalidInput as error:
        yield from (_fault("gate.yml", str(problem)) for problem in error.problems)
    except GateError as error:
        yield _fault("gate.yml", str(error))
    else:
        yield from _examine_setup(setup)
    yield from _repository(Path())
    yield from _job(host.env)
    yield _sizes(sessions)


def _versions() -> Finding:
    parts = ", ".join(f"{name} {version(name)}" for name in DEPENDENCIES)
    text = f"Agent Gate {__version__}, Python {platform.python_version()}, {parts}"
    return Finding(name="versions", text=text)


def _fault(name: str, message: str) -> Finding:
    """A message says what is wrong and what to do in one sentence."""
    what, mark, todo = message.partition("; ")
    if not mark:
        what, mark, todo = message.partition(" - ")
    todo = todo or "run `gate doctor` again when that is mended"
    return Finding(name=name, text=what, advice=todo)


def _examine_setup(setup: Setup) -> Iterator[Finding]:
    config = setup.place.config
    cases = sum(len(plan.all_ids) for plan in setup.plans)
    suites = figures.count(len(setup.plans), "suite")
    name = config.file or "no gate.yml: built-in defaults"
    yield Finding(name="gate.yml", text=f"{name}: {suites}, {figures.count(cases, 'case')}")
    for warning in config.warnings:
        yield Finding(name="gate.yml", text=warning, advice="see the line", warns=True)
    for ask in (_agent, _judges):
        try:
            yield from ask(setup)
        except GateError as error:  # a variable that is not set
            yield _fault("agent" if ask is _agent else "judge", str(error))
    for plan in setup.plans:
        if config.baseline.source != "none" and plan.name in setup.baselines:
            yield _baseline(plan.name, setup.baselines[plan.name].info)


def _agent(setup: Setup) -> Iterator[Finding]:
    """Asks the first case of the first suite, once."""
    name = "retriever" if setup.place.config.agent.name == NOBODY else "agent"
    health = check_health(setup.agent, setup.place.world)
    if not health.ok:
        yield _fault(name, health.error)
        return
    chosen = ((plan, case) for plan in setup.plans if plan.ask is None for case in _first(plan))
    found = next(chosen, None)
    if found is None:
        text = f"{setup.agent.describe()}: reachable; a suite written as code asks it"
        yield Finding(name=name, text=text)
        return
    yield _ask(setup, name, *found)


def _first(plan: SuitePlan) -> Iterator[Case]:
    return plan.cases(frozenset([next(iter(plan.digests))])) if plan.digests else iter(())


def _ask(setup: Setup, name: str, plan: SuitePlan, case: Case) -> Finding:
    agent, redact = setup.agent, setup.place.host.redactor().redact
    about = f"{agent.describe()}, asked {plan.name}/{case.id}"
    with tempfile.TemporaryDirectory() as folder:
        connection = agent.connect(replace(setup.place.world, session=Path(folder)))
        start = time.perf_counter()
        try:
            response = connection.ask(case, timeout_s=agent.timeout_s)
        except (AgentFailure, InfraFailure) as failure:
            todo = f"try it with `gate run --case {case.id}`"
            return Finding(name=name, text=f"{about}: {redact(str(failure))}", advice=todo)
        finally:
            connection.close()
    took = figures.value((time.perf_counter() - start) * 1e3, "ms")
    prices = with_list_prices(setup.place.config.pricing)
    cost = cost_usd(response.usage, response.model, prices)
    price = "cost unknown" if cost is None else figures.money(cost)
    if cost and (model := listed_model(response.usage, response.model, prices)):
        listed = LIST_PRICES[model]
        price += f" (as {listed.source} had the price of {model} on {listed.read_on})"
    answer = shorten(redact(response.answer or ""), _ANSWER)
    text = f"{about}: {took}, {price}, answered: {answer}"
    if cost is None:
        todo = "for costs, give the model's prices under `pricing` in gate.yml"
        return Finding(name=name, text=text, advice=todo, warns=True)
    return Finding(name=name, text=text)


def _judges(setup: Setup) -> Iterator[Finding]:
    """Whether the models that grade can be reached; they are asked nothing."""
    config = setup.place.config
    for name, spec in (("judge", config.judge), ("verifier", config.verifier)):
        if spec is None:
            continue
        world = replace(setup.place.world, section=name)
        model = build(AGENTS, spec, world.root)
        health = check_health(model, world)
        if health.ok:
            yield Finding(name=name, text=f"{model.describe()}: can be asked")
        else:
            yield _fault(name, health.error)


def _baseline(suite: str, info: BaselineInfo) -> Finding:
    if info.source == "none":
        why = f": {info.detail}" if info.detail else ""
        todo = "run the suites on the base branch, then `gate baseline save`"
        return Finding(
            name="baseline", text=f"{suite}: there is none{why}", advice=todo, warns=True
        )
    age = f", {figures.age(info.age_days)}" if info.age_days is not None else ""
    rounds, runs = figures.count(info.rounds, "round"), figures.count(info.runs, "run")
    commit = f" (commit {info.commit[:7]})" if info.commit else ""
    text = f"{suite}: {info.detail or info.source}: {rounds} of {runs}{commit}{age}"
    if info.runs < _FEW_RUNS:
        todo = f"a pool of {runs} may be lucky; {_FEW_RUNS} runs of the base branch make it sound"
        return Finding(name="baseline", text=text, advice=todo, warns=True)
    if info.notes:
        return Finding(name="baseline", text=text, advice="; ".join(info.notes), warns=True)
    return Finding(name="baseline", text=text)


def _repository(folder: Path) -> Iterator[Finding]:
    opened = open_repository(folder)
    if not isinstance(opened, GitForge):
        todo = "run `git init`, if pull requests are to be gated"
        yield Finding(name="git", text="this is no git repository", advice=todo, warns=True)
        return
    head = opened.head()
    text = f"default branch {opened.default_branch()}, at {head[:7] if head else 'no commit'}"
    yield Finding(name="git", text=text)
    yield from _workflows(opened.top)


def _workflows(top: Path) -> Iterator[Finding]:
    """The files that start the gate, and what their jobs may do."""
    found = []
    for path in sorted((top / _WORKFLOWS).glob("*.y*ml")):
        try:
            content = plain(path).read_bytes()
            data = parse(content, path.name).data
        except (GateError, OSError):
            continue
        if any(word.encode() in content for word in _OURS) and isinstance(data, dict):
            found.append((path.name, data))
    if not found:
        todo = "`gate init` writes three"
        text = f"no file in {_WORKFLOWS} starts the gate"
        yield Finding(name="workflows", text=text, advice=todo, warns=True)
        return
    yield Finding(name="workflows", text=", ".join(name for name, _ in found))
    events = {event for _, data in found for event in _events(data.get("on"))}
    if not events & {"pull_request", "pull_request_target", "workflow_run"}:
        todo = "`gate init` shows one that does"
        yield Finding(name="workflows", text="none runs on pull requests", advice=todo, warns=True)
    if not events & {"push", "schedule"}:
        todo = "without one nobody measures the baseline; `gate init` shows it"
        text = "none runs on pushes to the base branch, or on a schedule"
        yield Finding(name="workflows", text=text, advice=todo, warns=True)
    for name, data in found:
        if "pull_request" in _events(data.get("on")):
            yield from _permissions(name, data)


def _events(on: Json) -> set[str]:
    named = [on] if isinstance(on, str) else on
    return set(map(str, named)) if isinstance(named, (list, dict)) else set()


def _permissions(name: str, workflow: Mapping[str, Json]) -> Iterator[Finding]:
    """A job that lists its permissions has only these."""
    jobs = workflow.get("jobs")
    for job, content in jobs.items() if isinstance(jobs, dict) else ():
        if not isinstance(content, dict) or not _uses_action(content.get("steps")):
            continue
        given = content.get("permissions", workflow.get("permissions"))
        if not isinstance(given, dict):
            continue
        order = ("none", "read", "write")
        lacking = [
            f"{what}: {least}"
            for what, least in _PERMISSIONS.items()
            if order.index(least) > order.index(_level(given.get(what)))
        ]
        if lacking:
            todo = f"add `permissions: {{{', '.join(lacking)}}}` to the job"
            text = f"{name}: the job {job} may not do all that the gate does on a pull request"
            yield Finding(name="workflows", text=text, advice=todo, warns=True)


def _uses_action(steps: Json) -> bool:
    listed = steps if isinstance(steps, list) else []
    named = [step.get("uses") for step in listed if isinstance(step, dict)]
    return any(isinstance(name, str) and ACTION in name for name in named)


def _level(given: Json) -> str:
    return str(given) if given in ("read", "write") else "none"


def _job(env: Mapping[str, str]) -> Iterator[Finding]:
    """A token is needed in CI alone: for the comment, and for a baseline that is an artifact."""
    if token(env):
        yield Finding(name="token", text="there is one; only a comment shows what it may do")
    elif is_ci(env):
        todo = "give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
        yield Finding(name="token", text="there is none", advice=todo)
    else:
        yield Finding(name="token", text="there is none; on a laptop none is needed")


def _sizes(sessions: Path) -> Finding:
    folders = [one for one in sessions.glob("session-*") if one.is_dir()]
    size = sum(file.lstat().st_size for one in folders for file in one.rglob("*"))
    text = f"{sessions}: {figures.count(len(folders), 'session')}, {size / 1e6:,.1f} MB"
    if size > MANY_BYTES:
        todo = "`gate sessions --keep 20` removes old ones"
        return Finding(name="sessions", text=text, advice=todo, warns=True)
    return Finding(name="sessions", text=text)
