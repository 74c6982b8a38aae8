"""Which rows passed, as the user says: a column, or a score with a threshold."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.errors import UsageError
from gate.importers.formats.scored_rows.shape import flag, value_at
from gate.records import Json

_RULE = re.compile(r"\s*(.+?)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*")
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """`column`: says it in words; else `score` compared with `limit`. Neither: nothing says it."""

    column: str = ""
    score: str = ""
    sign: str = ""
    limit: float = 0.0

    @classmethod
    def of(cls, passed: str, pass_score: str) -> Criterion:
        """Raises UsageError for both, and for a rule that is none."""
        if passed and pass_score:
            raise UsageError("--option passed and pass_score exclude each other; leave one out")
        if not pass_score:
            return cls(column=passed)
        rule = _RULE.fullmatch(pass_score)
        try:
            limit = float(rule[3]) if rule else float("nan")
        except ValueError:
            limit = float("nan")
        if rule is None or limit != limit:
            raise UsageError(
                f"--option pass_score={pass_score[:80]}: write NAME>=NUMBER, or with <=, > or <"
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
        return flag(value_at(cells, self.column)) if self.column else None
