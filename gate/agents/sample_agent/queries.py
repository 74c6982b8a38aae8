"""From a measure and a question to SQL text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gate.agents.sample_agent.measures import MeasureDefinition
from gate.agents.sample_agent.periods import Period, quarter_of
from gate.agents.sample_agent.question import ParsedQuestion
from gate.records import CheckedJson, Json

_QUARTER = "substr({0}, 1, 4) || ' Q' || ((cast(substr({0}, 6, 2) AS integer) + 2) / 3)"
_TIMES = {"month": "substr({0}, 1, 7)", "quarter": _QUARTER, "year": "substr({0}, 1, 4)"}
_BOUND = re.compile(r":(\w+)")


class CannotAnswer(Exception):
    """The database has no way to answer this; the message says why, as a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The rows a figure is taken over."""

    period: Period | None = None
    filters: tuple[tuple[str, str], ...] = ()

    def label(self) -> str:
        """ "for EMEA in Q2 2026", "overall" when nothing is chosen."""
        values = " and ".join(value for _, value in self.filters)
        parts = [f"for {values}"] * bool(values)
        if self.period:
            parts.append(f"in {self.period.label}")
        return " ".join(parts) or "overall"


def scopes_of(question: ParsedQuestion) -> tuple[Scope, ...]:
    """One scope for each figure that the question needs: two for a change, a share, two periods."""
    periods: Sequence[Period | None] = question.periods or (None,)
    whole_period = Scope(period=periods[0], filters=question.filters)
    if question.operation == "share":
        return whole_period, replace(whole_period, filters=question.filters[:-1])
    if question.operation in ("change", "compare") and len(periods) == 2:
        return tuple(replace(whole_period, period=period) for period in periods)
    return (whole_period,)


def select(
    measure: MeasureDefinition,
    scope: Scope,
    question: ParsedQuestion,
    *,
    shape: Mapping[str, Json] | None,
    limits: Mapping[str, float],
    today: str,
) -> str:
    """A statement with the columns label (when grouped), unit, value and matching (rows behind it).

    `shape` is what describe_table said about the measure's table; None when nobody could say:
    other tables are then out of reach. Raises CannotAnswer when a column or the period is out of
    reach.
    """
    _check_period(measure, scope, today)
    label = _label(measure, question, shape)
    conditions = [*_conditions(measure, scope, limits, today), *_filters(scope, shape, measure)]
    parts = ["SELECT " + (f"{label} AS label, " if label else "")]
    value = _bind(measure.expression, scope, limits, today)
    parts[0] += f"{_literal(measure.unit)} AS unit, round({value}, 2) AS value, "
    parts[0] += "count(*) AS matching"
    if conditions:
        parts.append("WHERE " + " AND ".join(conditions))
    parts.insert(1, f"FROM {measure.table}" + _joins(shape, " ".join(parts)))
    if label:
        parts.append("GROUP BY label")
        parts.append(_order(question))
    return " ".join(parts)


def _check_period(measure: MeasureDefinition, scope: Scope, today: str) -> None:
    """A measure without a date knows the state of things on a day, if it asks for one."""
    if measure.date_column or scope.period is None:
        return
    if not _BOUND.search(f"{measure.expression} {measure.condition}"):
        raise CannotAnswer(f"{measure.name} has no date by which a period could be chosen.")
    if scope.period.start > today:
        raise CannotAnswer(f"I do not know {measure.name} {scope.label()}: the data end before.")


def _label(
    measure: MeasureDefinition, question: ParsedQuestion, shape: Mapping[str, Json] | None
) -> str | None:
    column = question.dimension
    if question.operation == "compare" and len(question.periods) < 2:
        columns = [name for name, _ in question.filters]
        column = next(name for name in columns if columns.count(name) > 1)
    if column is None:
        return None
    if column in _TIMES:
        if measure.date_column is None:
            raise CannotAnswer(f"{measure.name} has no date by which it could be split.")
        return _TIMES[column].format(measure.date_column)
    return _reachable(column, shape, measure)


def _conditions(
    measure: MeasureDefinition, scope: Scope, limits: Mapping[str, float], today: str
) -> list[str]:
    conditions = []
    if measure.condition:
        conditions.append(f"({_bind(measure.condition, scope, limits, today)})")
    if measure.date_column and scope.period:
        start, end = _literal(scope.period.start), _literal(scope.period.end)
        conditions.append(f"{measure.date_column} BETWEEN {start} AND {end}")
    return conditions


def _bind(text: str, scope: Scope, limits: Mapping[str, float], today: str) -> str:
    """`:as_of` is the last day of the period that the data cover, today without a period."""
    period = scope.period or quarter_of(today)
    as_of = min(scope.period.end, today) if scope.period else today
    values: dict[str, object] = {"as_of": as_of, "start": period.start, "end": period.end, **limits}
    return _BOUND.sub(lambda m: _literal(values[m[1]]) if m[1] in values else m[0], text)


def _filters(
    scope: Scope, shape: Mapping[str, Json] | None, measure: MeasureDefinition
) -> list[str]:
    chosen: dict[str, list[str]] = {}
    for column, value in scope.filters:
        chosen.setdefault(_reachable(column, shape, measure), []).append(_literal(value))
    return [f"{column} IN ({', '.join(values)})" for column, values in chosen.items()]


def _reachable(
    column: str, shape: Mapping[str, CheckedJson] | None, measure: MeasureDefinition
) -> str:
    columns = set(shape["columns"]) if shape else set()
    for target in shape["references"].values() if shape else ():
        columns.update(target["columns"])
    if column not in columns:
        raise CannotAnswer(
            f"The table {measure.table} cannot be split by {column.replace('_', ' ')}."
        )
    return column


def _joins(shape: Mapping[str, CheckedJson] | None, text: str) -> str:
    """Joins with those tables whose columns stand in the text."""
    links = shape["references"].items() if shape else ()
    used = set(re.findall(r"\w+", text)) - set(shape["columns"] if shape else ())
    return "".join(
        f" JOIN {target['table']} USING ({column})"
        for column, target in links
        if used.intersection(target["columns"])
    )


def _order(question: ParsedQuestion) -> str:
    if question.operation == "rank":
        direction = "ASC" if question.lowest else "DESC"
        return f"ORDER BY value {direction}, label LIMIT {question.limit}"
    return "ORDER BY label" if question.dimension in _TIMES else "ORDER BY value DESC, label"


def _literal(value: object) -> str:
    return repr(value) if isinstance(value, float) else "'" + str(value).replace("'", "''") + "'"
