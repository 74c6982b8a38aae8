"""Makes the records that the code below the commands takes from parsed arguments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from gate.records.settings import OutputOptions
from gate.run.home import Home, find_home, log_nothing
from gate.run.options import Host, ImportOptions, RunOptions

_Options = TypeVar("_Options", bound=OutputOptions)


def host_of(parsed: argparse.Namespace, env: Mapping[str, str]) -> Host:
    """The Host of this process, as gate/cli.py set it up."""
    log = getattr(parsed, "tell", log_nothing)
    return Host(env=env, stop=parsed.stop, secrets=parsed.secrets, log=log)


def home_of(parsed: argparse.Namespace) -> Home:
    """The Home of the command's gate.yml. Raises UsageError."""
    return find_home(parsed.config, getattr(parsed, "tell", log_nothing))


def output_options(parsed: argparse.Namespace) -> OutputOptions:
    return _record(OutputOptions, parsed)


def run_options(
    parsed: argparse.Namespace, settings: Mapping[str, str] | None = None
) -> RunOptions:
    """The RunOptions. `settings`: what the action's inputs add: dotted keys over gate.yml, `note`
    and `sample`.
    """
    more = settings or {}
    return _record(
        RunOptions,
        parsed,
        settings=more,
        all_cases=more.get("sample") == "all",
        note=more.get("note", ""),
    )


def import_options(
    parsed: argparse.Namespace, settings: Mapping[str, str] | None = None
) -> ImportOptions:
    """The ImportOptions. `settings`: dotted keys over gate.yml."""
    return _record(ImportOptions, parsed, settings=settings or {})


def _record(kind: type[_Options], parsed: argparse.Namespace, **more: object) -> _Options:
    """`more`: fields that no option has."""
    given = {field.name: getattr(parsed, field.name, None) for field in fields(kind)}
    frozen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if value is not None
    }
    frozen.update(more)
    return kind(**frozen)
