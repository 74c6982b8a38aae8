"""`gate report SESSION`: renders every report again from the stored records, byte for byte."""

from __future__ import annotations

import argparse
import os
import sys
from collections import deque
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from gate.commands.options.records import find_stored, output_options
from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.records import ReportOptions
from gate.report.announce import tell
from gate.report.session_index.keep import INDEX, keep_index
from gate.report.write_all import write_reports
from gate.store.baseline.answers import read_beside
from gate.store.event_log import SURROGATES
from gate.store.session import load_session, refuse_debugging
from gate.store.session_check import check_rows
from gate.text.escaping import plain


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Writes the reports and returns 0. Prints their paths, or, where a format is given, the
    verdict. Raises UsageError for a session without one.
    """
    folder = find_stored(options.session)
    session = load_session(folder)
    refuse_debugging(session)
    if session.report is None:
        raise UsageError(
            f"{folder}: the run has no verdict; continue it with `gate run --resume {folder}`"
        )
    deque(check_rows(session.rows(), session.meta.suites, folder), maxlen=0)
    written: list[Path] = []

    def write(name: str, text: str) -> None:
        path = folder / name
        write_whole(path, text.encode("utf-8", SURROGATES))
        written.append(path)

    sarif = (folder / "gate.sarif").exists()  # asked for by name, so only where it was
    before = partial(read_beside, folder)
    options_of_reports = ReportOptions(sarif=sarif)
    write_reports(write, session.report, session.rows, options_of_reports, before=before)
    lines = [] if options.quiet else [str(path) for path in written]
    if options.format:
        lines = tell(session.report, folder, output_options(options), env)
    for line in lines:
        print(line)
    if os.path.lexists(folder.parent / INDEX) and (unlisted := keep_index(folder)):
        print(plain(f"gate: warning: {unlisted}"), file=sys.stderr)
    return 0
