"""`gate merge SESSION...`: joins the shards of one run into one session and decides once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gate.commands.options.records import find_stored, host_of, output_options, run_options
from gate.run.execute import execute
from gate.run.joined_parts import options_of_parts
from gate.run.options import Host, RunOptions
from gate.store.shards import check_parts, find_parts

if TYPE_CHECKING:
    from gate.run.judge import Outcome


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Judges the shards and returns the exit code of the verdict; no agent is asked."""
    sessions = [str(find_stored(given)) for given in options.sessions]
    outcome = merge(sessions, run_options(options), host_of(options, env))
    for line in outcome.words(output_options(options), env):
        print(line)
    return outcome.report.exit_code


def merge(paths: Sequence[str], options: RunOptions, host: Host) -> Outcome:
    """Judges the sessions at `paths`, or in folders there, as one run; no agent is asked.
    `options`: config, baseline, out and settings; all others come from the shards. Raises
    GateError.
    """
    parts = find_parts(paths)
    check_parts(parts)
    return execute(options_of_parts(options, parts), host, parts)
