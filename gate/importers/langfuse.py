"""`langfuse`: traces, observations and scores of Langfuse, exported as CSV, JSON or JSON Lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.files.sniff import FirstLook
from gate.files.tables import columns_of
from gate.importers.formats.langfuse import export_of
from gate.importers.formats.scored_rows.options import RowOptions
from gate.importers.formats.scored_rows.reading import import_rows
from gate.plugins import IMPORTERS
from gate.records.imported import Imported

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
        export, shape = export_of(path)
        return import_rows(export, self.make_plan(shape))
