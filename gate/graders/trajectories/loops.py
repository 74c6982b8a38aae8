"""Repeated calls: anywhere, and loops in which an agent gets no further."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gate.graders.trajectories.identity import call_mark, outcome_mark
from gate.records import ToolCall

LONGEST = 5  # calls of a cycle
_NAME = 80  # characters of a tool's name that are told


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """`tools` were called in this order, `times` times in a row."""

    start: int  # number of its first step, from 1
    tools: tuple[str, ...]
    times: int

    @property
    def about(self) -> str:
        names = ", ".join(tool[:_NAME] for tool in self.tools)
        return f"step {self.start}: {names} {self.times} times in a row with the same arguments"


def count_repeated(steps: Sequence[ToolCall], may_repeat: Sequence[str] = ()) -> int:
    """The number of calls that are identical to an earlier one, whatever their outcome."""
    marks = [call_mark(call) for call in steps if call.name not in may_repeat]
    return len(marks) - len(set(marks))


def find_loops(
    steps: Sequence[ToolCall], *, at_least: int, may_repeat: Sequence[str] = ()
) -> tuple[Loop, ...]:
    """Cycles of 1 to 5 calls that occur `at_least` times in a row, each call with the same
    arguments and the same outcome every time. In order, without overlaps. Time: O(steps).
    """
    counted = [(n, call) for n, call in enumerate(steps, 1) if call.name not in may_repeat]
    marks = _marks([call for _, call in counted], at_least)
    cycles: list[tuple[int, int, int]] = []  # first, one behind the last, calls of a cycle
    for length in range(1, LONGEST + 1):
        for begin, end in _runs(marks, length):
            taken = any(begin < stop and start < end for start, stop, _ in cycles)
            if not taken and end - begin >= at_least * length:
                cycles.append((begin, end, length))
    return tuple(
        Loop(
            start=counted[begin][0],
            tools=tuple(call.name for _, call in counted[begin : begin + length]),
            times=(end - begin) // length,
        )
        for begin, end, length in sorted(cycles)
    )


def _marks(calls: Sequence[ToolCall], at_least: int) -> list[str]:
    """A mark of call and outcome for each call. A call too rare for a loop has no outcome in it."""
    marks = [call_mark(call) for call in calls]
    often = Counter(marks)
    return [
        f"{mark} {outcome_mark(call)}" if often[mark] >= at_least else mark
        for mark, call in zip(marks, calls, strict=True)
    ]


def _runs(marks: Sequence[str], length: int) -> list[tuple[int, int]]:
    """The longest stretches in which each mark is that `length` places before it."""
    runs, begin = [], 0
    for i in range(length, len(marks) + 1):
        if i == len(marks) or marks[i] != marks[i - length]:
            if i - begin > length:
                runs.append((begin, i))
            begin = i - length + 1
    return runs
