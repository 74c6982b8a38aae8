"""An OpenAgent server: chat completions under /api, errors inside HTTP 200, a health check."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.errors import AgentFailure, InfraFailure
from gate.http import Reply, shown_address
from gate.http.endpoint import Endpoint, bearer, health, key_of
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response
from gate.wire import answer, chat

_PATH = re.compile(r"(/api)?(/v\d+)?(/chat/completions)?/*$")


@AGENTS.register("openagent")
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAgent:
    """POST {base_url}/api/chat/completions with a provider or store key (`api_key_env`)."""

    base_url: str = field(default="http://127.0.0.1:14000", repr=False)
    model: str = ""
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)

    def describe(self) -> str:
        return f"openagent {self.model} at {shown_address(self._server)}"

    def check(self, world: World) -> int:
        key_of(world, self.api_key_env)
        reply = health(world, f"{self._server}/api/health", timeout_s=self.timeout_s)
        try:
            said = answer.json_of(reply)
        except AgentFailure as failure:
            raise InfraFailure(f"{failure} - is there an OpenAgent server?") from failure
        if not isinstance(said, dict) or said.get("status") != "ok":
            raise InfraFailure(f"{reply.address} does not say that it is well: {reply.excerpt()}")
        return reply.status

    def connect(self, world: World) -> Connection:
        version = _PATH.search(self.base_url)
        url = f"{self._server}/api{version[2] or '' if version else ''}/chat/completions"
        headers = bearer(world, self.api_key_env)
        return Endpoint(world, url, headers, write=self._write, read=self._read)

    @property
    def _server(self) -> str:
        return _PATH.sub("", self.base_url, count=1)

    def _write(self, case: Case) -> bytes:
        return chat.request_body(case.input, self.model, {**self.options, **case.request})

    def _read(self, reply: Reply) -> Response:
        return chat.read(reply, tools_offered="tools" in self.options)
