"""`gate serve [SESSION]`: the reports of all sessions beside it, for a browser on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from gate.commands.open import PAGE, find_page
from gate.commands.options.records import find_stored
from gate.commands.report_server import ReportServer
from gate.report.session_index.keep import INDEX
from gate.system.signals import Stop


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Serves until Ctrl-C or SIGTERM; returns 0. Raises UsageError for a session without a page and
    for a port that is taken.
    """
    session = find_page(find_stored(options.session)).parent.resolve()
    stop: Stop = options.stop
    with ReportServer(session.parent, options.port, first=session.name) as server, stop.defer():
        print(f"{server.url}/{session.name}/{PAGE} (Ctrl-C stops it)")
        if (session.parent / INDEX).is_file():
            print(f"All sessions: {server.url}/{INDEX}")
        sys.stdout.flush()
        while not stop.is_requested():
            server.handle_request()
    return 0
