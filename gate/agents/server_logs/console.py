"""What OpenAgent's console says of tool calls, in its old and its new form. No line has a time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gate.agents.traces.openagent_lines import CONSOLE, NAMELESS, NO_CALL

_NUMBER = re.compile(r"Tool (\d{1,6}):", re.ASCII)
_DECIDED = re.compile(
    r"(?:--- Agent Round (\d{1,6}) \| )?LLM Decision: \[(\d{1,6}) tool call", re.ASCII
)
_FINAL = re.compile(
    r"LLM Decision: \[Final Answer"
    r"(?:.{0,80}?(?: after round (?P<rounds>\d{1,6})|(?P<none> no tool calls)))?",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleCalls:
    """`shows`: whether any line speaks of calls, be it that there was none. `odd`: the lines are
    not those of one request, as its rounds do not follow each other.
    """

    names: tuple[str, ...]
    shows: bool
    odd: bool


def parse_console(lines: Iterable[str]) -> ConsoleCalls:
    """Names in order. Arguments and results alone name no call, so they show nothing."""
    names: list[str] = []
    shows = old = False
    rounds = _Rounds()
    for line in lines:
        match = CONSOLE.match(line)
        if match is None:
            continue
        kind = match.lastgroup
        shows = shows or kind not in ("arguments", "result")
        if kind == "old":
            old = True
            if match["old"] != NO_CALL:
                names.append(match["old"] or NAMELESS)
        elif match["new"] is not None:
            names.append(match["new"] or NAMELESS)
            rounds.call(line)
        elif kind == "turn":
            rounds.seen = True
        elif kind == "other":
            rounds.decision(match["other"])
    odd = bool(names) and ((old and rounds.seen) or not rounds.fit)
    return ConsoleCalls(names=tuple(names), shows=shows, odd=odd or rounds.lacking)


@dataclass(slots=True)
class _Rounds:
    """The new form, by which a request counts its rounds from 1 and in each its calls, and tells
    at its end how many rounds there were. A text that a tool prints cannot take the real lines
    away, so that forged ones break the count.
    """

    seen: bool = False
    _fit: bool = True
    _round: int = 0
    _called: int = 0  # calls of this round
    _decided: int = 0
    _finals: list[int | None] = field(default_factory=list)

    @property
    def lacking(self) -> bool:
        """Whether a call that was decided on is not named."""
        return self._called < self._decided

    @property
    def fit(self) -> bool:
        ends = {None, self._round}  # an end that does not name its round is believed
        return self._fit and len(self._finals) <= 1 and ends.issuperset(self._finals)

    def call(self, line: str) -> None:
        self.seen = True
        self._called += 1
        number = _NUMBER.search(line)
        named = number is not None and int(number[1]) == self._called
        self._fit = self._fit and named and self._called <= self._decided

    def decision(self, line: str) -> None:
        self.seen = True
        if decided := _DECIDED.match(line):
            number = int(decided[1]) if decided[1] else self._round + 1
            follows = number > self._round and not self._finals and not self.lacking
            self._fit = self._fit and follows
            self._round, self._called, self._decided = number, 0, int(decided[2])
        elif final := _FINAL.match(line):
            rounds_shown = "0" if final["none"] else final["rounds"]
            self._finals.append(int(rounds_shown) if rounds_shown else None)
