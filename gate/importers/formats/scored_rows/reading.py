"""An export as one imported suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gate.files.json_values import as_amount
from gate.files.tables import TableRow
from gate.importers.formats.scored_rows.checking import (
    CHOICE,
    ExportTotals,
    Rows,
    case_id_of,
    check_rows,
    error_of,
    is_root,
    round_in,
    scores_of,
)
from gate.importers.formats.scored_rows.options import ReadingPlan
from gate.importers.formats.scored_rows.shape import (
    Role,
    RowShape,
    decode_cell,
    read_moment,
    read_number,
    short,
    text,
)
from gate.importers.trials.build import case_of, provenance_of, trial_of, usage_of
from gate.importers.trials.names import metric_name
from gate.importers.trials.nobodys_fault import status_of
from gate.records import Case, Json, MetricSpec, Response, Trial, TrialStatus, Usage
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
        provenance=provenance_of(asked.shape.tool, ", ".join(sorted(found.models)[:3])),
        suites={asked.suite: suite},
        trials=lambda: _trials(export, asked, found, names),
        notes=(*export.notes, *_notes(asked, found)),
    )


def _trials(
    export: Export, asked: ReadingPlan, found: ExportTotals, names: Mapping[str, str]
) -> Iterator[Trial]:
    seen: dict[str, int] = {}
    for row in export.rows():
        if isinstance(row, TableRow) and (is_root(asked, row.cells) or not found.roots):
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
            f"it is not known which rows of the {tool} export passed, so there is no "
            f"success rate; {CHOICE}"
        )
    elif found.unsaid:
        told = f"{found.unsaid} of {found.trials} rows do not say whether they passed"
        yield f"{told} ({asked.criterion})"
    if found.roots and found.spans:
        yield (
            f"{found.spans} inner spans are not rows of their own; their tokens and cost "
            "count for their traces"
        )
    if found.rootless:
        yield (
            f"{found.rootless} traces are left out: the export has only their inner "
            "spans, so their results are unknown"
        )
    if found.errors:
        yield (
            f"rows in which the agent failed count as 0 in scores from 0 to 1; {tool} "
            "leaves them out"
        )
    if not asked.round and any(n > 1 for n in found.cases.values()):
        yield "several rows of one case are its rounds, in the order of the export"
    texts = sorted(name for name, one in found.scores.items() if one.texts and one.n)
    if texts and not asked.scores:
        shown = ", ".join(name[:40] for name in texts[:5])
        yield f"columns that are numbers in some rows and texts in others are not scores: {shown}"


# --------------------------------------------------------------------------------------------- rows


_ERROR = 4_000  # characters of a message
_SAID = ("content", "output", "answer", "text", "response", "message")  # of an answer that is JSON


def trial_in(
    row: TableRow,
    asked: ReadingPlan,
    found: ExportTotals,
    names: Mapping[str, str],
    seen: dict[str, int],
) -> Trial:
    """`names`: score -> metric. `seen`: case -> its rounds so far, which grow."""
    cells, shape = row.cells, asked.shape
    case_id = case_id_of(asked, cells)
    nth = round_in(asked, cells) if asked.round else seen.get(case_id, 0) + 1
    seen[case_id] = nth or 1
    error = error_of(asked, cells)[:_ERROR]
    status = status_of(error or None)
    scores = {name: read_number(value) for name, value in scores_of(asked, cells)}
    known = {name: value for name, value in scores.items() if value is not None}
    values = {names[name]: value for name, value in known.items() if name in names}
    if status == "agent_error":
        values = {names[name]: 0.0 for name in _worst_at_0(asked, found, names)} | values
    began = read_moment(shape.at("started_at", cells))
    passed = asked.criterion.met(cells, known)
    return trial_of(
        shape.tool,
        asked.suite,
        _case(row, asked, case_id),
        round=nth or 1,
        status=status,
        passed=passed,
        failures=_failures(asked, status, passed),
        values=values,
        response=_response(cells, asked, found) if status == "completed" else None,
        latency_ms=_latency(shape, cells),
        error=error or None,
        started_at=f"{began:%Y-%m-%dT%H:%M:%S}.{began.microsecond // 1000:03}Z" if began else "",
    )


def _case(row: TableRow, asked: ReadingPlan, case_id: str) -> Case:
    cells, shape = row.cells, asked.shape
    expected = decode_cell(shape.at("expected", cells))
    return case_of(
        shape.tool,
        asked.suite,
        case_id,
        input=decode_cell(shape.at("input", cells)) or "",
        keys={} if expected is None else {"expected_answer": expected},
        category=short(shape.at("category", cells)) or None,
        tags=_tags(decode_cell(shape.at("tags", cells))),
        place=row.place,
    )


def _worst_at_0(asked: ReadingPlan, found: ExportTotals, names: Mapping[str, str]) -> Iterator[str]:
    """Scores of which an answer that never came has the worst value."""
    return (name for name in names if found.scores[name].share and name not in asked.lower)


def _failures(asked: ReadingPlan, status: TrialStatus, passed: bool | None) -> tuple[str, ...]:
    if status != "completed":
        return ("agent_error",) if status == "agent_error" else ()
    if passed is not False:
        return ()
    return (
        f"score_missed:{short(asked.criterion.score)}" if asked.criterion.score else "not_passed",
    )


def _tags(found: Json) -> tuple[str, ...]:
    listed = found if isinstance(found, list) else [found] if isinstance(found, str) else []
    return tuple(short(one) for one in listed[:50])


def _response(cells: Mapping[str, Json], asked: ReadingPlan, found: ExportTotals) -> Response:
    shape = asked.shape
    return Response(
        answer=_answer(decode_cell(shape.at("output", cells))),
        usage=_usage(cells, shape, found),
        model=short(shape.at("model", cells)) or None,
    )


def _answer(value: Json) -> str:
    """What was said, where the output is an object that plainly holds it."""
    for _ in range(3):
        inner = value[-1] if isinstance(value, list) and len(value) == 1 else value
        said = [inner[key] for key in _SAID if key in inner] if isinstance(inner, dict) else []
        if not said:
            break
        value = said[0]
    return text(value)


def _usage(cells: Mapping[str, Json], shape: RowShape, found: ExportTotals) -> Usage:
    """What the row itself says, or else its inner spans."""
    sums = found.inner.get(text(shape.at("trace", cells)), {})

    def told(role: Role) -> float | None:
        return shape.number(role, cells) or sums.get(role)

    return usage_of(
        input=told("input_tokens"),
        output=told("output_tokens"),
        cached=told("cached_tokens"),
        total=told("total_tokens"),
        cost_usd=told("cost_usd"),
    )


def _latency(shape: RowShape, cells: Mapping[str, Json]) -> float | None:
    """Milliseconds: as told, else from seconds, else from when it began and ended."""
    told = shape.number("latency_ms", cells)
    if told is None and (seconds := shape.number("latency_s", cells)) is not None:
        told = seconds * 1000
    if told is None:
        began, ended = (
            read_moment(shape.at("started_at", cells)),
            read_moment(shape.at("ended_at", cells)),
        )
        told = (ended - began).total_seconds() * 1000 if began and ended else None
    return as_amount(told)
