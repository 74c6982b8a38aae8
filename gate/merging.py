"""The shards of one run joined into one session and judged once: `gate merge` and the action."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gate.archive import load_session
from gate.execute import execute
from gate.options import parse

if TYPE_CHECKING:
    from gate.judging import Outcome


def merge(
    options: argparse.Namespace, env: Mapping[str, str], more: Mapping[str, str] | None = None
) -> Outcome:
    """No agent is asked. `more`: dotted keys over gate.yml. Raises GateError."""
    shards = [load_session(Path(folder)) for folder in options.sessions]
    as_run = parse(["run", *_arguments(options, {n for s in shards for n in s.meta.suites})])
    as_run.stop = options.stop
    return execute(as_run, env, more, shards)


def _arguments(options: argparse.Namespace, suites: set[str]) -> list[str]:
    """The options of the run that the shards were parts of."""
    given = [f"--suite={name}" for name in sorted(suites)] + [f"--out={options.out}"]
    given += [f"--config={options.config}"] if options.config else []
    return given + ([f"--baseline={options.baseline}"] if options.baseline else [])
