"""A retriever in Python: a function from a question to documents, or an object with `invoke`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any
from uuid import UUID

from gate.agents.python import Calls, loaded
from gate.errors import AgentFailure, UsageError
from gate.once import Once
from gate.plugins import RETRIEVERS, Connection, World
from gate.records import Case, Json, Response
from gate.text import one_line
from gate.wire import answer

Search = Callable[[str], Any]

_FIELDS = ("id", "doc_id", "document_id", "score", "text", "content", "page_content", "metadata")


class _Sharing:
    """A place for what is made once a run; a dataclass field would be an option."""

    __slots__ = ("_search",)
    _search: Once[Search]


@RETRIEVERS.register("python")
@dataclass(frozen=True, slots=True, kw_only=True)
class Python(_Sharing):
    """Calls `module:attribute` or `./file.py:attribute` with the question, plain or async: a
    function, an object with `invoke`, or a class of one, which is made once for all workers.
    """

    callable: str
    timeout_s: float = 60.0
    concurrency: int = 16
    requests_per_minute: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_search", Once())

    def describe(self) -> str:
        return f"python {self.callable}"

    def check(self, world: World) -> None:
        """Raises UsageError: what is wrong here is wrong in gate.yml or in the user's file."""
        self._search.get(lambda: self._load(world))

    def connect(self, world: World) -> Connection:
        return _Connection(self._search.get(lambda: self._load(world)), world.section)

    def _load(self, world: World) -> Search:
        found, where = loaded(self.callable, world), f"{world.section}.callable: '{self.callable}'"
        if isinstance(found, type):
            try:
                found = found()
            except Exception as error:  # the user's own code
                said = one_line(f"{type(error).__name__}: {error}", 200)
                raise UsageError(f"{where} cannot be made without arguments: {said}") from error
        search = getattr(found, "invoke", found)
        if not callable(search):
            raise UsageError(f"{where} is neither a function nor has it `invoke`")
        return search  # type: ignore[no-any-return]


class _Connection:
    def __init__(self, search: Search, section: str) -> None:
        self._calls = Calls(search, section)

    def ask(self, case: Case, *, timeout_s: float) -> Response:
        found = self._calls.call(case.question, timeout_s)
        return Response(answer="", retrieved=answer.documents(_plain(found), "the documents"))

    def close(self) -> None:
        self._calls.close()


def _plain(found: Any) -> Json:
    """The documents as JSON. Raises AgentFailure."""
    if not isinstance(found, (list, tuple)):
        raise AgentFailure(f"it returned {type(found).__name__}: return a list of documents")
    try:
        return answer.parse(json.dumps([_document(one) for one in found], allow_nan=False).encode())
    except Exception as error:  # the documents are the user's own objects
        said = one_line(f"{type(error).__name__}: {error}", 200)
        raise AgentFailure(f"its documents cannot be read: {said}") from error


def _document(one: Any) -> Json:
    """An id, or {id, score, text} of a mapping or an object, LangChain's Document among them."""
    if isinstance(one, (str, Integral, UUID)):
        return _scalar(one)
    data = one if isinstance(one, dict) else {name: getattr(one, name, None) for name in _FIELDS}
    metadata = data.get("metadata")
    ids = [source for source in (data, metadata) if isinstance(source, dict)]
    names = [answer.first(source, "id", "doc_id", "document_id") for source in ids]
    return {
        "id": _scalar(next((name for name in names if name is not None), None)),
        "score": _scalar(data.get("score")),
        "text": answer.first(data, "text", "content", "page_content"),
    }


def _scalar(value: Any) -> Json:
    """numpy's numbers and UUIDs as JSON has them."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return str(value) if isinstance(value, UUID) else value
