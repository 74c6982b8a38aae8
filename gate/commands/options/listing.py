"""The commands and their arguments as data, for pages and for programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from gate.commands.options.all import parser


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """`name`: as it is typed, `--rounds N` or `[SESSION]`. `default`: what counts without it, in
    words; empty: nothing. `choices`: its values where no others are taken.
    """

    name: str
    about: str
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`name`: with `gate`, and with its action if it has one: `gate baseline save`."""

    name: str
    about: str
    arguments: tuple[Argument, ...] = ()


def list_commands() -> Iterator[Command]:
    """Every command, those with actions before their actions."""
    return _below(parser(), "gate")


def list_options() -> tuple[Argument, ...]:
    """Those of `gate` itself, without a command."""
    return tuple(_arguments(parser(())))


def _below(of: argparse.ArgumentParser, name: str) -> Iterator[Command]:
    if name != "gate":
        yield Command(name=name, about=of.description or "", arguments=tuple(_arguments(of)))
    children = [one for one in of._actions if isinstance(one, argparse._SubParsersAction)]
    for child in children:
        for word, inner in child.choices.items():
            yield from _below(inner, f"{name} {word}")


def _arguments(of: argparse.ArgumentParser) -> Iterator[Argument]:
    for one in of._actions:
        if one.dest == "help" or one.help is None or isinstance(one, argparse._SubParsersAction):
            continue
        about = one.help.replace("%%", "%")
        needed = one.required if one.option_strings else one.nargs not in ("?", "*")
        yield Argument(
            name=_name(one),
            about=about,
            required=needed,
            default=_default(one, about),
            choices=tuple(map(str, one.choices or ())),
            repeatable=isinstance(one, argparse._AppendAction) or one.nargs in ("*", "+"),
        )


def _default(one: argparse.Action, about: str) -> str:
    """As the parser has it, else as the last brackets of its help say it."""
    if one.nargs == 0:
        return ""
    if one.default not in (None, argparse.SUPPRESS):
        return str(one.default)
    return about.rpartition("(")[2].partition(")")[0] if "(" in about else ""


def _name(one: argparse.Action) -> str:
    given = " ".join(one.metavar) if isinstance(one.metavar, tuple) else one.metavar
    value = given or (f"{{{','.join(map(str, one.choices))}}}" if one.choices else "")
    if not value and one.nargs != 0:
        value = one.dest.upper()
    forms = {"*": f"[{value} ...]", "+": f"{value} ...", "?": f"[{value}]"}
    value = forms.get(str(one.nargs), value)
    return f"{','.join(one.option_strings)} {value}".strip()
