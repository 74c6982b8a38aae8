"""The command line as a process of its own: for entry points, signals and exit codes."""

import os
import subprocess
import sys


def gate_as_process(folder, *arguments, env=None, **options):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
    return subprocess.run(
        [sys.executable, "-m", "gate", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        env={**clean, **(env or {})},
        check=False,
        **options,
    )


def start_gate(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "gate", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
