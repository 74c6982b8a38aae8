"""Graders as everybody uses them: ours are made here, a user's own is asked in its process."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, cast

from gate.plugins import GRADERS, Grader, build
from gate.records import PluginSpec


def is_own(name: str) -> bool:
    """Whether it names a grader of the user's: `module:Class` or `./file.py:Class`."""
    return ":" in name


def manner_of(name: str, root: Path) -> Any:
    """What carries `role`, `partly_offline` and `knows_modes` of the grader: our class, or what a
    user's class says. Raises UsageError.
    """
    return _of_the_user().examined(name, root) if is_own(name) else GRADERS.registered(name)


def option_faults(spec: PluginSpec, root: Path) -> list[str]:
    """What is wrong with the options of a user's own grader; those of ours were checked with the
    schema of the file. Raises UsageError.
    """
    return list(_of_the_user().option_faults(spec, root)) if is_own(spec.name) else []


def make_grader(spec: PluginSpec, root: Path) -> Grader:
    """The grader that a checked piece of gate.yml describes. Raises UsageError."""
    if is_own(spec.name):
        return cast("Grader", _of_the_user().make(spec, root))
    return build(GRADERS, spec, root)


def _of_the_user() -> Any:
    """What runs processes takes time to import: only where there is code of the user's."""
    return importlib.import_module("gate.graders.user_code.grader")
