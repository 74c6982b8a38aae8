"""An agent that is a program: started for each trial, the case on stdin, the answer on stdout."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from gate.agents.http_client.endpoint import key_of
from gate.agents.subprocess_call import ChildProcess, FinishedProcess
from gate.agents.wire import answer, tracing
from gate.agents.wire.tracing import TraceShape
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Response
from gate.system.shortage import shortage
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_of
from gate.text.shortening import shorten

MAX_BYTES = 20_000_000
# What a program needs to run at all; everything else, tokens above all, only by name.
PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP"
    r"|SYSTEMROOT|SYSTEMDRIVE|COMSPEC|PATHEXT|WINDIR|USERPROFILE|(LOCAL)?APPDATA|PROGRAM(DATA|FILES)"
    r"|VIRTUAL_ENV|PYTHONPATH|NODE_PATH|LD_LIBRARY_PATH"
    r"|(HTTPS?|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE",
    re.IGNORECASE,
)


# What a shell would replace: a pipe, a list, a file, a variable, names of files.
_SHELL = re.compile(
    r"(?:^|\s)(?:\|\|?|&&?|;|\d?>>?|<)(?=\s|$)|\$\(|\$\{?[A-Za-z_]\w*\}?|`"
    r"|(?:(?<=\s)|^)~(?=[\s/]|$)|(?<=[\s/])\*[\w.]*(?=\s|$)"
)
_TEMPLATE = re.compile(r"\{\{[^{}]*\}?\}?")  # of an http body, or of another tool


@AGENTS.register("command")
@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One process a trial: the case as JSON on stdin, a JSON object, a trace or plain text on
    stdout.

    It sees few variables of the environment: `env` names more, `api_key_env` the one with the key.
    """

    command: str | tuple[str, ...] = field(repr=False)
    env: tuple[str, ...] = ()
    model: str = ""
    trace: TraceShape = "auto"
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.command, str) and (name := _TEMPLATE.search(self.command)):
            raise UsageError(
                f"command: {name[0]} is not replaced in `command` - leave it out: the program gets "
                "the case as JSON on its standard input"
            )
        if isinstance(self.command, str) and (sign := _SHELL.search(self.command)):
            raise UsageError(
                f"command: {sign[0].strip()!r} does nothing, because no shell reads the command - "
                "write [sh, -c, '...'] to let one read it, or a list of words to mean the sign"
            )

    def describe(self) -> str:
        words = self.words()
        return " ".join(filter(None, ("command", Path(words[0]).name if words else "", self.model)))

    def check(self, world: World) -> None:
        """Raises UsageError: what is wrong here is wrong in gate.yml."""
        self.environment(world)
        self.program(world)

    def connect(self, world: World) -> Connection:
        return _Connection(self, world)

    def words(self) -> list[str]:
        try:
            return shlex.split(self.command) if isinstance(self.command, str) else [*self.command]
        except ValueError as error:
            raise UsageError(f"agent.command: {error} - write a list of words") from error

    def program(self, world: World) -> str:
        """The path of the program: of a file below the folder of gate.yml, or found on PATH."""
        first = (self.words() or [""])[0]
        path = str(world.root.resolve() / first) if "/" in first or "\\" in first else first
        executable = shutil.which(path, path=world.env.get("PATH")) if first else None
        if not executable:
            raise UsageError(
                f"agent.command: program '{shorten(first, 80)}' not found - install it, or check "
                "its path"
            )
        return executable

    def environment(self, world: World) -> dict[str, str]:
        for name in self.env:
            if not world.env.get(name, "").strip() and not world.offline:
                raise UsageError(
                    f"{world.section}.env: the environment variable {name} is not set - set it, or"
                    " remove it from the list"
                )
        key_of(world, self.api_key_env)
        named = (*self.env, self.api_key_env)
        return {
            name: value
            for name, value in world.env.items()
            if name in named or PASSED_ON.fullmatch(name)
        }


class _Connection:
    def __init__(self, agent: Command, world: World) -> None:
        self._agent = agent
        self._folder = world.root.resolve()
        self._env = agent.environment(world)
        self._words = [agent.program(world), *agent.words()[1:]]
        self._name = Path(self._words[0]).name
        named = (*agent.env, *filter(None, (agent.api_key_env,)))
        self._secrets = [*secrets_of(self._env, named)]
        self._child = ChildProcess()

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        case_object = {**case.keys, "id": case.id, "input": case.input}
        try:
            done = self._child.run(
                self._words,
                json.dumps(case_object, default=str).encode(),
                env=self._env,
                folder=self._folder,
                timeout_s=timeout_s,
                max_bytes=MAX_BYTES,
            )
        except OSError as error:
            if (short := shortage(error)) is not None:
                raise short from error
            raise InfraFailure(f"{self._name} cannot be started: {error.strerror}") from error
        return self._read_output(done, timeout_s)

    def close(self) -> None:
        self._child.kill()

    def _read_output(self, done: FinishedProcess, timeout_s: float) -> Response:
        if self._child.killed:
            raise InfraFailure(f"{self._name} was stopped: the run is being stopped")
        if done.too_much:
            raise AgentFailure(f"{self._name} printed more than {MAX_BYTES / 1e6:g} MB")
        if done.status is None:
            message = f"{self._name} did not finish within {timeout_s:g} s"
            raise AgentFailure(message, timed_out=True)
        if done.status:
            how = f"signal {-done.status}" if done.status < 0 else f"exit status {done.status}"
            message = f"{self._name} ended with {how}: {self._complaint(done.stderr)}"
            raise AgentFailure(message, done=done.stdout)
        try:
            return _answer(done.stdout, self._agent.model or None, self._agent.trace)
        except AgentFailure as failure:
            failure.done = done.stdout
            raise

    def _complaint(self, stderr: bytes) -> str:
        """The last line of standard error that is not empty."""
        shown = Redactor(self._secrets).redact(stderr.decode("utf-8", "replace"))
        return shorten((shown.strip().splitlines() or ["no message"])[-1], 200)


def _answer(stdout: bytes, model: str | None, trace: TraceShape) -> Response:
    """A JSON object is an answer object, a list of messages or spans is a trace; anything else is
    the answer's text, or a trace if gate.yml says so.
    """
    output = stdout.decode("utf-8", "replace").strip()
    try:
        data = answer.parse(stdout) if output[:1] in ("{", "[") else output
    except ValueError:
        data = output
    if isinstance(data, dict) or tracing.is_trace(data, trace):
        return answer.response(data, model=model, trace=trace)
    return Response(answer=output, model=model)
