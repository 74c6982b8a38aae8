"""How the columns of such an export are called, and what the user says of them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from gate.agents.traces.values import as_text
from gate.errors import UsageError
from gate.files.json_stream import decode_json
from gate.files.timestamps import after, moment_of
from gate.importers.trials.build import ToolSuite
from gate.importers.trials.names import suite_name
from gate.records import LARGEST, Json
from gate.text.shortening import tidy
from gate.text.suggestions import did_you_mean

Role = Literal[
    "id",
    "input",
    "output",
    "expected",
    "category",
    "tags",
    "model",
    "error",
    "level",
    "started_at",
    "ended_at",
    "latency_s",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "total_tokens",
    "cost_usd",
    "trace",
    "parent",
]
ROLES: tuple[str, ...] = get_args(Role)
_YES, _NO = {"true", "yes", "pass", "passed", "1"}, {"false", "no", "fail", "failed", "0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowShape:
    """How one tool's exports look. `columns`: role -> where it may stand, a column or a dotted path
    into one that holds JSON; the first with a value counts. `scores`: the column that holds all of
    them; else each column that is not `own` and holds nothing but numbers is one.
    """

    tool: str
    columns: Mapping[str, tuple[str, ...]]
    scores: str = ""
    own: frozenset[str] = field(default_factory=frozenset)

    def at(self, role: Role, cells: Mapping[str, Json]) -> Json:
        for path in self.columns.get(role, ()):
            value = value_at(cells, path)
            if value not in (None, ""):
                return value
        return None

    def number(self, role: Role, cells: Mapping[str, Json]) -> float | None:
        return read_number(self.at(role, cells))


def value_at(cells: Mapping[str, Json], path: str) -> Json:
    """A column of that name, or what lies below it; None where there is none."""
    if path in cells:
        return cells[path]
    head, dot, rest = path.partition(".")
    inner = decode_cell(cells.get(head)) if dot else None
    return value_at(inner, rest) if isinstance(inner, dict) else None


def decode_cell(value: Json) -> Json:
    """JSON in a text as what it says; a text that is none as it stands."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return decode_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def read_number(value: Json) -> float | None:
    """A number, also of a text or a truth value, or the mean of a list; else None."""
    value = decode_cell(value)
    if isinstance(value, list):
        numbers = [read_number(one) for one in value if not isinstance(one, list)]
        known = [number for number in numbers if number is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(value) else None
    if isinstance(value, str):
        word = value.strip().lower()
        try:
            value = word == "true" if word in ("true", "false") else float(word)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and -LARGEST <= value <= LARGEST:
        return float(value)
    return None


def read_flag(value: Json) -> bool | None:
    """Pass or fail, however it is written; None for what is neither."""
    if isinstance(value, (bool, int, float)) and value in (0, 1):
        return bool(value)
    word = str(value).strip().lower() if isinstance(value, str) else ""
    return True if word in _YES else False if word in _NO else None


def read_moment(value: Json) -> datetime | None:
    """A time as ISO 8601 (without an offset: UTC) or as seconds since 1970."""
    seconds = None if isinstance(value, bool) else read_number(value)
    return moment_of(value) if seconds is None else after(seconds)


def short(value: Json) -> str:
    return tidy(as_text(value), 80)


_RULE = re.compile(r"\s*(.+?)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PassCriterion:
    """`column`: says it in words; else `score` compared with `limit`. Neither: nothing says it."""

    column: str = ""
    score: str = ""
    sign: str = ""
    limit: float = 0.0

    @classmethod
    def of(cls, passed: str, pass_score: str) -> PassCriterion:
        """Raises UsageError for both, and for a rule that is none."""
        if passed and pass_score:
            raise UsageError("--option passed and pass_score cannot be combined; use one")
        if not pass_score:
            return cls(column=passed)
        rule = _RULE.fullmatch(pass_score)
        try:
            limit = float(rule[3]) if rule else float("nan")
        except ValueError:
            limit = float("nan")
        if rule is None or limit != limit:
            raise UsageError(
                f"--option pass_score={pass_score[:80]}: must be NAME>=NUMBER, or with <=, > or "
                "<; write it in quotes, because a shell reads > and < itself: "
                "--option 'pass_score=NAME>=NUMBER'"
            )
        return cls(score=rule[1], sign=rule[2], limit=limit)

    def __bool__(self) -> bool:
        return bool(self.column or self.score)

    def __str__(self) -> str:
        return f"{self.score} {self.sign} {self.limit:g}" if self.score else self.column

    def met(self, cells: Mapping[str, Json], scores: Mapping[str, float]) -> bool | None:
        """Whether a row passed; None where it does not say."""
        if self.score:
            value = scores.get(self.score)
            return None if value is None else _SIGNS[self.sign](value, self.limit)
        return read_flag(value_at(cells, self.column)) if self.column else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPlan:
    """`shape`: with the user's columns in place. `wanted`: columns that must be there."""

    target: ToolSuite
    shape: RowShape
    criterion: PassCriterion
    round: str = ""  # column with the number of the round
    scores: tuple[str, ...] = ()  # these alone
    lower: frozenset[str] = field(default_factory=frozenset)  # of which less is better
    wanted: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """`columns`: what is read -> the column it stands in, or a dotted path below one; an empty path
    reads nothing. `passed`: the column that says whether a row passed; or `pass_score`:
    NAME>=NUMBER of a score. `round`: the column with the number of the round. `scores`: names of
    those to read. `lower`: of which less is better. `suite`: its name.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    passed: str = ""
    pass_score: str = ""
    round: str = ""
    scores: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    suite: str = ""

    def make_plan(self, shape: RowShape) -> ReadingPlan:
        """Raises UsageError for options that make no sense."""
        for role in self.columns:
            if role not in ROLES:
                hint = did_you_mean(role, ROLES) or f" - known: {', '.join(ROLES)}"
                raise UsageError(f"--option columns: unknown key '{role[:80]}'{hint}")
        if self.suite and suite_name(self.suite) != self.suite:
            raise UsageError(
                f"--option suite={self.suite[:80]}: a suite name may only have letters, digits, "
                f"`.`, `_` and `-`; use suite={suite_name(self.suite)}"
            )
        own = {role: (path,) if path else () for role, path in self.columns.items()}
        criterion = PassCriterion.of(self.passed, self.pass_score)
        named = frozenset({*self.columns.values(), self.round, criterion.column} - {""})
        deciding = (criterion.score,) if criterion.score and self.scores else ()
        return ReadingPlan(
            target=ToolSuite(shape.tool, self.suite or shape.tool),
            shape=replace(
                shape,
                columns={**shape.columns, **own},
                own=shape.own | named | {path.partition(".")[0] for path in named},
            ),
            criterion=criterion,
            round=self.round,
            scores=tuple(dict.fromkeys((*self.scores, *deciding))),
            lower=frozenset(self.lower),
            wanted=named,
        )
