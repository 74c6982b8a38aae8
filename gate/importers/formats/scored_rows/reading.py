"""An export as one imported suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.files.tables import TableRow
from gate.importers.formats.scored_rows.checking import (
    CHOICE,
    ExportTotals,
    Rows,
    check_rows,
    is_root,
)
from gate.importers.formats.scored_rows.options import ReadingPlan
from gate.importers.formats.scored_rows.rows import trial_in
from gate.importers.trials.names import metric_name
from gate.records import MetricSpec, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """`rows` reads the files again, as often as asked."""

    files: tuple[Path, ...]
    rows: Rows = field(repr=False)
    notes: tuple[str, ...] = ()


def import_rows(export: Export, asked: ReadingPlan) -> Imported:
    """Raises InvalidInput with everything that is wrong."""
    found = check_rows(export.rows, asked, export.files[0].as_posix())
    names = _names(asked, found)
    judge = f"{asked.shape.tool} export"
    passed = f"{judge}: {asked.criterion}"
    suite = ImportedSuite(
        rounds=max(found.cases.values()),
        cases=len(found.cases),
        dataset=f"an export of {asked.shape.tool}",
        metrics=tuple(_spec(asked, found, name, names[name]) for name in names),
        graders={
            **dict.fromkeys(("success", "first_success"), passed),
            "score": judge,
            **dict.fromkeys(names.values(), judge),
        },
    )
    return Imported(
        files=export.files,
        created_at=found.first.isoformat() if found.first else None,
        provenance=Provenance(
            agent=", ".join(sorted(found.models)[:3]),
            tool_version=asked.shape.tool,
            event="import",
        ),
        suites={asked.suite: suite},
        trials=lambda: _trials(export, asked, found, names),
        notes=(*export.notes, *_notes(asked, found)),
    )


def _trials(
    export: Export, asked: ReadingPlan, found: ExportTotals, names: Mapping[str, str]
) -> Iterator[Trial]:
    seen: dict[str, int] = {}
    for row in export.rows():
        if isinstance(row, TableRow) and (is_root(asked, row.cells) or not found.has_roots):
            yield trial_in(row, asked, found, names, seen)


def _names(asked: ReadingPlan, found: ExportTotals) -> dict[str, str]:
    """Score -> metric; two that would be called alike are told apart by a number."""
    wanted: Sequence[str] = asked.scores or found.numeric
    names: dict[str, str] = {}
    for score in sorted(wanted):
        name = metric_name(asked.shape.tool, score)
        taken = sum(one == name or one.startswith(f"{name}__") for one in names.values())
        names[score] = f"{name}__{taken + 1}" if taken else name
    return names


def _spec(asked: ReadingPlan, found: ExportTotals, score: str, name: str) -> MetricSpec:
    share = found.scores[score].share
    return MetricSpec(
        name=name,
        column=name,
        family="mean",
        unit="share" if share else "",
        low=0.0 if share else None,
        high=1.0 if share else None,
        direction="lower" if score in asked.lower else "higher",
        on_agent_error=None,
        description=f"a score of the export of {asked.shape.tool}",
    )


def _notes(asked: ReadingPlan, found: ExportTotals) -> Iterator[str]:
    tool = asked.shape.tool
    if not asked.criterion:
        yield (
            f"nothing says which rows of the {tool} export passed, so there is no success rate: "
            f"{CHOICE}"
        )
    elif found.unsaid:
        told = f"{found.unsaid} of {found.trials} rows do not say whether they passed"
        yield f"{told} ({asked.criterion})"
    if found.has_roots and found.spans:
        yield (
            f"{found.spans} inner spans are no rows of their own; their tokens and cost count for "
            "their traces"
        )
    if found.rootless:
        yield (
            f"{found.rootless} traces are left out: only inner spans of theirs are in the export, "
            "so nothing says what came of them"
        )
    if found.errors:
        yield (
            f"rows that ended in an error of the agent count as 0 in scores from 0 to 1; {tool} "
            "leaves them out"
        )
    if not asked.round and any(n > 1 for n in found.cases.values()):
        yield "rows of one case are its rounds, in the order of the export"
    texts = sorted(name for name, one in found.scores.items() if one.texts and one.n)
    if texts and not asked.scores:
        shown = ", ".join(name[:40] for name in texts[:5])
        yield f"columns that are numbers in some rows and texts in others are no scores: {shown}"
