"""An agent behind any HTTP address: what to send and where the answer stands, in gate.yml."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, Protocol, cast
from urllib.parse import quote

from gate.agents.http_client.endpoint import bearer, reach, read_by
from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address
from gate.agents.http_client.session import HttpSession
from gate.agents.wire import answer, template
from gate.agents.wire.tracing import TraceShape
from gate.errors import AgentFailure, UsageError
from gate.plugins import AGENTS, Connection, OptionPath, World
from gate.records import Case, Json, Response


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPaths:
    """Where things stand in the answer: keys and positions with dots between, `a.b.0.c`."""

    answer: str | None = None
    retrieved: str | None = None
    context: str | None = None
    steps: str | None = None
    trace: str | None = None
    input_tokens: str | None = None
    cached_tokens: str | None = None
    output_tokens: str | None = None
    reasoning_tokens: str | None = None
    cost_usd: str | None = None
    safety_violations: str | None = None
    model: str | None = None
    finish_reason: str | None = None

    def items(self) -> list[tuple[str, str]]:
        paths = ((name, getattr(self, name)) for name in self.__slots__)
        return [(name, path) for name, path in paths if path is not None]


@AGENTS.register("http")
@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAgent:
    """Any address: a JSON template for the request, dotted paths into the answer.

    `{{input}}`, `{{question}}`, `{{id}}` and `{{case.KEY}}` are filled in `body` and `url`.
    Without `response` the answer is an object as docs/agents.md describes it, or plain text.
    """

    url: str = field(repr=False)
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Json = field(default_factory=lambda: {"input": "{{input}}"}, repr=False)
    response: AnswerPaths = AnswerPaths()
    trace: TraceShape = "auto"
    model: str = ""
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def describe(self) -> str:
        return " ".join(filter(None, ("http", self.model, "at", format_address(self.url))))

    def check(self, world: World) -> None:
        check(self, world)

    @property
    def case_keys(self) -> Sequence[tuple[OptionPath, str]]:
        return list_case_keys(self)

    def connect(self, world: World) -> Connection:
        read = partial(self._read_reply, section=world.section)
        return Exchange(self, world, read, told=self._pick_done if self.response.items() else None)

    def _read_reply(self, reply: HttpReply, section: str) -> Response:
        model, paths = self.model or None, self.response.items()
        if not paths:
            if "text/plain" in reply.headers.get("content-type", "") and self.trace == "auto":
                return Response(answer=reply.body.decode("utf-8", "replace"), model=model)
            data = answer.json_of(reply) if self.trace == "auto" else _trace_body(reply)
            return answer.response(data, model=model, section=section, trace=self.trace)
        data = answer.json_of(reply)
        values = {
            name: template.at(data, path, f"{section}.response.{name}") for name, path in paths
        }
        answer_object = {"answer": None, **values, "usage": values}
        return answer.response(answer_object, model=model, trace=self.trace, paths=dict(paths))

    def _pick_done(self, done: object) -> object:
        """What a failure's body has where an answer's would have it, else the body."""
        picked: dict[str, Json] = {}
        try:
            data = answer.parse(done) if isinstance(done, bytes) else cast("Json", done)
        except ValueError:
            return done
        for name, path in self.response.items():
            with suppress(AgentFailure):
                picked[name] = template.at(data, path, name)
        return {**picked, "usage": picked} if {"steps", "trace"} & picked.keys() else done


def _trace_body(reply: HttpReply) -> Json:
    """The body as JSON, or as the text that a trace may be: JSON Lines, a console."""
    try:
        return answer.parse(reply.body)
    except ValueError:
        return answer.json_of(reply) if reply.is_html else reply.body.decode("utf-8", "replace")


class Sent(Protocol):
    """What is asked by a template, an agent or a retriever."""

    @property
    def url(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> Json: ...
    @property
    def api_key_env(self) -> str | None: ...
    @property
    def timeout_s(self) -> float: ...


def check(sent: Sent, world: World) -> None:
    """Raises UsageError for a wrong template, InfraFailure when nobody is at the address."""
    template.check(sent.url, world.name_address("url"))
    template.check(sent.body, f"{world.section}.body")
    if not (template.names_in(sent.url) or template.names_in(_body(sent))):
        is_get = sent.method == "GET"
        where = world.name_address("url") if is_get else f"{world.section}.body"
        raise UsageError(
            f"{where}: no case is sent, every call would be the same - write "
            f"{{{{input}}}} where the question goes"
        )
    bearer(world, sent.api_key_env)
    reach(world, sent.url, timeout_s=sent.timeout_s, setting="url")


def list_case_keys(sent: Sent) -> list[tuple[OptionPath, str]]:
    """As AgentTraits of gate/plugins.py has them."""
    parts = (("url", sent.url), ("body", _body(sent)))
    return [found for name, part in parts for found in template.list_case_keys(part, (name,))]


def _body(sent: Sent) -> Json:
    """The template of the body; None where none is sent."""
    return None if sent.method == "GET" else sent.body


class Exchange:
    """A Connection (gate/plugins.py) that fills the template and has the reply read by `read`."""

    def __init__(
        self,
        request: Sent,
        world: World,
        read: Callable[[HttpReply], Response],
        *,
        told: Callable[[object], object] | None = None,
    ) -> None:
        """`told`: what of a failure's body may tell what was done; None: all of it."""
        self._asked, self._told = request, told
        self._section = world.section
        self._read = read
        self._session = HttpSession(world.env, setting=world.name_address("url"), hear=world.hear)
        given = {name.lower(): value for name, value in request.headers.items()}
        sent = {"content-type": "application/json"} if request.method != "GET" else {}
        self._headers = {**sent, **bearer(world, request.api_key_env), **given}

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        try:
            return self._answer(case, timeout_s)
        except AgentFailure as failure:
            if self._told is not None and failure.done is not None:
                failure.done = self._told(failure.done)
            raise

    def _answer(self, case: Case, timeout_s: float) -> Response:
        sent = self._asked
        body = None
        if sent.method != "GET":
            body = json.dumps(template.fill(sent.body, case, f"{self._section}.body")).encode()
        reply = self._session.request(
            sent.method,
            template.fill_text(
                sent.url, case, f"{self._section}.url", lambda text: quote(text, safe="")
            ),
            headers=self._headers,
            body=body,
            timeout_s=timeout_s,
        )
        return read_by(self._read, reply)

    def close(self) -> None:
        self._session.close()
