"""`gate help [COMMAND]`: how a command is used. `--json`: all that can be written in gate.yml or on
the command line, as one document for programs, such as coding agents.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar, cast

from gate import __version__
from gate.analysis.catalogue import trial_metrics
from gate.commands.options.all import COMMANDS, parser
from gate.commands.options.listing import list_commands
from gate.errors import UsageError
from gate.plugins import AGENTS, EXPORTERS, GRADERS, IMPORTERS, RETRIEVERS, Grader
from gate.records import Json, MetricSpec
from gate.records.codec import schema_of
from gate.registry import Registry
from gate.text.suggestions import did_you_mean

T = TypeVar("T")
ROUNDS = 3  # of the metrics that depend on it
EXIT_CODES: Mapping[int, str] = {
    0: "pass, or an outcome that the policy allows",
    1: "fail: a blocking metric got worse, or a limit is broken; also a finding of `gate dataset "
    "check`, and a case of `--case` or `--failed` that fails or is unscored",
    2: "wrong usage, or an invalid config, dataset, baseline or session",
    3: "inconclusive, if the policy says fail",
    4: "no baseline, if the policy says fail",
    5: "not comparable, if the policy says fail",
    6: "infrastructure: the agent, the judge, GitHub or a store cannot be reached",
    70: "a bug of Agent Gate",
    130: "interrupted; continue with gate run --resume",
    143: "ended by a signal; continue with gate run --resume",
}
OUTCOMES = ("fail", "error", "not_comparable", "no_baseline", "inconclusive", "pass")
_KINDS: Mapping[str, Registry[Any]] = {
    "agents": AGENTS,
    "retrievers": RETRIEVERS,
    "graders": GRADERS,
    "importers": IMPORTERS,
    "exporters": EXPORTERS,
}


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the help and returns 0. Raises UsageError for an unknown command."""
    if options.json:
        print(json.dumps(catalogue(), indent=2, ensure_ascii=False))
    elif options.topic is None:
        parser().print_help()
    elif options.topic in COMMANDS:
        parser([options.topic]).parse_args([options.topic, "--help"])  # ends the command
    else:
        hint = did_you_mean(options.topic, [*COMMANDS])
        raise UsageError(f"gate help {options.topic}: unknown command{hint}")
    return 0


def catalogue() -> dict[str, Json]:
    """Commands, plug-ins with the schemas of their options, metrics, exit codes and outcomes."""
    return {
        "version": __version__,
        "commands": [asdict(command) for command in list_commands()],
        **{kind: list(_plugins(registry)) for kind, registry in _KINDS.items()},
        "metrics": [_metric(spec) for spec in trial_metrics(ROUNDS)],
        "exit_codes": {str(code): about for code, about in EXIT_CODES.items()},
        "outcomes": list(OUTCOMES),
        "schemas": {
            "gate.yml": "gate schema config",
            "a case of a dataset": "gate schema case",
            "summary.json": "gate schema session",
            "a line of details.jsonl": "gate schema details",
        },
    }


def _plugins(registry: Registry[T]) -> Iterator[dict[str, Json]]:
    for name in registry.names():
        plugin = registry.get_class(name)
        found: dict[str, Json] = {
            "name": name,
            "about": inspect.cleandoc(plugin.__doc__ or ""),
            "options": schema_of(plugin),
        }
        if registry is GRADERS:
            found |= _of_grader(cast("type[Grader]", plugin))
        yield found


def _of_grader(grader: type[Grader]) -> dict[str, Json]:
    """The keys of a case that it reads, and its metrics, as it is without options."""
    with suppress(UsageError, TypeError, ValueError):  # it needs an option
        made = grader()
        metrics = [_metric(spec) for spec in made.metrics()]
        return {"case_keys": dict(made.keys), "metrics": metrics}
    return {}


def _metric(spec: MetricSpec) -> dict[str, Json]:
    return {
        "name": spec.name,
        "about": spec.description,
        "unit": spec.unit,
        "better": spec.direction,
    }
