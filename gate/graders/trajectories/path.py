"""A trajectory shortened so that it can be stored and compared later: tools and short arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gate.graders.trajectories.identity import arguments_of, canonical_text, digest
from gate.records import Json, ToolCall, TrialRow
from gate.records.codec import from_json
from gate.text.shortening import shorten

TOOL, ARGUMENTS = 80, 80  # characters
_VALUES = (60, 40, 24, 12)  # characters of a value, where the arguments are longer than ARGUMENTS
KEPT = 30  # steps of a stored path
COMPARED = 200  # steps of a path that is compared
KEPT_OF_SUITE = 200_000  # steps of all stored paths of a suite, about 30 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One call. `digest`: of its complete arguments; empty means any arguments."""

    tool: str
    digest: str = ""
    arguments: str = ""  # hostile text: JSON with long values cut, or as they begin

    @property
    def text(self) -> str:
        return f"{self.tool}({self.arguments if self.digest else '...'})"

    def same_as(self, other: PathStep) -> bool:
        any_arguments = not self.digest or not other.digest
        return self.tool == other.tool and (any_arguments or self.digest == other.digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The first steps of a trajectory; `omitted`: the number of further steps."""

    steps: tuple[PathStep, ...]
    omitted: int = 0

    def cut(self, most: int) -> Path:
        more = max(0, len(self.steps) - most)
        return replace(self, steps=self.steps[:most], omitted=self.omitted + more)


PathsOf = Callable[[frozenset[str]], Mapping[str, Path]]  # of some cases, those that have one


def no_paths(case_ids: frozenset[str]) -> Mapping[str, Path]:
    """An empty mapping, for callers without paths."""
    return {}


def path_of(steps: Sequence[ToolCall], *, omitted: int = 0, most: int = COMPARED) -> Path:
    """The path of the steps. Secrets must have been masked before: shortened ones cannot be
    recognised.
    """
    kept = tuple(_step(call) for call in steps[:most])
    return Path(steps=kept, omitted=omitted + len(steps) - len(kept))


def path_of_row(row: TrialRow, most: int = COMPARED) -> Path | None:
    """The path of a row of details.jsonl; None if the agent did not report its steps."""
    steps = row.get("steps")
    if not isinstance(steps, list):
        return None
    calls = [from_json(ToolCall, step) for step in steps[:most]]
    more = row.get("omitted_steps", 0) + len(steps) - len(calls)
    return path_of(calls, omitted=more, most=most)


def choose_representatives(rows: Iterable[TrialRow], most: int = KEPT_OF_SUITE) -> dict[str, Path]:
    """Case -> the path of its first round that passed, else of its first round; sorted by case. A
    case whose round has no steps is left out, and so are cases after `most` steps in total.
    """
    chosen: dict[str, tuple[tuple[bool, int], Path | None]] = {}
    held = 0
    for row in rows:
        case, rank = row["case_id"], (row["passed"] is not True, row["round"])
        is_known = case in chosen
        if row["status"] != "completed" or (not is_known and held >= most):
            continue
        if not is_known or rank < chosen[case][0]:
            path = path_of_row(row, KEPT)
            held += len(path.steps) if path and not is_known else 0
            chosen[case] = (rank, path)
    return {case: path for case, (_, path) in sorted(chosen.items()) if path is not None}


def limit_paths(paths: Mapping[str, Path], most: int = KEPT_OF_SUITE) -> dict[str, Path]:
    """The paths of the first cases, by id, that a file has room for."""
    left, kept = most, {}
    for case, path in sorted(paths.items()):
        left -= len(path.steps)
        if left < 0:
            break
        kept[case] = path
    return kept


def _step(call: ToolCall) -> PathStep:
    given = arguments_of(call)
    return PathStep(
        tool=shorten(call.name, TOOL),
        digest=digest(given),
        arguments="" if given == "{}" else shorten(_shorten(call, given), ARGUMENTS),
    )


def _shorten(call: ToolCall, given: str) -> str:
    """The arguments with long values cut, so that the short ones behind them are still seen."""
    if len(given) <= ARGUMENTS or not isinstance(call.arguments, Mapping):
        return given
    for most in _VALUES:
        values = {name: _cut_value(value, most) for name, value in call.arguments.items()}
        shorter = canonical_text(values)
        if len(shorter) <= ARGUMENTS:
            return shorter
    return given


def _cut_value(value: Json, most: int) -> Json:
    text = value if isinstance(value, str) else canonical_text(value)
    return value if len(text) <= most else f"{text[: most - 1]}…"
