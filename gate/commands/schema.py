"""`gate schema`: prints the JSON Schema of the config, a case, a baseline or a session's files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from gate.commands.schemas import SCHEMAS


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Prints a schema and returns 0. Options: `what`, a key of SCHEMAS."""
    print(json.dumps(SCHEMAS[options.what](), indent=2, ensure_ascii=False))
    return 0
