"""Aligns two paths: steps that stayed, were added, removed, or called with other arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from gate.graders.trajectories.identity import canonical_text
from gate.graders.trajectories.path import COMPARED, Path, PathStep
from gate.records import ArgumentChange, Json, StepChange
from gate.records.codec import parse_json
from gate.text.shortening import shorten

LINES = 60  # of one comparison
VALUE = 80  # characters of an argument's name or value
Kind = Literal["same", "added", "removed", "changed"]


def align_paths(was: Path, now: Path) -> tuple[StepChange, ...]:
    """The fewest changes from one path to the other (Needleman and Wunsch 1970; each added, removed
    or changed step is one). Paths have up to 200 steps; of more than 60 lines the last one counts
    the rest.
    """
    # Of paths that were cut at different places the rest says nothing.
    most = min([COMPARED, *(len(path.steps) for path in (was, now) if path.omitted)])
    was, now = was.cut(most), now.cut(most)
    lines = _lines(was.steps, now.steps)
    left = (was.omitted, now.omitted)
    if len(lines) > LINES:
        lines_told, rest = lines[: LINES - 1], lines[LINES - 1 :]
        left = (left[0] + sum(bool(x.was) for x in rest), left[1] + sum(bool(x.now) for x in rest))
        lines = lines_told
    return tuple(lines + _rest(*left))


def _rest(was: int, now: int) -> list[StepChange]:
    if not was and not now:
        return []
    kind: Kind = "changed" if was and now else "added" if now else "removed"
    return [StepChange(kind=kind, was=_more(was), now=_more(now))]


def _more(count: int) -> str:
    return f"{count:,} more steps" if count > 1 else "1 more step" if count else ""


def _lines(was: Sequence[PathStep], now: Sequence[PathStep]) -> list[StepChange]:
    """Walks the table of costs from the start, so that equal steps pair as early as they can."""
    costs, changes = _costs(was, now), []
    i = j = 0
    while i < len(was) or j < len(now):
        here = costs[i][j]
        if i < len(was) and j < len(now) and here == costs[i + 1][j + 1] + _cost(was[i], now[j]):
            kind: Kind = "same" if was[i].same_as(now[j]) else "changed"
            arguments = _compare_arguments(was[i], now[j]) if kind == "changed" else ()
            changes.append(
                StepChange(kind=kind, was=was[i].text, now=now[j].text, arguments=arguments)
            )
            i, j = i + 1, j + 1
        elif i < len(was) and here == costs[i + 1][j] + 1:
            changes.append(StepChange(kind="removed", was=was[i].text))
            i += 1
        else:
            changes.append(StepChange(kind="added", now=now[j].text))
            j += 1
    return changes


def _compare_arguments(was: PathStep, now: PathStep) -> tuple[ArgumentChange, ...]:
    """The arguments that differ, by name; none where one of the texts was cut inside its JSON."""
    before, after = _read_arguments(was), _read_arguments(now)
    if before is None or after is None:
        return ()
    names = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
    return tuple(
        ArgumentChange(name=shorten(n, VALUE), was=before.get(n, ""), now=after.get(n, ""))
        for n in names
    )


def _read_arguments(step: PathStep) -> dict[str, str] | None:
    """Name -> value as JSON."""
    try:
        given: Json = parse_json(step.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict):
        return None
    return {name: shorten(canonical_text(value), VALUE) for name, value in given.items()}


def _costs(was: Sequence[PathStep], now: Sequence[PathStep]) -> list[list[int]]:
    """[i][j]: fewest changes from was[i:] to now[j:]."""
    costs = [[len(now) - j for j in range(len(now) + 1)]]
    for i in range(len(was) - 1, -1, -1):
        below, row = costs[-1], [len(was) - i] * (len(now) + 1)
        for j in range(len(now) - 1, -1, -1):
            both = below[j + 1] + _cost(was[i], now[j])
            row[j] = min(both, below[j] + 1, row[j + 1] + 1)
        costs.append(row)
    return costs[::-1]


def _cost(first: PathStep, second: PathStep) -> int:
    """Another tool is no change of a step but another step: dearer than to go and to come."""
    if first.tool != second.tool:
        return 3
    return 0 if first.same_as(second) else 1
