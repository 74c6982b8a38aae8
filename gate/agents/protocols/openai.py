"""An agent behind OpenAI's chat completions: vLLM, Ollama, LiteLLM, OpenAI and most others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.agents.http_client.endpoint import Endpoint, bearer, join_endpoint, key_of, reach
from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address
from gate.agents.wire import chat, responses
from gate.plugins import AGENTS, Connection, World
from gate.records import Case, Json, Response


@AGENTS.register("openai")
@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAI:
    """POST {base_url}/v1/chat/completions, or OpenAI's Responses where `base_url` ends in
    /responses; `options` become keys of the request's body.
    """

    base_url: str = field(repr=False)
    model: str = ""
    api_key_env: str | None = None
    timeout_s: float = 240.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)

    def describe(self) -> str:
        return f"openai {self.model} at {format_address(self.base_url)}"

    def check(self, world: World) -> None:
        key_of(world, self.api_key_env)
        reach(world, self.base_url, timeout_s=self.timeout_s)

    def connect(self, world: World) -> Connection:
        headers = bearer(world, self.api_key_env)
        if self.base_url.partition("?")[0].rstrip("/").endswith(responses.PATH):
            url = join_endpoint(self.base_url, responses.PATH)
            return Endpoint(world, url, headers, write=self._write_responses, read=responses.read)
        url = join_endpoint(self.base_url, "/chat/completions")
        return Endpoint(world, url, headers, write=self._write_chat, read=self._read_chat)

    def _write_responses(self, case: Case) -> bytes:
        options = {**self.options, **responses.settings(case.request)}
        return responses.request_body(case.input, self.model, options)

    def _write_chat(self, case: Case) -> bytes:
        return chat.request_body(case.input, self.model, {**self.options, **case.request})

    def _read_chat(self, reply: HttpReply) -> Response:
        return chat.read(reply, tools_offered="tools" in self.options)
