"""`gate schema`: prints the JSON Schema of the config, a case, a session or a baseline."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

from gate import baseline_schema, case_keys, config_schema
from gate.codec import schema_of
from gate.records import Json, Report


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Options: `what` (config, case, session or baseline)."""
    print(json.dumps(_SCHEMAS[options.what](), indent=2, ensure_ascii=False))
    return 0


def _session() -> dict[str, Json]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "summary.json of an Agent Gate session",
        **schema_of(Report),
    }


_SCHEMAS: dict[str, Callable[[], dict[str, Json]]] = {
    "config": config_schema.schema,
    "case": case_keys.case_schema,
    "session": _session,
    "baseline": baseline_schema.schema,
}
