"""`gate import FORMAT PATH`: turns the results of another tool into a session."""  # noqa: N999

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import UTC, datetime

from gate.commands.options.records import host_of, import_options
from gate.run.importing.run import import_results


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Imports the results and returns the exit code of the verdict: 0 unless a gate fails. Raises
    GateError.
    """
    import_request = import_options(options)
    written = import_results(import_request, host_of(options, env), datetime.now(UTC))
    for line in written.beside if import_request.as_text else ():
        print(line)
    if written.session is None:
        return 0
    for line in written.session.words(import_request, env):
        print(line)
    return written.session.report.exit_code
