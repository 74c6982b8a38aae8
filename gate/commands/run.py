"""`gate run`: runs the suites, compares, decides, writes the session, prints the verdict. With
`--case` or `--failed` it shows single cases instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from gate.run.execute import execute


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Exit code of the verdict, or of the cases that are shown."""
    if options.case or options.failed is not None:
        return _debug(options, env)
    outcome = execute(options, env)
    for line in outcome.words(options, env):
        print(line)
    return outcome.report.exit_code


def _debug(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    from gate.run.debug import debug

    shown = debug(options, env)
    if shown is None:
        from gate.report.debugging import none_failed

        print(none_failed(options))
        return 0
    for line in shown.words(options, env):
        print(line)
    return shown.exit_code
