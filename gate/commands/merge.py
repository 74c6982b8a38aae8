"""`gate merge SESSION...`: joins the shards of one run into one session and decides once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate.commands.merge_shards import merge


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict; no agent is called."""
    outcome = merge(options, env)
    for line in outcome.words(options, env):
        print(line)
    return outcome.report.exit_code
