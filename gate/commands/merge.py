"""`gate merge SESSION...`: joins the shards of one run into one session and decides once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate.commands.merge_shards import merge
from gate.commands.options.records import host_of, output_options, run_options


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Judges the shards and returns the exit code of the verdict; no agent is asked."""
    outcome = merge(options.sessions, run_options(options), host_of(options, env))
    for line in outcome.words(output_options(options), env):
        print(line)
    return outcome.report.exit_code
