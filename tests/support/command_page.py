"""docs/commands.md: every command with its arguments, as the parser has them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from gate.commands.options.all import parser

HEAD = """# Commands

For users of Agent Gate: each command with its arguments. This page is made from the code
(`pytest tests/golden --update-golden`); `gate COMMAND --help` prints the same.
Defaults are in parentheses.
"""


def render() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *_commands(parser(), "gate"), ""])


def _commands(of: argparse.ArgumentParser, name: str) -> Iterator[str]:
    children = next(
        (one for one in of._actions if isinstance(one, argparse._SubParsersAction)), None
    )
    if of.prog != "gate":
        yield f"{'#' * len(name.split())} `{name}`\n\n{of.description}"
        yield from _arguments(of)
        yield ""
    for word, child in children.choices.items() if children else ():
        yield from _commands(child, f"{name} {word}")


def _arguments(of: argparse.ArgumentParser) -> Iterator[str]:
    given = [one for one in of._actions if one.dest != "help" and one.help is not None]
    rows = [one for one in given if not isinstance(one, argparse._SubParsersAction)]
    if rows:
        yield "\n| argument | meaning |\n|:--|:--|"
    for one in rows:
        yield f"| {_name(one)} | {_cell(one.help % {} if '%' in one.help else one.help)} |"


def _name(one: argparse.Action) -> str:
    value = one.metavar or (f"{{{','.join(map(str, one.choices))}}}" if one.choices else "")
    if not value and one.nargs != 0:
        value = one.dest.upper()
    if not one.option_strings:
        many = {"*": f"[{value} ...]", "+": f"{value} ...", "?": f"[{value}]"}
        return f"`{_cell(many.get(str(one.nargs), str(value)))}`"
    value = f"[{value}]" if one.nargs == "?" else value
    return f"`{_cell(f'{chr(44).join(one.option_strings)} {value}'.strip())}`"


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")
