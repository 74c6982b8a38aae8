"""An agent behind any HTTP address: what to send and where the answer stands, in gate.yml."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

from gate.http import Reply, Session, shown_address
from gate.http.endpoint import bearer, reach
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response
from gate.wire import answer, template


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Where things stand in the answer: keys and positions with dots between, `a.b.0.c`."""

    answer: str | None = None
    retrieved: str | None = None
    context: str | None = None
    steps: str | None = None
    input_tokens: str | None = None
    cached_tokens: str | None = None
    output_tokens: str | None = None
    reasoning_tokens: str | None = None
    cost_usd: str | None = None
    safety_violations: str | None = None
    model: str | None = None
    finish_reason: str | None = None

    def items(self) -> list[tuple[str, str]]:
        found = ((name, getattr(self, name)) for name in self.__slots__)
        return [(name, path) for name, path in found if path is not None]


@AGENTS.register("http")
@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Any address: a JSON template for the request, dotted paths into the answer.

    `{{input}}`, `{{question}}`, `{{id}}` and `{{case.KEY}}` are filled in `body` and `url`.
    Without `response` the answer is an object as docs/agents.md describes it, or plain text.
    """

    url: str = field(repr=False)
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Json = field(default_factory=lambda: {"input": "{{input}}"}, repr=False)
    response: Paths = Paths()
    model: str = ""
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None

    def describe(self) -> str:
        return " ".join(filter(None, ("http", self.model, "at", shown_address(self.url))))

    def check(self, world: World) -> None:
        template.check(self.url, "agent.url")
        template.check(self.body, "agent.body")
        bearer(world, self.api_key_env)
        reach(world, self.url, timeout_s=self.timeout_s, setting="agent.url")

    def connect(self, world: World) -> Connection:
        return _Connection(self, world)


class _Connection:
    def __init__(self, agent: Http, world: World) -> None:
        self._agent = agent
        self._session = Session(world.env, setting="agent.url")
        given = {name.lower(): value for name, value in agent.headers.items()}
        sent = {"content-type": "application/json"} if agent.method != "GET" else {}
        self._headers = {**sent, **bearer(world, agent.api_key_env), **given}
        self._paths = agent.response.items()

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        agent = self._agent
        body = None
        if agent.method != "GET":
            body = json.dumps(template.fill(agent.body, case, "agent.body")).encode()
        reply = self._session.request(
            agent.method,
            template.fill_text(agent.url, case, "agent.url", lambda text: quote(text, safe="")),
            headers=self._headers,
            body=body,
            timeout_s=timeout_s,
        )
        return self._read(reply)

    def close(self) -> None:
        self._session.close()

    def _read(self, reply: Reply) -> Response:
        model = self._agent.model or None
        if not self._paths:
            if "text/plain" in reply.headers.get("content-type", ""):
                return Response(answer=reply.body.decode("utf-8", "replace"), model=model)
            return answer.response(answer.json_of(reply), model=model)
        data = answer.json_of(reply)
        found = {
            name: template.at(data, path, f"agent.response.{name}") for name, path in self._paths
        }
        return answer.response({"answer": None, **found, "usage": found}, model=model)
