"""`langfuse`: traces, observations and scores of Langfuse, exported as CSV, JSON or JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from gate.agents.traces.values import as_text
from gate.errors import Problem
from gate.files.plain import source_files
from gate.files.sniff import FirstLook
from gate.files.tables import TableRow, columns_of, table_rows
from gate.importers.formats.scored_rows.reading import import_rows
from gate.importers.formats.scored_rows.shape import RowOptions, RowShape, read_number
from gate.importers.trials.names import snake_case
from gate.plugins import IMPORTERS
from gate.records import Json
from gate.records.imported import Imported

# Fields of langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields, and of the
# exports of its tables, which are written in camel case.
_FIELDS = (
    "id timestamp name userId sessionId release version environment tags bookmarked public input "
    "output metadata latency usage inputCost outputCost totalCost level errorCount warningCount "
    "defaultCount debugCount observationCount inputTokens outputTokens totalTokens comments "
    "projectId createdAt updatedAt traceId type startTime endTime parentObservationId "
    "statusMessage model internalModelId modelParameters completionStartTime promptId promptName "
    "promptVersion timeToFirstToken usageDetails costDetails providedCostDetails "
    "providedUsageDetails inputUsage outputUsage totalUsage traceName traceTags traceTimestamp "
    "inputPrice outputPrice totalPrice modelId unit toolDefinitions toolCalls toolCallNames "
    "usagePricingTierId usagePricingTierName providedModelName promptTokens completionTokens "
    "datasetItemId datasetRunId datasetName expectedOutput htmlPath externalId"
)
SHAPE = RowShape(
    tool="langfuse",
    columns={
        "id": ("datasetItemId", "dataset_item_id"),
        "input": ("input",),
        "output": ("output",),
        "expected": ("expectedOutput", "expected_output"),
        "category": ("traceName", "trace_name", "name"),
        "tags": ("tags", "traceTags", "trace_tags"),
        "model": ("model", "provided_model_name", "providedModelName"),
        "error": ("statusMessage", "status_message"),
        "level": ("level",),
        "started_at": ("timestamp", "startTime", "start_time"),
        "ended_at": ("endTime", "end_time"),
        "latency_s": ("latency",),
        "input_tokens": (
            *("inputTokens", "usageDetails.input", "usage_details.input", "usage.promptTokens"),
            *("inputUsage", "promptTokens"),
        ),
        "output_tokens": (
            *("outputTokens", "usageDetails.output", "usage_details.output"),
            *("usage.completionTokens", "outputUsage", "completionTokens"),
        ),
        "cached_tokens": (
            *("usageDetails.input_cached_tokens", "usage_details.input_cached_tokens"),
        ),
        "total_tokens": (
            *("totalTokens", "usageDetails.total", "usage_details.total", "usage.totalTokens"),
            *("totalUsage", "total_tokens"),
        ),
        "cost_usd": ("totalCost", "total_cost", "costDetails.total", "cost_details.total"),
        "trace": ("traceId", "trace_id"),
        "parent": ("parentObservationId", "parent_observation_id"),
    },
    own=frozenset((*_FIELDS.split(), *map(snake_case, _FIELDS.split()))),
)
_TABLES = (".csv", ".json", ".jsonl")
_NUMBERS = ("NUMERIC", "BOOLEAN")  # data types of scores


Rows = Iterator[TableRow | Problem]
_Tables = Mapping[str, tuple[Path, ...]]  # "traces", "observations", "scores" -> files


def sort_tables(files: tuple[Path, ...]) -> _Tables:
    tables: dict[str, tuple[Path, ...]] = {"traces": (), "observations": (), "scores": ()}
    for file in files:
        tables[_kind(file)] += (file,)
    return tables


def choose_rows(tables: _Tables) -> tuple[Callable[[_Tables], Rows], RowShape]:
    """What reads the rows, and how their columns are called."""
    if not tables["scores"]:
        return _spans, SHAPE
    joined = replace(SHAPE, scores="scores")
    if tables["traces"] or tables["observations"]:
        return _join_scores, joined
    alone = {**SHAPE.columns, "id": (*SHAPE.columns["id"], "traceId", "trace_id")}
    return _rows_of_scores, replace(joined, columns=alone)


def _kind(file: Path) -> str:
    """The kind of table, by the columns of its first row."""
    first = next(table_rows(file), None)
    names = frozenset(first.cells) if isinstance(first, TableRow) else frozenset()
    if "value" in names and names & {"data_type", "dataType"}:
        return "scores"
    spans = {"parent_observation_id", "parentObservationId", "start_time", "startTime"}
    return "observations" if names & spans else "traces"


def _spans(tables: _Tables) -> Rows:
    """Traces, else observations; beside traces observations are inner spans."""
    for file in tables["traces"]:
        for row in table_rows(file):
            if isinstance(row, TableRow) and "id" in row.cells:
                yield _add_cells(row, {"trace_id": row.cells["id"]})
            else:
                yield row
    inner = {"parent_observation_id": "its trace"} if tables["traces"] else {}
    for file in tables["observations"]:
        yield from (_add_cells(row, inner) for row in table_rows(file))


def _add_cells(row: TableRow | Problem, cells: Mapping[str, Json]) -> TableRow | Problem:
    return replace(row, cells={**row.cells, **cells}) if isinstance(row, TableRow) else row


def _join_scores(tables: _Tables) -> Rows:
    """Rows with the mean of each score of their trace."""
    scores, problems = _group_by_trace(tables["scores"])
    yield from problems
    for row in _spans(tables):
        trace = as_text(SHAPE.at("trace", row.cells)) if isinstance(row, TableRow) else ""
        yield _add_cells(row, {"scores": scores.get(trace, {})})


def _rows_of_scores(tables: _Tables) -> Rows:
    """A row a trace that has scores, in the order in which they are met."""
    scores, problems = _group_by_trace(tables["scores"])
    yield from problems
    seen: set[str] = set()
    for file in tables["scores"]:
        for row in table_rows(file):
            trace = as_text(SHAPE.at("trace", row.cells)) if isinstance(row, TableRow) else ""
            if isinstance(row, TableRow) and trace in scores and trace not in seen:
                seen.add(trace)
                name = row.cells.get("traceName")
                kept = {"traceId": trace, "traceName": name, "scores": scores[trace]}
                yield replace(row, cells=kept)


def _group_by_trace(files: Sequence[Path]) -> tuple[dict[str, dict[str, Json]], list[Problem]]:
    """Trace -> score -> the mean of its numbers. Categories and texts are none."""
    by_trace: dict[str, dict[str, list[float]]] = {}
    problems: list[Problem] = []
    for file in files:
        for row in table_rows(file):
            if isinstance(row, Problem):
                problems.append(row)
                continue
            kind = row.cells.get("data_type") or row.cells.get("dataType")
            value = read_number(row.cells.get("value")) if kind in _NUMBERS else None
            trace, name = as_text(SHAPE.at("trace", row.cells)), as_text(row.cells.get("name"))
            if not name or not isinstance(kind, str) or (kind in _NUMBERS and value is None):
                message = "a score has no name, no data type, or no number where its type needs one"
                problems.append(Problem(row.place, f"{message} - export it again"))
            elif value is not None and trace:
                by_trace.setdefault(trace, {}).setdefault(name, []).append(value)
    means: dict[str, dict[str, Json]] = {
        trace: {name: sum(values) / len(values) for name, values in scores.items()}
        for trace, scores in by_trace.items()
    }
    return means, problems


_SIGNS = (
    {"bookmarked", "public", "sessionId"},
    {"bookmarked", "public", "session_id"},
    {"traceId", "parentObservationId"},
    {"trace_id", "parent_observation_id"},
    {"traceId", "dataType", "stringValue"},
    {"trace_id", "data_type", "string_value"},
)
_FOLDERS = ("observations_v2/", "observations/", "traces/")  # of an export to a bucket


@IMPORTERS.register("langfuse")
@dataclass(frozen=True, slots=True, kw_only=True)
class Langfuse(RowOptions):
    """A row a trace, or an observation that is part of no other."""

    reads: ClassVar[str] = "an export of traces, observations or scores, or a folder of them"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            some = [name for name in found.names if name.startswith(_FOLDERS)]
            return bool(some) and any(name.startswith("scores/") for name in found.names)
        names = {*columns_of(found.head)}
        return any(found.has(*some) or some <= names for some in _SIGNS)

    def read(self, path: Path) -> Imported:
        files = source_files(path, _TABLES)
        tables = sort_tables(files)
        rows, shape = choose_rows(tables)
        return import_rows(files, lambda: rows(tables), self.make_plan(shape))
