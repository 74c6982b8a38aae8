"""`gate help [COMMAND]`: how a command is used. `--json`: all that can be written in gate.yml or on
the command line, as one document for programs, such as coding agents.
"""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar, cast

from gate import __version__
from gate.analysis.catalogue import OF_JUDGES, trial_metrics
from gate.commands.options.all import COMMANDS, parser
from gate.commands.options.listing import list_commands, list_options
from gate.errors import UsageError
from gate.graders.rubrics.built_in import BUILT_IN
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
# Grader -> options with which it has metrics that it lacks without.
_OPTIONS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "contains": ({"text": "..."},),
    "hallucination": ({"entities": ("names", "dates", "quotes")},),
    "judge": tuple({"rubric": name} for name in BUILT_IN),
    "regex": ({"pattern": "..."},),
    "retrieval": ({"mrr_k": (10,)},),
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
    topic = tuple(options.topic)
    if options.json:
        found = look_up(" ".join(topic)) if topic else catalogue()
        print(json.dumps(found, indent=2, ensure_ascii=False))
    elif not topic:
        parser().print_help()
    elif topic[0] in COMMANDS:
        parser([topic[0]]).parse_args([*topic, "--help"])  # ends the command
    else:
        hint = did_you_mean(topic[0], [*COMMANDS])
        raise UsageError(f"gate help {' '.join(topic)}: unknown command{hint}")
    return 0


def look_up(name: str) -> Json:
    """The part of the catalogue about one command, such as `baseline save`, or one plug-in, whose
    `kind` is added; of a name that several kinds have a list. Raises UsageError.
    """
    named = [asdict(command) for command in list_commands()]
    of_it = [one for one in named if f"{one['name']} ".startswith(f"gate {name} ")]
    if of_it and of_it[0]["name"] == f"gate {name}":
        return {**of_it[0], "actions": of_it[1:]} if of_it[1:] else of_it[0]
    found: list[Json] = [
        {"kind": kind, **_plugin(registry, name)}
        for kind, registry in _KINDS.items()
        if name in registry
    ]
    if not found:
        plugins = [each for registry in _KINDS.values() for each in registry.names()]
        commands = [one["name"].removeprefix("gate ") for one in named]
        hint = did_you_mean(name, [*commands, *plugins])
        raise UsageError(f"gate help {name}: unknown command or plug-in{hint}")
    return found[0] if len(found) == 1 else found


def catalogue() -> dict[str, Json]:
    """Commands, plug-ins with the schemas of their options, metrics, exit codes and outcomes."""
    return {
        "version": __version__,
        "options": [asdict(option) for option in list_options()],
        "commands": [asdict(command) for command in list_commands()],
        **{kind: list(_plugins(registry)) for kind, registry in _KINDS.items()},
        "metrics": [_metric(spec) for spec in (*trial_metrics(ROUNDS), *OF_JUDGES)],
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
    return (_plugin(registry, name) for name in registry.names())


def _plugin(registry: Registry[T], name: str) -> dict[str, Json]:
    plugin = registry.get_class(name)
    found: dict[str, Json] = {
        "name": name,
        "about": inspect.cleandoc(plugin.__doc__ or ""),
        "options": schema_of(plugin),
    }
    if registry is GRADERS:
        found |= _of_grader(name, cast("type[Grader]", plugin))
    return found


def _of_grader(name: str, grader: type[Grader]) -> dict[str, Json]:
    """The keys of a case that it reads without options, or with the fewest, and all its metrics:
    those that it has with an option only name it in `with_options`.
    """
    keys: dict[str, Json] | None = None
    metrics: dict[str, dict[str, Json]] = {}
    for written in ({}, *_OPTIONS.get(name, ())):
        with suppress(UsageError, TypeError, ValueError):  # it needs an option
            made = grader(**written)
            keys = dict(made.keys) if keys is None else keys
            for spec in made.metrics():
                more = {"with_options": written} if written else {}
                metrics.setdefault(spec.name, {**_metric(spec), **more})
    return {} if keys is None else {"case_keys": keys, "metrics": [*metrics.values()]}


def _metric(spec: MetricSpec) -> dict[str, Json]:
    return {
        "name": spec.name,
        "about": spec.description,
        "unit": spec.unit,
        "better": spec.direction,
    }
