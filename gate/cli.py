"""The command line: parses, dispatches, turns errors into exit codes. The only sys.exit and
environment.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import importlib
import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from gate.commands.options.all import parse, parser
from gate.errors import GateError, InfrastructureError, Interrupted, UsageError
from gate.files.plain_file import no_such_name
from gate.system.outlet import Outlets, keep_descriptors, outlets
from gate.system.sealing import is_in_a_job, seal_process
from gate.system.shortage import guard_exit, shortage
from gate.system.signals import Stop
from gate.text.escaping import plain, stand_ins
from gate.user_code.processes import PROCESSES

# Commands that load gate.yml, and graders that are files, as they stand in the working tree.
OF_THE_CHECKOUT = (
    *("baseline", "calibrate", "compare", "dataset", "import", "plan", "review", "validate"),
)
# Commands whose exit code is what they say; of the first ones a session has it in full.
KEPT = ("run", "grade", "merge", "import", "action", "comment")
JUDGING = ("compare", "validate", "verify", "calibrate", "self_test")

_MOST_PRINTED = 1_000  # lines of user code that are shown
_GIVEN = ("provider_key", "base_url")  # options that may be, or hold, secrets


def main() -> NoReturn:
    """Console script `gate`."""
    # Imports and big JSON files make many objects and no cycles: look for these less often.
    gc.set_threshold(100_000, 20, 50)
    _leave(sys.argv[1:])


def container_main() -> NoReturn:
    """The image's entry point (docs/github.md): nothing -> `action`, an option first -> `run`."""
    argv = [argument for argument in sys.argv[1:] if argument]
    if not argv:
        argv = ["action"]
    elif argv[0].startswith("-") and argv[0] not in ("--version", "--help", "-h", "--self-test"):
        argv = ["run", *argv]
    _leave(argv)


def environment() -> dict[str, str]:
    """The environment of this process, for the Python interface."""
    return dict(os.environ)


def _take_environment(argv: list[str]) -> Mapping[str, str]:
    """What this process was given; in a job the rest of it is sealed before anything else runs."""
    env = dict(os.environ)
    if is_in_a_job(argv, env) and (why := seal_process(os.environ)):
        print(f"gate: warning: {why}", file=sys.stderr)
    return env


def _leave(argv: list[str]) -> NoReturn:
    """Ends the process at once: everything is written, and a `python` agent that never returns must
    not keep it. The interpreter's own way out would also cost 40 ms, and has an exit code of its
    own where the output cannot be written.
    """
    keep_descriptors()
    guard_exit(InfrastructureError.exit_code)
    env = _take_environment(argv)  # what is set below is for this process alone
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's; a thread a core is not needed
    try:
        code = run(argv, env)
    except SystemExit as ended:  # of --help, or of wrong arguments
        code = ended.code if isinstance(ended.code, int) else bool(ended.code)
    os._exit(code)


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs one command; the exit codes are those of docs/semantics.md. A dead output stream changes
    none of them, but where nobody could be told what the command was to say: that is 6.
    """
    _plain_streams()
    with outlets() as streams:
        try:
            options = parse(argv)
        except SystemExit as ended:
            streams.flush()
            raise SystemExit(_check_streams(int(ended.code or 0), "", streams)) from None
        code = _command(options, env)
        streams.flush()
        kept = options.command in KEPT or bool(getattr(options, "out", None))
        return _check_streams(code, "kept" if kept else options.command or "", streams)


def _check_streams(code: int, command: str, streams: Outlets) -> int:
    """`command`: "kept" where a folder has what was told, too."""
    out, err = streams.out, streams.err
    if not out.lost:
        return code
    if command not in ("kept", *JUDGING) and not code:
        code = 0 if out.nobody else InfrastructureError.exit_code
    if not out.nobody or command in JUDGING:  # `| head` is no news to who typed it
        print(f"gate: the output cannot be written: {out.lost}; exit code {code}", file=sys.stderr)
        streams.flush()
    deaf = command in JUDGING and err.lost
    return InfrastructureError.exit_code if deaf else code


def _command(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    if options.self_test:
        options.command = "self_test"
    if options.command is None:
        parser().print_help()
        return 2
    stop = Stop()
    stop.install()
    options.stop = stop
    options.tell = lambda line: print(plain(f"gate: {line}"), file=sys.stderr)
    verbose = getattr(options, "verbose", False)
    try:
        env = _add_variables(options, env)
        PROCESSES.begin(env, _printer(env, options) if verbose else _say_nothing)
        if options.command in OF_THE_CHECKOUT:
            from gate.run.untrusted import refuse_checkout

            refuse_checkout(options.command, env)
        command = importlib.import_module(f"gate.commands.{options.command}")
        return int(command.run(options, env))
    except GateError as error:
        if verbose:
            _print(_format_traceback(), env, options)
        return _tell(error, env, options)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if (short := shortage(error) or no_such_name(error)) is not None:
            return _tell(short, env, options)
        if isinstance(error, OSError):
            where = error.filename or "output"
            failure = InfrastructureError(f"{where}: {error.strerror}")
            return _tell(failure, env, options)
        _print(_format_traceback(), env, options)
        print(
            "gate: this is a bug of Agent Gate, not of your agent: please report it",
            file=sys.stderr,
        )
        return 70
    finally:
        stop.ignore()
        PROCESSES.end()


def _add_variables(options: argparse.Namespace, env: Mapping[str, str]) -> Mapping[str, str]:
    """With those of --env-file that are not set."""
    if getattr(options, "env_file", None) is None:
        return env
    from gate.files.env_file import read_env_file

    return {**read_env_file(Path(options.env_file)), **env}


def _format_traceback() -> str:
    """The traceback of the error that is being handled."""
    import traceback

    return traceback.format_exc()


def _say_nothing(line: str) -> None:
    """What user code prints is shown with --verbose only."""


def _printer(env: Mapping[str, str], options: argparse.Namespace) -> Callable[[str], None]:
    """Shows what user code prints, on standard error: it never mixes with what the command says."""
    lines = itertools.count(1)

    def show(line: str) -> None:
        number = next(lines)
        if number <= _MOST_PRINTED:
            _print(f"user code: {line}", env, options)
        elif number == _MOST_PRINTED + 1:
            _print("user code: (what it prints from here on is not shown)", env, options)

    return show


def _tell(error: GateError, env: Mapping[str, str], options: argparse.Namespace) -> int:
    prefix = "" if isinstance(error, UsageError) and "\n" in str(error) else "gate: "
    for line in str(error).splitlines():
        _print(prefix + line, env, options)
    if isinstance(error, Interrupted):
        sys.stdout.flush()
    return error.exit_code


def _print(text: str, env: Mapping[str, str], options: argparse.Namespace) -> None:
    """Without secrets: what the user's own code raises, of a suite or a grader, is told, too."""
    from gate.text.credentials import without_passwords
    from gate.text.redaction import Redactor
    from gate.text.secret_names import secrets_sent

    given = {f"GIVEN_{name}": getattr(options, name, None) or "" for name in _GIVEN}
    secrets = {*secrets_sent({**env, **given}, ()), *options.secrets}
    print(plain(without_passwords(Redactor(secrets).redact(text))), file=sys.stderr)


def _plain_streams() -> None:
    """A terminal that cannot show a sign gets its ASCII stand-in, never an exception."""
    codecs.register_error("gate-ascii", stand_ins)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="gate-ascii")
