"""The action on a pull request, in this process, with a GitHub on loopback."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gate.commands.action import Hooks, run
from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.github.api import Api, Time
from gate.github.comments import RetryPace
from gate.github.context import Job
from gate.github.delivery import Means
from gate.run.earlier_head import FindEarlier
from gate.run.execute import execute
from gate.run.options import Host
from tests.support.github_server import REPOSITORY, GitHub
from tests.support.runner import on_a_pull_request


def execute_here(
    argv: Sequence[str],
    settings: Mapping[str, str],
    env: Mapping[str, str],
    find: FindEarlier,
) -> Any:
    return execute(run_options(parse(argv), settings), Host(env=env), find=find)


def environment(folder: Path, github: GitHub) -> dict[str, str]:
    return {**on_a_pull_request(folder, github), "INPUT_CHECK-RUN": "true"}


def hooks_on(github: GitHub, echo: Callable[[str], None] = lambda line: None) -> Hooks:
    """What the action is handed: this GitHub, no process of its own, and no waiting."""

    def connect(job: Job, token: str) -> Api:
        quick = Time(sleep=lambda seconds: None)
        return Api(github.url, token, REPOSITORY, clock=quick, http_on_loopback=True)

    means = Means(connect=connect, echo=echo, pace=RetryPace(sleep=lambda seconds: None))
    return Hooks(execute=execute_here, means=means)


def act(
    folder: Path, github: GitHub, *, env: Mapping[str, str] | None = None, **inputs: str
) -> int:
    """The exit code of the action on a pull request."""
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    whole = {**environment(folder, github), **(env or {}), **given}
    return run(argparse.Namespace(), whole, hooks_on(github))
