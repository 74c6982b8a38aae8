"""The arguments of a tool call as texts, each with its dotted key, at any depth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeGuard

from gate.records import Json, ToolCall

MOST = 2_000  # texts of one call
LIMIT = 50_000  # characters of one


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One text or number of the arguments. `key`: dotted, without list positions; empty if the
    arguments are not an object. `joined`: a list of words as one line.
    """

    key: str
    text: str
    joined: bool = False

    def is_called(self, pattern: str) -> bool:
        """Whether the whole key, or its last part, fits a glob."""
        return fnmatchcase(self.key, pattern) or fnmatchcase(self.key.rpartition(".")[2], pattern)


def leaves(call: ToolCall) -> list[Leaf]:
    """Every text and number in the arguments; a list of words (an argv) also as one line.
    Bounded.
    """
    if call.arguments is None:
        return [Leaf(key="", text=call.raw_arguments[:LIMIT])] if call.raw_arguments else []
    return texts(call.arguments)


def join_written(call: ToolCall, leaves_of_call: Sequence[Leaf]) -> str:
    """Everything that an agent wrote for a call: the tool's name, the keys and the values."""
    keys = "\n".join(dict.fromkeys(leaf.key for leaf in leaves_of_call if leaf.key))
    values = "\n".join(leaf.text for leaf in leaves_of_call if not leaf.joined)
    return f"{call.name[:LIMIT]}\n{keys[:LIMIT]}\n{values}"


def texts(value: Json) -> list[Leaf]:
    """Every text and number of any JSON data, in order."""
    leaves_found: list[Leaf] = []
    waiting: list[tuple[str, Json]] = [("", value)]
    while waiting and len(leaves_found) < MOST:
        key, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{key}.{name}" if key else str(name), item) for name, item in value.items()]
            waiting += reversed(inner[:MOST])
        elif isinstance(value, (list, tuple)):
            waiting += reversed([(key, item) for item in value[:MOST]])
            if _words(value):
                leaves_found.append(Leaf(key=key, text=" ".join(value)[:LIMIT], joined=True))
        elif value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            leaves_found.append(Leaf(key=key[:LIMIT], text=text[:LIMIT]))
    return leaves_found


def _words(value: Sequence[object]) -> TypeGuard[Sequence[str]]:
    return 1 < len(value) <= MOST and all(isinstance(item, str) for item in value)
