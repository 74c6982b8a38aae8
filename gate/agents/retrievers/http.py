"""A retriever behind any HTTP address: what to send and where the documents stand, in gate.yml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gate.agents.http_client.reply import HttpReply
from gate.agents.http_client.route import format_address
from gate.agents.protocols.http import Exchange, check, list_case_keys
from gate.agents.wire import answer, template
from gate.errors import AgentFailure
from gate.plugins import RETRIEVERS, Connection, OptionPath, World
from gate.records import Json, Response

_LISTS = ("retrieved", "documents", "results")  # of a body without a path


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPaths:
    """Where things stand: `documents` in the answer, the others in each of the documents. Keys and
    positions with dots between, `hits.hits`.
    """

    documents: str | None = None
    id: str | None = None
    score: str | None = None
    text: str | None = None


@RETRIEVERS.register("http")
@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRetriever:
    """Any address: a JSON template for the request, dotted paths to the documents.

    Without `response` the answer is a list of ids or of `{id, score, text}`, best first, or an
    object that has it as `retrieved`, `documents` or `results`.
    """

    url: str = field(repr=False)
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Json = field(default_factory=lambda: {"query": "{{question}}"}, repr=False)
    response: DocumentPaths = DocumentPaths()
    api_key_env: str | None = None
    timeout_s: float = 60.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    adaptive: bool = True

    def describe(self) -> str:
        return f"http at {format_address(self.url)}"

    def check(self, world: World) -> None:
        check(self, world)

    @property
    def case_keys(self) -> Sequence[tuple[OptionPath, str]]:
        return list_case_keys(self)

    def connect(self, world: World) -> Connection:
        return Exchange(self, world, lambda reply: self._read_reply(reply, world.section))

    def _read_reply(self, reply: HttpReply, section: str) -> Response:
        documents = self._document_list(answer.json_of(reply), section, reply.address)
        paths = [(key, getattr(self.response, key)) for key in ("id", "score", "text")]
        named = [(key, path, f"{section}.response.{key}") for key, path in paths if path]
        if named and isinstance(documents, list):
            documents = [
                {k: template.at(hit, path, where) for k, path, where in named} for hit in documents
            ]
        where = self.response.documents or "the documents"
        return Response(answer="", retrieved=answer.documents(documents, where))

    def _document_list(self, data: Json, section: str, address: str) -> Json:
        if self.response.documents is not None:
            where = f"{section}.response.documents"
            documents = template.at(data, self.response.documents, where)
        else:
            documents = answer.first(data, *_LISTS) if isinstance(data, dict) else data
        if documents is None:
            raise AgentFailure(
                f"{address} answered without a list of documents - set "
                f"{section}.response.documents to the path of the list in the answer"
            )
        return documents
