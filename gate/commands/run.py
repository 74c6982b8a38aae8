"""`gate run`: runs the suites, compares, decides, writes the session, prints the verdict."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate.run.execute import execute


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict."""
    outcome = execute(options, env)
    for line in outcome.words(options, env):
        print(line)
    return outcome.report.exit_code
