"""What OpenAgent's console says of tool calls, in its old and its new form. No line has a time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gate.traces.openagent_lines import CONSOLE, NAMELESS, NO_CALL

_DECIDED = re.compile(r"LLM Decision: \[(\d{1,6}) tool call", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleCalls:
    """`shows`: whether any line speaks of calls, be it that there was none. `odd`: the
    model's decisions are on another number of calls than the lines name.
    """

    names: tuple[str, ...]
    shows: bool
    odd: bool


def read_console(lines: Iterable[str]) -> ConsoleCalls:
    """Names in order. Arguments and results alone name no call, so they show nothing."""
    names: list[str] = []
    shows = False
    decided = numbered = 0
    for line in lines:
        match = CONSOLE.match(line)
        if match is None:
            continue
        kind = match.lastgroup
        shows = shows or kind not in ("arguments", "result")
        if kind == "old" and match["old"] != NO_CALL:
            names.append(match["old"] or NAMELESS)
        elif match["new"] is not None:
            names.append(match["new"] or NAMELESS)
            numbered += 1
        elif kind == "other" and (count := _DECIDED.search(match["other"])):
            decided += int(count[1])
    return ConsoleCalls(names=tuple(names), shows=shows, odd=decided not in (0, numbered))
