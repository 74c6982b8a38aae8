"""`gate schema`: prints the JSON Schema of the config, a case, a baseline or a session's files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

from gate import baseline_schema, case_keys, config_schema, row_schema
from gate.archive import Meta
from gate.codec import schema_of
from gate.records import Json, Report


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Options: `what`, a key of the schemas below."""
    print(json.dumps(_SCHEMAS[options.what](), indent=2, ensure_ascii=False))
    return 0


def _of(record: type, file: str) -> dict[str, Json]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{file} of an Agent Gate session",
        **schema_of(record),
    }


_SCHEMAS: dict[str, Callable[[], dict[str, Json]]] = {
    "config": config_schema.schema,
    "case": case_keys.case_schema,
    "session": lambda: _of(Report, "summary.json"),
    "details": row_schema.schema,
    "meta": lambda: _of(Meta, "meta.json"),
    "baseline": baseline_schema.schema,
}
