"""`gate merge SESSION...`: joins the shards of one run into one session and decides once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from gate.announce import tell
from gate.archive import load_session
from gate.execute import execute
from gate.options import parse


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict; no agent is called."""
    shards = [load_session(Path(folder)) for folder in options.sessions]
    as_run = parse(["run", *_arguments(options, {n for s in shards for n in s.meta.suites})])
    as_run.stop = options.stop
    outcome = execute(as_run, env, shards=shards)
    for line in tell(outcome.report, outcome.session_dir, as_run, env):
        print(line)
    return outcome.report.exit_code


def _arguments(options: argparse.Namespace, suites: set[str]) -> list[str]:
    """The options of the run that the shards were parts of."""
    given = [f"--suite={name}" for name in sorted(suites)] + [f"--out={options.out}"]
    given += [f"--config={options.config}"] if options.config else []
    given += [f"--baseline={options.baseline}"] if options.baseline else []
    flags = ("quiet", "verbose", "no_color")
    return given + [f"--{flag.replace('_', '-')}" for flag in flags if getattr(options, flag)]
