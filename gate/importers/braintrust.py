"""`braintrust`: an experiment of Braintrust, exported as CSV or JSON, or fetched from its API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.files.sniff import FirstLook
from gate.files.tables import columns_of, table_rows
from gate.importers.formats.scored_rows.reading import import_rows
from gate.importers.formats.scored_rows.shape import RowOptions, RowShape
from gate.plugins import IMPORTERS
from gate.records.imported import Imported

# An event of an experiment, as https://www.braintrust.dev/docs/reference/api describes it. The
# `start` and `end` are seconds since 1970.
SHAPE = RowShape(
    tool="braintrust",
    columns={
        "id": ("dataset_record_id", "origin.id"),
        "input": ("input",),
        "output": ("output",),
        "expected": ("expected",),
        "category": ("metadata.category",),
        "tags": ("tags",),
        "model": ("metadata.model",),
        "error": ("error",),
        "started_at": ("metrics.start", "created"),
        "ended_at": ("metrics.end",),
        "latency_s": ("metrics.duration", "duration"),
        "input_tokens": ("metrics.prompt_tokens", "prompt_tokens"),
        "output_tokens": ("metrics.completion_tokens", "completion_tokens"),
        "cached_tokens": ("metrics.prompt_cached_tokens",),
        "total_tokens": ("metrics.tokens", "metrics.total_tokens", "tokens", "total_tokens"),
        "cost_usd": ("metrics.estimated_cost", "estimated_cost"),
        "trace": ("root_span_id",),
        "parent": ("span_parents",),
    },
    scores="scores",
)
_SIGNS = ({"root_span_id", "span_attributes"}, {"scores", "experiment_id"}, {"scores", "_xact_id"})


@IMPORTERS.register("braintrust")
@dataclass(frozen=True, slots=True, kw_only=True)
class Braintrust(RowOptions):
    """A row an event of the experiment that is part of no other."""

    reads: ClassVar[str] = "an experiment's export, CSV or JSON"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        names = {name.partition(".")[0] for name in columns_of(found.head)}
        return any(found.has(*some) or some <= names for some in _SIGNS)

    def read(self, path: Path) -> Imported:
        return import_rows((path,), lambda: table_rows(path), self.make_plan(SHAPE))
