"""The command line in this process: starting Python and importing numpy is most of what a quick
command costs. Entry points, signals and exits are for `as_process`.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

from gate import cli


def gate(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """`gate ARGUMENTS` in the folder, with this environment but for what GitHub's runner says."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
    whole = {**clean, **(env or {})}
    out, err = io.StringIO(), io.StringIO()
    with _like_a_new_process(whole), chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = cli.run(arguments, whole)
    return CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@contextmanager
def _like_a_new_process(env: Mapping[str, str]) -> Iterator[None]:
    """What a process has of its own: variables (libraries read them too), signal handlers, where
    modules are looked for, and the user's modules, which may be other ones in the next process.
    """
    before, path, modules = dict(os.environ), list(sys.path), set(sys.modules)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if name.startswith("gate_user_") or _is_of_a_user(sys.modules[name]):
                del sys.modules[name]
        importlib.invalidate_caches()


def _is_of_a_user(module: object) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and "site-packages" not in file and "/pytest-" in Path(file).as_posix()


def run_command(folder, *arguments, code=0, **more):
    """Runs a command that must end with `code`."""
    finished = gate(folder, *arguments, **more)
    assert finished.returncode == code, finished.stdout + finished.stderr
    return finished


def run_session(folder, *arguments, code=0, **more):
    """`gate run`; gives its session."""
    finished = run_command(folder, "run", *arguments, code=code, **more)
    return folder / finished.stdout.splitlines()[-1].removeprefix("Session written to: ")


def save_baseline(folder, session):
    run_command(folder, "baseline", "save", str(session))


def output_of(folder, *arguments, code=0, **more):
    """What a command that must end with `code` prints."""
    return run_command(folder, *arguments, code=code, **more).stdout
