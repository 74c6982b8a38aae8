"""`gate doctor`: looks at all that a run needs, one after the other, and says what to do where
something is missing. The agent and each model that grades are asked one question.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from gate import __version__
from gate.errors import GateError, InvalidInput
from gate.report.wording.sentences import SOUND_RUNS, needs_runs
from gate.run.examine_models import examine_agent, examine_judges, probe_agent
from gate.run.examine_repository import examine_repository, examine_token
from gate.run.finding import Finding, list_faults, make_fault
from gate.run.options import Host, RunOptions
from gate.run.setup import Setup, set_up, set_up_agent
from gate.store.baseline.find import Compared
from gate.text import figures

DEPENDENCIES = ("numpy", "requests", "PyYAML", "jsonschema", "jinja2", "rich", "orjson")
MANY_BYTES = 1 << 30  # of stored sessions, from where on it is worth a word


def examine(options: RunOptions, host: Host, sessions: Path) -> Iterator[Finding]:
    """Every finding, in the order in which a run meets it. `sessions`: the folder of results."""
    yield _versions()
    try:
        setup = set_up(options, host)
    except InvalidInput as error:
        yield from list_faults("gate.yml", error.problems)
        yield from _examine_without_cases(options, host)
    except GateError as error:
        yield make_fault("gate.yml", str(error))
    else:
        yield from _examine_setup(setup)
    yield from examine_repository(Path())
    yield from examine_token(host.env)
    yield _sizes(sessions)


def _examine_without_cases(options: RunOptions, host: Host) -> Iterator[Finding]:
    """Where a dataset alone is at fault, the agent and the judge can be asked all the same."""
    try:
        place, agent = set_up_agent(options, host)
    except GateError:  # gate.yml itself is at fault, and that is told
        return
    yield from probe_agent(place, agent)
    yield from examine_judges(place)


def _versions() -> Finding:
    parts = ", ".join(f"{name} {version(name)}" for name in DEPENDENCIES)
    text = f"Agent Gate {__version__}, Python {platform.python_version()}, {parts}"
    return Finding(name="versions", text=text)


def _examine_setup(setup: Setup) -> Iterator[Finding]:
    config = setup.place.config
    cases = sum(len(plan.all_ids) for plan in setup.plans)
    suites = figures.count(len(setup.plans), "suite")
    name = config.file or "no gate.yml: built-in defaults"
    yield Finding(name="gate.yml", text=f"{name}: {suites}, {figures.count(cases, 'case')}")
    for warning in config.warnings:
        yield Finding(name="gate.yml", text=warning, advice="see the line", warns=True)
    try:
        yield from examine_agent(setup)
    except GateError as error:  # a variable that is not set
        yield make_fault("agent", str(error))
    yield from examine_judges(setup.place)
    for plan in setup.plans:
        if config.baseline.source != "none" and plan.name in setup.baselines:
            yield _baseline(plan.name, setup.baselines[plan.name])


def _baseline(suite: str, compared: Compared) -> Finding:
    info = compared.info
    if info.source == "none":
        why = f": {info.detail}" if info.detail else ""
        todo = info.todo or "run the suites on the base branch, then `gate baseline save`"
        return Finding(
            name="baseline", text=f"{suite}: there is none{why}", advice=todo, warns=True
        )
    age = f", {figures.age(info.age_days)}" if info.age_days is not None else ""
    rounds, runs = figures.count(info.rounds, "round"), figures.count(info.runs, "run")
    commit = f" (commit {info.commit[:7]})" if info.commit else ""
    text = f"{suite}: {info.detail or info.source}: {rounds} of {runs}{commit}{age}"
    if needs_runs(info):
        more = SOUND_RUNS - info.runs
        few = "a pool of one run" if info.runs == 1 else f"a pool of {info.runs} runs"
        todo = f"{few} may be lucky; {more} more runs of the base branch make it sound"
        return Finding(name="baseline", text=text, advice=todo, warns=True)
    if info.notes:
        return Finding(name="baseline", text=text, advice="; ".join(info.notes), warns=True)
    return Finding(name="baseline", text=text)


def _sizes(sessions: Path) -> Finding:
    folders = [one for one in sessions.glob("session-*") if one.is_dir()]
    size = sum(file.lstat().st_size for one in folders for file in one.rglob("*"))
    text = f"{sessions}: {figures.count(len(folders), 'session')}, {size / 1e6:,.1f} MB"
    if size > MANY_BYTES:
        todo = "`gate sessions --keep 20` removes old ones"
        return Finding(name="sessions", text=text, advice=todo, warns=True)
    return Finding(name="sessions", text=text)
