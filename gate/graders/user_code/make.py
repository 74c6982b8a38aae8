"""Graders as everybody uses them: ours are made here, a user's own is asked in its process."""

from __future__ import annotations

from pathlib import Path

from gate.plugins import GRADERS, Grader, build
from gate.records import PluginSpec


def is_own(name: str) -> bool:
    """Whether it names a grader of the user's: `module:Class` or `./file.py:Class`."""
    return ":" in name


def manner_of(name: str, root: Path) -> object:
    """What carries `role`, `partly_offline` and `knows_modes` of the grader: our class, or what a
    user's class says. Raises UsageError.
    """
    if not is_own(name):
        return GRADERS.get_class(name)
    from gate.graders.user_code.grader import examine_class

    return examine_class(name, root)


def option_faults(spec: PluginSpec, root: Path) -> list[str]:
    """What is wrong with the options of a user's own grader; those of ours were checked with the
    schema of the file. Raises UsageError.
    """
    if not is_own(spec.name):
        return []
    from gate.graders.user_code import grader

    return list(grader.option_faults(spec, root))


def make_grader(spec: PluginSpec, root: Path) -> Grader:
    """The grader that a checked piece of gate.yml describes. Raises UsageError."""
    if not is_own(spec.name):
        return build(GRADERS, spec, root)
    from gate.graders.user_code.grader import make

    return make(spec, root)
