"""`gate schema`: prints the JSON Schema of the config, a case, a baseline or a session's files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping

from gate.analysis import labels
from gate.records import Json, Report, release_evidence
from gate.records.codec import schema_of
from gate.records.history import History
from gate.store import trial_row_schema
from gate.store.baseline import schema as baseline_schema
from gate.store.session import Meta
from gate.suites.cases import keys as case_keys
from gate.suites.config import json_schema as config_schema


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints a schema and returns 0. Options: `what`, a key of SCHEMAS."""
    print(json.dumps(SCHEMAS[options.what](), indent=2, ensure_ascii=False))
    return 0


def _schema_of_record(record: type, title: str) -> dict[str, Json]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **schema_of(record),
    }


SCHEMAS: Mapping[str, Callable[[], dict[str, Json]]] = {
    "config": config_schema.schema,
    "case": case_keys.case_schema,
    "session": lambda: _schema_of_record(Report, "summary.json of an Agent Gate session"),
    "details": trial_row_schema.schema,
    "meta": lambda: _schema_of_record(Meta, "meta.json of an Agent Gate session"),
    "baseline": baseline_schema.schema,
    "evidence": release_evidence.schema,
    "label": labels.schema,
    "history": lambda: _schema_of_record(History, "Agent Gate history"),
}
