"""docs/commands.md: every command with its arguments, as the parser has them."""

from __future__ import annotations

from collections.abc import Iterator

from gate.commands.options.listing import Command, list_commands

HEAD = """# Commands

For users of Agent Gate: each command with its arguments. This page is made from the code
(`pytest tests/golden --update-golden`); `gate COMMAND --help` prints the same.
Defaults are in parentheses.
"""


def render() -> str:
    """The page as Markdown."""
    return "\n".join([HEAD, *map("\n".join, map(_command, list_commands())), ""])


def _command(command: Command) -> Iterator[str]:
    yield f"{'#' * len(command.name.split())} `{command.name}`\n\n{command.about}"
    if command.arguments:
        yield "\n| argument | meaning |\n|:--|:--|"
    for argument in command.arguments:
        yield f"| `{_cell(argument.name)}` | {_cell(argument.about)} |"
    yield ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
