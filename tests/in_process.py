"""The command line in this process: starting Python and importing numpy is most of what a quick
command costs. Entry points, signals and exits are for `tests.e2e.test_bad_input.gate`.
"""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

from gate import cli


def gate(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """`gate ARGUMENTS` in the folder, with this environment but for what GitHub's runner says."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
    out, err = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            code = cli.run(arguments, {**clean, **(env or {})})
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
