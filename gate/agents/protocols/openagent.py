"""An OpenAgent server: chat completions under /api, errors inside HTTP 200, a health check, and
logs of its own that show which tools ran.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from gate.agents.http_client.endpoint import Endpoint, bearer, health, key_of, reach
from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address, is_loopback
from gate.agents.server_logs.options import LogOptions
from gate.agents.server_logs.request_logs import LogBook
from gate.agents.server_logs.watched import LogMark
from gate.agents.task_folder import files_in, has_paths, make_folder, rewritten
from gate.agents.wire import answer, chat
from gate.errors import AgentFailure, InfraFailure
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response, ServerLogs
from gate.system.exclusive import ServerTurn, turns_of

_PATH = re.compile(r"(/api)?(/v\d+)?(/chat/completions)?/*$")
_WANT_LOGS = ("required_tools", "output_requirements")  # keys of cases that ask for evidence
_GOES_ON_S = 60.0  # a server with a request that nobody waits for any more, at least
_NO_TOOLS = "with a provider key the server runs no tools: these calls are of another request"
_AS_WRITTEN = "the server is on another machine: the task's relative paths were sent as written"


@AGENTS.register("openagent")
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAgent:
    """POST {base_url}/api/chat/completions with a provider or store key (`api_key_env`).

    `key` says which of the two it is. `logs` says where the server's own logs are; null: they are
    not read. `same_machine`: whether the server sees the files of this machine; null: where its
    address is a loopback one.
    """

    base_url: str = field(default="http://127.0.0.1:14000", repr=False)
    model: str = ""
    api_key_env: str | None = None
    key: Literal["provider", "store"] | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)
    logs: LogOptions | None = field(default_factory=LogOptions)
    same_machine: bool | None = None

    def describe(self) -> str:
        return f"openagent {self.model} at {format_address(self.server)}"

    def check(self, world: World) -> int:
        """The status of the server's answer; 0 where nothing may be called."""
        key_of(world, self.api_key_env)
        if world.offline:
            reach(world, self.base_url, timeout_s=self.timeout_s)
            return 0
        reply = health(world, f"{self.server}/api/health", timeout_s=self.timeout_s)
        try:
            body = answer.json_of(reply)
        except AgentFailure as failure:
            message = f"{failure} - check that an OpenAgent server runs at this address"
            raise InfraFailure(message, transport=failure.transport) from failure
        if not isinstance(body, dict) or body.get("status") != "ok":
            raise InfraFailure(f"{reply.address} does not report status ok: {reply.excerpt()}")
        return reply.status

    def connect(self, world: World) -> Connection:
        version = _PATH.search(self.base_url)
        url = f"{self.server}/api{version[2] or '' if version else ''}/chat/completions"
        headers = bearer(world, self.api_key_env)
        return _Desk(
            self, world, Endpoint(world, url, headers, write=self._write, read=self._read_reply)
        )

    @property
    def server(self) -> str:
        """`base_url` without the path of an endpoint."""
        return _PATH.sub("", self.base_url, count=1)

    @property
    def is_here(self) -> bool:
        """Whether paths of this machine mean something to the server."""
        return is_loopback(self.base_url) if self.same_machine is None else self.same_machine

    def book(self, world: World) -> LogBook | None:
        """Its logs."""
        if self.logs is None:
            return None
        return LogBook(self.logs, env=world.env, root=world.root, nearby=self.is_here)

    def _write(self, case: Case) -> bytes:
        return chat.request_body(case.input, self.model, {**self.options, **case.request})

    def _read_reply(self, reply: HttpReply) -> Response:
        try:
            return chat.read(reply, tools_offered="tools" in self.options)
        except AgentFailure as failure:
            failure.code = "api_error" if isinstance(failure, chat.NoAnswer) else "parse_error"
            raise


class _Desk:
    """One worker's connection. A request whose logs are read by what they grow by is alone on the
    server; the wait for that is neither in its latency nor in its time-out.
    """

    def __init__(self, agent: OpenAgent, world: World, endpoint: Endpoint) -> None:
        self._agent, self._endpoint = agent, endpoint
        self._session = world.session
        self._book = agent.book(world)
        self._turns = turns_of(agent.server)
        self._closed = False

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        messages = chat.messages(case.input)
        leads = has_paths(messages)
        folder = self._folder(case) if leads else None
        wanted = any(case.keys.get(key) is not None for key in _WANT_LOGS)
        logs = self._book.find_logs() if self._book and (wanted or folder) else {}
        sent = case
        if folder is not None:
            sent = replace(case, input=rewritten(messages, folder, logs.get("access")))
        exclusive = wanted and self._binds_by_offset and any(kind != "access" for kind in logs)
        with self._turns.take_turn(exclusive=exclusive, given_up=lambda: self._closed) as turn:
            if not wanted:
                return self._ask_in_turn(sent, timeout_s)
            shown = self._ask_watching_logs(sent, timeout_s, turn)
        return _with_task(shown, folder, as_written=leads and not self._agent.is_here)

    def close(self) -> None:
        self._closed = True
        self._turns.wake()
        self._endpoint.close()

    @property
    def _binds_by_offset(self) -> bool:
        return self._agent.logs is not None and self._agent.logs.bind == "offset"

    def _folder(self, case: Case) -> Path | None:
        """Where the task's relative paths lead to; None: they stay as they are written."""
        if self._session is None or not self._agent.is_here:
            return None
        try:
            return make_folder(self._session, case.id)
        except OSError as error:
            message = f"no folder for the task can be made in {self._session}: {error.strerror}"
            raise InfraFailure(message) from error

    def _ask_in_turn(self, case: Case, timeout_s: float) -> Response:
        begun = time.perf_counter()
        try:
            response = self._endpoint.ask(case, timeout_s=timeout_s)
        except AgentFailure as failure:
            failure.latency_ms = (time.perf_counter() - begun) * 1e3
            if failure.timed_out:
                self._note_abandoned(timeout_s)
            elif failure.code == "agent_error":
                failure.code = "api_error"
            raise
        except InfraFailure as failure:
            failure.code = None if self._closed else "api_error"
            if failure.begun:
                self._note_abandoned(timeout_s)
            raise
        return replace(response, latency_ms=(time.perf_counter() - begun) * 1e3)

    def _note_abandoned(self, timeout_s: float) -> None:
        """The server may go on for as long again."""
        self._turns.note_abandoned(max(timeout_s, _GOES_ON_S))

    def _ask_watching_logs(self, case: Case, timeout_s: float, turn: ServerTurn) -> Response:
        """The answer, with what the logs show of its request."""
        if self._book is None:
            response = self._ask_in_turn(case, timeout_s)
            return replace(
                response,
                server_logs=ServerLogs(notes=("logs: null: the server logs were not read",)),
            )
        with self._book.before() as mark:
            started_ms = _now_ms()
            response = self._ask_in_turn(case, timeout_s)
            logs = _read_logs(self._book, mark, started_ms, turn)
        if self._agent.key == "provider" and logs.calls:
            logs = replace(logs, alone=False, notes=(_NO_TOOLS, *logs.notes))
        return replace(response, server_logs=logs)


def _read_logs(book: LogBook, mark: LogMark, started_ms: int, turn: ServerTurn) -> ServerLogs:
    """Whatever is wrong with the logs, the answer that was paid for stays."""
    ended_ms = _now_ms()
    try:
        logs = book.after(
            mark, started_ms=started_ms, ended_ms=ended_ms, alone=turn.alone, late=turn.after
        )
    except Exception as error:
        logs = ServerLogs(
            alone=turn.alone,
            started_ms=started_ms,
            ended_ms=ended_ms,
            notes=(f"the logs could not be read: {type(error).__name__}: {error}"[:300],),
        )
    if not turn.haunted:
        return logs
    note = "an earlier request that timed out may still have been running"
    return replace(logs, notes=(*logs.notes, note))


def _with_task(response: Response, folder: Path | None, *, as_written: bool) -> Response:
    """The answer with what the server wrote into the task's folder."""
    logs = response.server_logs or ServerLogs()
    if folder is not None:
        logs = replace(logs, files=files_in(folder))
    if as_written:
        logs = replace(logs, notes=(*logs.notes, _AS_WRITTEN))
    return replace(response, server_logs=logs)


def _now_ms() -> int:
    return int(time.time() * 1e3)
