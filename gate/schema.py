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


def surely_fits(schema: dict[str, Json], data: Json) -> bool:
    """A quick yes, however large the data are, or no answer."""
    return "$schema" not in schema and not _has_reference(schema) and compiled(schema)(data)


def mismatches_bounded(schema: dict[str, Json], data: Json) -> list[Mismatch]:
    """`mismatches`, for schemas and data that nobody vouches for: the first 100, unsorted. Raises
    RecursionError where it leads too deep, or through too many references.
    """
    errors = importlib.import_module("gate.schema_errors")
    return cast("list[Mismatch]", errors.explain_bounded(schema, data))


def unsound(schema: dict[str, Json]) -> list[Mismatch]:
    """What is wrong with a schema itself; nothing is fetched."""
    errors = importlib.import_module("gate.schema_errors")
    return cast("list[Mismatch]", errors.unsound(schema))


def _has_reference(schema: Json) -> bool:
    if isinstance(schema, dict):
        return "$ref" in schema or any(map(_has_reference, schema.values()))
    return isinstance(schema, list) and any(map(_has_reference, schema))
