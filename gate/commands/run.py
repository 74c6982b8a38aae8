"""`gate run`: runs the suites, compares, decides, writes the session, prints the verdict. With
`--case` or `--failed` it shows single cases instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.commands.options.records import host_of, results_folder, run_options
from gate.run.execute import execute
from gate.run.options import Host, RunOptions
from gate.store.session import LATEST, newest_session
from gate.text.escaping import plain


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns the exit code of the verdict, or of the shown cases."""
    request, host = run_options(options), host_of(options, env)
    if request.resume == LATEST:
        newest = newest_session(Path(request.out) if request.out else results_folder())
        request = replace(request, resume=str(newest))
    if options.dry_run:
        from gate.run.dry_run import describe_run

        for line in describe_run(request, host, results_folder()):
            print(plain(host.redactor().redact(line)))
        return 0
    if request.case or request.failed is not None:
        return _debug(request, host)
    outcome = execute(request, host)
    for line in outcome.words(request, env):
        print(line)
    return outcome.report.exit_code


def _debug(options: RunOptions, host: Host) -> int:
    from gate.run.debug import debug

    shown = debug(options, host)
    if shown is None:
        from gate.report.debugging import none_failed

        print(none_failed(options))
        return 0
    for line in shown.words(options, host.env):
        print(line)
    return shown.exit_code
