"""The command line: parses, dispatches, turns errors into exit codes. The only sys.exit and
environment.
"""

from __future__ import annotations

import codecs
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from gate.errors import GateError, InfrastructureError, Interrupted, UsageError
from gate.options import parse, parser
from gate.stop import Stop
from gate.text import plain, stand_ins
from gate.user_code.processes import PROCESSES

# Commands that load gate.yml, and graders that are files, as they stand in the working tree.
OF_THE_CHECKOUT = (
    *("baseline", "calibrate", "compare", "dataset", "history", "import", "plan", "review"),
    "validate",
)


def main() -> NoReturn:
    """Console script `gate`."""
    # Imports and big JSON files make many objects and no cycles: look for these less often.
    gc.set_threshold(100_000, 20, 50)
    _leave(run(sys.argv[1:], os.environ))


def container_main() -> NoReturn:
    """The image's entry point (docs/github.md): nothing -> `action`, an option first -> `run`."""
    argv = [argument for argument in sys.argv[1:] if argument]
    if not argv:
        argv = ["action"]
    elif argv[0].startswith("-") and argv[0] not in ("--version", "--help", "-h", "--self-test"):
        argv = ["run", *argv]
    _leave(run(argv, os.environ))


def _leave(code: int) -> NoReturn:
    """Ends the process at once: everything is written, and a `python` agent that never returns must
    not keep it. The interpreter's own way out would also cost 40 ms.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # nobody reads it any more, which is no verdict
    except OSError:
        code = code or InfrastructureError.exit_code  # a full disk under the output
    os._exit(code)


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs one command; the exit codes are those of docs/semantics.md."""
    _plain_streams()
    options = parse(argv)
    if options.self_test:
        options.command = "self_test"
    if options.command is None:
        parser().print_help()
        return 2
    stop = Stop()
    stop.install()
    options.stop = stop
    PROCESSES.begin(env, _printer(env) if getattr(options, "verbose", False) else _say_nothing)
    try:
        if options.command in OF_THE_CHECKOUT:
            importlib.import_module("gate.untrusted").refuse_checkout(options.command, env)
        command = importlib.import_module(f"gate.commands.{options.command}")
        return int(command.run(options, env))
    except GateError as error:
        if getattr(options, "verbose", False):
            _print(traceback.format_exc(), env)
        return _tell(error, env)
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    except OSError as error:  # a full disk under the output, say
        return _tell(InfrastructureError(f"{error.filename or 'output'}: {error.strerror}"), env)
    except Exception:
        _print(traceback.format_exc(), env)
        print(
            "gate: this is a bug of Agent Gate, not of your agent: please report it",
            file=sys.stderr,
        )
        return 70
    finally:
        PROCESSES.end()


def _say_nothing(line: str) -> None:
    """What user code prints is shown with --verbose only."""


def _printer(env: Mapping[str, str]) -> Callable[[str], None]:
    """Shows what user code prints, on standard error: it never mixes with what the command says."""
    secrets = importlib.import_module("gate.secret_names").secrets_sent(env, ())
    redact = importlib.import_module("gate.redact").Redactor(secrets).redact
    return lambda line: print("user code:", plain(redact(line)), file=sys.stderr)


def _tell(error: GateError, env: Mapping[str, str]) -> int:
    prefix = "" if isinstance(error, UsageError) and "\n" in str(error) else "gate: "
    for line in str(error).splitlines():
        _print(prefix + line, env)
    if isinstance(error, Interrupted):
        sys.stdout.flush()
    return error.exit_code


def _print(text: str, env: Mapping[str, str]) -> None:
    """Without secrets: what the user's own code raises, of a suite or a grader, is told, too."""
    secrets = importlib.import_module("gate.secret_names").secrets_sent(env, ())
    redacted = importlib.import_module("gate.redact").Redactor(secrets).redact(text)
    print(plain(redacted), file=sys.stderr)


def _plain_streams() -> None:
    """A terminal that cannot show a sign gets its ASCII stand-in, never an exception."""
    codecs.register_error("gate-ascii", stand_ins)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="gate-ascii")
