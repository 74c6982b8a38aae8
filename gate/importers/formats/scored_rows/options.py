"""What the user says of such an export: names of columns, which rows passed, which are scores."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gate.errors import UsageError
from gate.importers.formats.scored_rows.shape import ROLES, RowShape, read_flag, value_at
from gate.importers.trials.names import suite_name
from gate.records import Json
from gate.text.suggestions import did_you_mean

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
                f"--option pass_score={pass_score[:80]}: must be NAME>=NUMBER, or with <=, > or <"
            )
        return cls(score=rule[1], sign=rule[2], limit=limit)

    def __bool__(self) -> bool:
        return bool(self.column or self.score)

    def __str__(self) -> str:
        return f"{self.score} {self.sign} {self.limit:g}" if self.score else self.column

    def met(self, cells: Mapping[str, Json], scores: Mapping[str, float]) -> bool | None:
        """None where the row does not say."""
        if self.score:
            value = scores.get(self.score)
            return None if value is None else _SIGNS[self.sign](value, self.limit)
        return read_flag(value_at(cells, self.column)) if self.column else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingPlan:
    """`shape`: with the user's columns in place. `wanted`: columns that must be there."""

    suite: str
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
            raise UsageError(f"--option suite={self.suite[:80]}: not a valid name for a folder")
        own = {role: (path,) if path else () for role, path in self.columns.items()}
        criterion = PassCriterion.of(self.passed, self.pass_score)
        named = frozenset({*self.columns.values(), self.round, criterion.column} - {""})
        deciding = (criterion.score,) if criterion.score and self.scores else ()
        return ReadingPlan(
            suite=self.suite or shape.tool,
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
