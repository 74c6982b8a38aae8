"""`gate completion SHELL`: a script with which the shell completes commands, options and files."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator, Mapping

from gate.commands.options.all import parser
from gate.errors import UsageError

_FILES = ("FILE", "PATH", "SESSION", "SOURCE", "DATASET")  # what is shown as their value
_FOLDERS = ("DIR", "FOLDER")


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints the script and returns 0. Raises UsageError without the package that writes it."""
    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        raise UsageError(
            "gate completion: the package shtab is missing; install it beside Agent Gate: "
            "`pip install shtab`, or with pipx `pipx inject agent-gate shtab`"
        ) from None
    whole = parser()
    for action in _list_actions(whole):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(whole, options.shell))
    return 0


def _list_actions(of: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a command and of all below it."""
    for action in of._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _list_actions(below)
