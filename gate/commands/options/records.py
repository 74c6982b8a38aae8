"""What commands make of parsed arguments, and of the terminal: records for the code below, the
config, the width of a page.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from gate.errors import GateError
from gate.files.plain import plain
from gate.files.yaml import parse
from gate.records import CheckedJson, Config, ReportOptions
from gate.records.settings import OutputOptions
from gate.run.home import Home, find_home, log_nothing
from gate.run.options import Host, ImportOptions, RunOptions
from gate.store.session import find_session
from gate.suites.protection.rules import CONFIG, load_own_config

_Options = TypeVar("_Options", bound=OutputOptions)


def host_of(parsed: argparse.Namespace, env: Mapping[str, str]) -> Host:
    """The Host of this process, as gate/cli.py set it up."""
    log = getattr(parsed, "tell", log_nothing)
    return Host(env=env, stop=parsed.stop, secrets=parsed.secrets, log=log)


def home_of(parsed: argparse.Namespace) -> Home:
    """The Home of the command's gate.yml. Raises UsageError."""
    return find_home(parsed.config, getattr(parsed, "tell", log_nothing))


def own_config(parsed: argparse.Namespace, env: Mapping[str, str]) -> tuple[Config, Path]:
    """The config in the command's gate.yml as it stands here, and its folder. Raises UsageError,
    InvalidInput.
    """
    home = home_of(parsed)
    return load_own_config(home.file, home.root, env, datetime.now(UTC).date()), home.root


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


def find_stored(given: str) -> Path:
    """The folder of the session `given`; for `latest` the newest one with a verdict, in the folder
    where gate.yml keeps the sessions. Raises UsageError where there is none.
    """
    return find_session(given, results_folder())


def results_folder() -> Path:
    """The folder of the sessions: `report.dir` of the nearest gate.yml, else results. A gate.yml
    that cannot be read keeps nobody from the sessions.
    """
    home = find_home(None)
    path = Path(home.file) if home.file else home.root / CONFIG
    try:
        report: CheckedJson = parse(plain(path).read_bytes(), str(path)).data
        folder = report["report"]["dir"]  # whatever lacks is caught
    except (GateError, OSError, LookupError, TypeError):
        folder = None
    return home.root / (folder if isinstance(folder, str) and folder else ReportOptions().dir)


def page_width(most: int) -> int:
    """Columns of the terminal, at most `most`; `most` where there is none."""
    return min(most, shutil.get_terminal_size((most, 24)).columns)


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
