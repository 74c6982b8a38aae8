"""Data against a JSON Schema: every error at once, each with its path."""

from __future__ import annotations

import importlib
from typing import cast

from gate.fits import compiled
from gate.mismatch import Mismatch
from gate.records import Json


def mismatches(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """Everything in `data` that does not fit; empty when it fits. Raises what jsonschema raises for
    a schema that is none.

    jsonschema is imported only for data that do not surely fit: most runs never need it.
    """
    if compiled(schema)(data):
        return []
    errors = importlib.import_module("gate.schema_errors")
    return cast("list[Mismatch]", errors.explain(schema, data))
