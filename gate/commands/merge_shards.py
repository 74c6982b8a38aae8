"""The shards of one run joined into one session and judged once: `gate merge` and the action."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gate.commands.options.all import parse
from gate.errors import UsageError
from gate.run.execute import execute
from gate.run.home import home
from gate.store.session import load_session, refuse_debugging

if TYPE_CHECKING:
    from gate.run.judge import Outcome


def merge(
    options: argparse.Namespace, env: Mapping[str, str], more: Mapping[str, str] | None = None
) -> Outcome:
    """No agent is asked. `more`: dotted keys over gate.yml. Raises GateError."""
    shards = [load_session(Path(folder)) for folder in options.sessions]
    for shard in shards:
        refuse_debugging(shard)
    suites = {name for shard in shards for name in shard.meta.suites}
    samples = {shard.meta.options["sample"] for shard in shards if "sample" in shard.meta.options}
    as_run = parse(["run", *_arguments(options, suites, samples)])
    as_run.stop, as_run.secrets = options.stop, options.secrets
    as_run.home = home(options)
    as_run.protect = next((shard.meta.options.get("protect") for shard in shards), None)
    return execute(as_run, env, more, shards)


def _arguments(options: argparse.Namespace, suites: set[str], samples: set[int]) -> list[str]:
    """The options of the run that the shards were parts of; UsageError for different ones."""
    if len(samples) > 1:
        raise UsageError("gate merge: the shards have different --sample; merge those of one run")
    given = [f"--suite={name}" for name in sorted(suites)] + [f"--out={options.out}", "--stop=off"]
    given += [f"--config={options.config}"] if options.config else []
    given += [f"--sample={number}" for number in samples]
    return given + ([f"--baseline={options.baseline}"] if options.baseline else [])
