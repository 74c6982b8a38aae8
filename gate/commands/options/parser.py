"""The parser of the command line and of its sub-commands: a usage error is one sentence."""

from __future__ import annotations

import argparse
from typing import Any


class Parser(argparse.ArgumentParser):
    """Exits with 2 and one sentence, like every other usage error."""

    def error(self, message: str) -> Any:
        self.exit(2, f"gate: {message}; `{self.prog} --help` lists what there is\n")


def actions_of(p: argparse.ArgumentParser) -> Any:
    """Where the sub-commands of a command are added."""
    return p.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)


def add_action(actions: Any, name: str, text: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = actions.add_parser(name, help=text, description=sentence(text))
    return made


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
