"""Sessions that an older version wrote: metrics under the names that they have now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from gate.analysis.metric_names import renamed_among, renamed_beside
from gate.records import Comparison, GateResult, Json, MetricFall, Report, TrialRow
from gate.records.codec import from_json, to_json

if TYPE_CHECKING:
    from gate.store.session import SuiteMeta

T = TypeVar("T")
R = TypeVar("R", Comparison, GateResult, MetricFall)
Names = Mapping[str, str]  # old -> new


def list_old_names(suites: Mapping[str, SuiteMeta]) -> dict[str, Names]:
    """Suite -> old name -> new name of what it measured, as meta.json has it."""
    return {name: renamed_among(one.specs) for name, one in suites.items()}


def rename_suite(suite: SuiteMeta) -> SuiteMeta:
    """What the suite measured, under the names of now. What rows tell of it, they tell in the words
    that they have.
    """
    return _rename(suite, renamed_among(suite.specs))


def rename_report(report: Report, suites: Mapping[str, SuiteMeta]) -> Report:
    """`suites`: with the names of now."""
    names = {
        name: {old: new for old, new in renamed_beside(one.specs).items() if old in told.metrics}
        for name, one in suites.items()
        if (told := report.suites.get(name))
    }
    every = {old: new for each in names.values() for old, new in each.items()}
    if not every:
        return report
    decided = {f"{s}/{old}": f"{s}/{new}" for s, each in names.items() for old, new in each.items()}
    return replace(
        report,
        suites={name: _rename(one, names.get(name, {})) for name, one in report.suites.items()},
        comparisons=_rename_of_suites(names, report.comparisons),
        gates=_rename_of_suites(names, report.gates),
        worse=_rename_of_suites(names, report.worse),
        accepted=tuple(_rename(one, every) for one in report.accepted),
        decision=_rename(report.decision, decided) if report.decision else None,
    )


def list_names_of_rows(suites: Mapping[str, SuiteMeta]) -> dict[str, Names]:
    """Suite -> names that rows beside these `suites`, which have those of now, may still have."""
    names = {name: renamed_beside(one.specs) for name, one in suites.items()}
    return {name: each for name, each in names.items() if each}


def rename_rows(rows: Iterator[TrialRow], names: Mapping[str, Names]) -> Iterator[TrialRow]:
    """Rows whose scores have the names of now. `names`: as `list_names_of_rows` has them."""
    if not names:
        return rows
    return (_rename_scores(row, names.get(row["suite"], {})) for row in rows)


def _rename_scores(row: TrialRow, names: Names) -> TrialRow:
    scores = row.get("scores")
    if isinstance(scores, dict) and not scores.keys().isdisjoint(names):
        row["scores"] = {names.get(name, name): value for name, value in scores.items()}
    return row


def _rename_of_suites(names: Mapping[str, Names], rows: tuple[R, ...]) -> tuple[R, ...]:
    return tuple(_rename(row, names.get(row.suite, {})) for row in rows)


def _rename(record: T, names: Names) -> T:
    """The record with every key and text that is an old name replaced."""
    return from_json(type(record), _rename_json(to_json(record), names)) if names else record


def _rename_json(value: Json, names: Names) -> Json:
    if isinstance(value, dict):
        return {names.get(key, key): _rename_json(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_rename_json(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value
