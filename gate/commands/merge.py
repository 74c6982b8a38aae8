"""`gate merge SESSION...`: joins the shards of one run into one session and decides once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gate.commands.options.records import host_of, output_options, run_options
from gate.errors import UsageError
from gate.run.execute import execute
from gate.run.options import Host, RunOptions
from gate.store.session import load_session, refuse_debugging

if TYPE_CHECKING:
    from gate.run.judge import Outcome


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Judges the shards and returns the exit code of the verdict; no agent is asked."""
    outcome = merge(options.sessions, run_options(options), host_of(options, env))
    for line in outcome.words(output_options(options), env):
        print(line)
    return outcome.report.exit_code


def merge(folders: Sequence[str], options: RunOptions, host: Host) -> Outcome:
    """Judges the sessions in `folders` as one run; no agent is asked. `options`: config, baseline,
    out and settings; all others come from the shards. Raises GateError.
    """
    shards = [load_session(Path(folder)) for folder in folders]
    for shard in shards:
        refuse_debugging(shard)
    suites = {name for shard in shards for name in shard.meta.suites}
    samples = {shard.meta.options["sample"] for shard in shards if "sample" in shard.meta.options}
    if len(samples) > 1:
        raise UsageError(
            "gate merge: the shards were run with different --sample; merge shards of one run"
        )
    run_request = replace(
        options,
        suite=tuple(sorted(suites)),
        sample=next(iter(samples), None),
        protect=next((shard.meta.options.get("protect") for shard in shards), None),
        stop_rule="off",
    )
    return execute(run_request, host, shards)
