"""`gate run`: runs the suites, compares, decides, writes the session, prints the verdict. With
`--case` or `--failed` it shows single cases instead.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.commands.options.records import find_stored, host_of, results_folder, run_options
from gate.github.context import is_ci
from gate.records import Report
from gate.registry import BackgroundImport
from gate.run.execute import execute
from gate.run.home import find_home
from gate.run.options import Host, RunOptions
from gate.store.session import LATEST, find_ended, latest_session, newest_session
from gate.text.escaping import plain


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Returns the exit code of the verdict, or of the shown cases."""
    request, host = run_options(options), host_of(options, env)
    if request.resume == LATEST:
        newest = newest_session(Path(request.out) if request.out else results_folder())
        request = replace(request, resume=str(newest))
    elif request.resume:
        request = replace(request, resume=str(find_stored(request.resume)))
    if request.baseline == LATEST:
        request = replace(request, baseline=_describe_latest(request.config))
    if options.dry_run:
        from gate.run.dry_run import describe_run

        for line in describe_run(request, host, results_folder()):
            print(plain(host.redactor().redact(line)))
        return 0
    if request.case or request.failed is not None:
        return _debug(request, host)
    if request.resume and (ended := _find_ended(request, host)):
        return _tell_ended(ended, Path(request.resume), request, env)
    outcome = execute(request, host)
    for line in outcome.words(request, env):
        print(line)
    return outcome.report.exit_code


def _describe_latest(config: str | None) -> str:
    """The newest session as a path from the folder of gate.yml, as `--baseline` has it."""
    return os.path.relpath(latest_session(results_folder()), find_home(config).root)


def _find_ended(request: RunOptions, host: Host) -> Report | None:
    """The verdict that stays as it is. A job judges anew, by the base branch of now."""
    anew = (request.rounds, request.protect, request.stage, request.shard)
    if is_ci(host.env) or any(one is not None for one in anew):
        return None
    return find_ended(Path(str(request.resume)), host.redactor().redact)


def _tell_ended(report: Report, folder: Path, request: RunOptions, env: Mapping[str, str]) -> int:
    """Says that nothing was done, then what a run says at its end. Returns its exit code."""
    note = f"{folder} is finished and stays as it is: nobody was asked"
    print(plain(f"gate: {note}; `gate run` without --resume measures anew"), file=sys.stderr)
    judged = BackgroundImport("gate.run.judge").load().Outcome(report=report, session_dir=folder)
    for line in judged.words(request, env):
        print(line)
    return report.exit_code


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
