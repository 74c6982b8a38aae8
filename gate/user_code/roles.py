"""What a process with user code is asked to do, by role. Runs in that process.

Each function takes what came as JSON and returns what goes back as JSON.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from types import FrameType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from gate.errors import AgentFailure, UsageError
from gate.user_code.loading import Workspace, load_object, note_sources, trace_lines

if TYPE_CHECKING:
    from gate.records import CheckedJson, Json

# Awaits what can be awaited, within so many seconds.
Finish = Callable[[object, float], object]

# Of which one is the answer in an answer object; that module would be loaded here for nothing else.
ANSWERS = ("answer", "output", "text")
_QUESTIONS = ("query", "question", "prompt")  # what a parameter is called that takes one
_DONE = ("done", "steps", "tool_calls", "trace", "trajectory", "messages", "usage")
_FIELDS = ("id", "doc_id", "document_id", "score", "text", "content", "page_content", "metadata")


class Unusable(Exception):
    """The code returned what cannot be taken; reads after "the agent" or "the grader"."""


class RequestHandler:
    """The user's objects that were loaded so far, and what can be asked of them."""

    def __init__(
        self, workspace: Workspace, *, judges: bool, reached: Callable[[str], None]
    ) -> None:
        """`judges`: the code has a say in the verdict, so installed packages come before the
        checkout, and the files that it consists of are noted.
        """
        self.workspace = workspace
        self._judges = judges
        self._reached = reached
        self._made: list[Any] = []
        self._told: tuple[tuple[int, int], Json] = (
            (0, 0),
            {},
        )  # files, when so much was loaded
        self._modules: dict[str, str] = {}  # name in gate.yml -> its module
        if judges:
            note_sources(workspace)

    def answer(self, request: list[CheckedJson], seconds: float, finish: Finish) -> object:
        """`request`: the name of a method here, without its prefix, and its arguments."""
        name, *arguments = request
        return getattr(self, f"do_{name}")(*arguments, seconds=seconds, finish=finish)

    def load(self, spec: str) -> object:
        loaded, module = load_object(spec, self.workspace, workspace_first=not self._judges)
        self._modules[spec] = module
        return loaded

    def keep(self, value: object) -> int:
        """The number by which later requests name it."""
        self._made.append(value)
        return len(self._made) - 1

    def do_trace(self, **_: object) -> None:
        trace_lines(self.workspace, self._reached)

    def do_files(self, **_: object) -> Json:
        """Files of the checkout, for each object that was loaded."""
        loaded_counts = (len(self._modules), len(self.workspace.files))
        if loaded_counts != self._told[0]:
            sources = importlib.import_module("gate.user_code.sources")
            self._told = loaded_counts, sources.files_by_object(self._modules, self.workspace)
        return self._told[1]

    def do_function(self, spec: str, **_: object) -> int:
        return self.keep(_callable(self.load(spec), spec))

    def do_agent(self, spec: str, **_: object) -> Json:
        """Its number, and whether it wants the question alone instead of the case."""
        function = _callable(self.load(spec), spec)
        return [self.keep(function), asks_by_text(function)]

    def do_retriever(self, spec: str, **_: object) -> int:
        loaded = self.load(spec)
        if isinstance(loaded, type):
            try:
                loaded = loaded()
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"[:200]
                message = f"'{spec}' cannot be created without arguments: {reason}"
                raise UsageError(message) from error
        search = getattr(loaded, "invoke", loaded)
        if not callable(search):
            raise UsageError(f"'{spec}' is not a function and has no `invoke` method")
        return self.keep(search)

    def do_call(self, of: int, argument: Json, *, seconds: float, finish: Finish) -> Json:
        return answer_of(finish(self._made[of](argument), seconds))

    def do_search(self, of: int, question: str, *, seconds: float, finish: Finish) -> object:
        return _documents(finish(self._made[of](question), seconds))

    def do_embed(self, of: int, texts: list[str], *, seconds: float, finish: Finish) -> Json:
        vectors: Any = finish(self._made[of](texts), seconds)
        return [[float(value) for value in vector] for vector in vectors]

    def do_match(
        self, pattern: str, flags: int, text: str, start: int, *, seconds: float, **_: object
    ) -> Json:
        with _alarm(seconds):
            match = re.compile(pattern, flags).search(text, start)
        return match and match.span()

    def do_explain(
        self,
        module: str,
        how: str,
        schema: Json,
        data: Json,
        *,
        seconds: float,
        **_: object,
    ) -> Json:
        """What of the data does not fit a JSON Schema with patterns, by a function of `module`."""
        with _alarm(seconds):
            mismatches = getattr(importlib.import_module(module), how)(schema, data)
        return [[list(one.path), one.message, one.rule, one.key] for one in mismatches]

    def do_role(self, module: str, *arguments: Json, **manner: object) -> object:
        """Whatever graders and suites as code need stands in a module of the gate's that other
        processes do not load; who asks names it.
        """
        return importlib.import_module(module).answer(self, *arguments, **manner)

    def object_of(self, of: int) -> Any:  # whoever asks knows which members it has
        return self._made[of]


def _callable(loaded: object, spec: str) -> Callable[..., object]:
    if not callable(loaded):
        raise UsageError(f"'{spec}' cannot be called")
    return loaded


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Python's `re` looks for signals while it searches, in the main thread: a pattern that takes
    for ever is ended there. Where there are no timers, the process is killed from outside.
    """
    if sys.platform == "win32":
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def asks_by_text(function: Callable[..., object]) -> bool:
    """Whether what it takes first is a question by its annotation, or, without one, by its name."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()))
    except (TypeError, ValueError, StopIteration):  # of C, or it takes nothing: the call will tell
        return False
    if first.kind is first.VAR_KEYWORD or first.kind is first.VAR_POSITIONAL:
        return False
    written = first.annotation
    return written in (str, "str") or (written is first.empty and first.name in _QUESTIONS)


def answer_of(result: object) -> Json:
    """A text, an object or a list as it is, a pair of an answer and what is known of it as one
    object; other things as the data that they hold.
    """
    if isinstance(result, (str, dict, list)):
        return result
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return _join_pair(result)
    try:
        data = _dump_value(result)
    except TypeError:
        data = None
    if isinstance(data, (str, dict, list)):
        return data
    kind = type(result).__name__
    raise Unusable(f"returned {kind}: return a text, or a dict with 'answer'")


def _join_pair(pair: tuple[object, ...]) -> dict[str, Json]:
    """`(answer, {"total_tokens": 123})` as an answer object. What the answer says of itself, being
    an object, wins.
    """
    own_answer, about = pair if len(pair) == 2 else (None, None)
    about = {} if about is None and len(pair) == 2 else _mapping(about)
    if about is None:
        kinds = ", ".join(type(one).__name__ for one in pair[:4])
        raise Unusable(
            f"returned a tuple ({kinds}): return a text, a dict with 'answer', or a pair of the "
            "answer and a dict such as {'total_tokens': 123}"
        )
    answer = answer_of(own_answer)
    if isinstance(answer, dict) and any(key in answer for key in ANSWERS):
        return {**about, **answer}
    return {**about, ANSWERS[0]: answer}


def _mapping(value: object) -> dict[str, Json] | None:
    if isinstance(value, Mapping):
        return dict(value)
    try:
        data = _dump_value(value)
    except TypeError:
        return None
    return data if isinstance(data, dict) else None


def find_done(error: BaseException) -> dict[str, Json]:
    """Attributes of an exception that say what the agent did before it, as far as JSON holds them:
    an agent's loop may hang them on whatever ends it. Empty where there are none.
    """
    done_parts = {}
    for name in _DONE:
        with suppress(Exception):  # a property that raises, or what JSON cannot hold
            value = getattr(error, name, None)
            if isinstance(value, (list, dict)) or (name == "usage" and value is not None):
                done_parts[name] = json.loads(encode_json(value))
    done = done_parts.pop("done", {})
    return {**done, **done_parts} if isinstance(done, dict) else done_parts


def encode_json(value: object) -> bytes:
    """The value as JSON. Raises Unusable for what JSON cannot hold."""
    try:
        return json.dumps(value, default=_dump_value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unusable(f"returned a value that JSON cannot hold: {error}") from error


def _dump_value(value: object) -> object:
    """Messages and answers of the clients of OpenAI, Anthropic and LangChain have `model_dump`;
    records, mappings and numpy's numbers are data as they are. Raises TypeError.
    """
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "_fields") and callable(as_dict := getattr(value, "_asdict", None)):
        return as_dict()
    if isinstance(value, Mapping):
        return dict(value)
    scalar = _scalar(value)
    if scalar is not value:
        return scalar
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _documents(result: object) -> list[object]:
    if not isinstance(result, (list, tuple)):
        raise AgentFailure(f"it returned {type(result).__name__}: return a list of documents")
    try:
        documents = [_document(one) for one in result]
        json.dumps(documents, allow_nan=False)
    except Exception as error:  # the documents are the user's own objects
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise AgentFailure(f"its documents cannot be read: {reason}") from error
    return documents


def _document(item: object) -> object:
    """An id, or {id, score, text} of a mapping or an object, LangChain's Document among them."""
    if isinstance(item, (str, Integral, UUID)):
        return _scalar(item)
    data = item if isinstance(item, dict) else {name: getattr(item, name, None) for name in _FIELDS}
    metadata = data.get("metadata")
    sources = [source for source in (data, metadata) if isinstance(source, dict)]
    ids = [_first(source, "id", "doc_id", "document_id") for source in sources]
    return {
        "id": _scalar(next((name for name in ids if name is not None), None)),
        "score": _scalar(data.get("score")),
        "text": _first(data, "text", "content", "page_content"),
    }


def _first(data: Mapping[str, object], *names: str) -> object:
    return next((data[name] for name in names if data.get(name) is not None), None)


def _scalar(value: object) -> object:
    """numpy's numbers and UUIDs as JSON has them."""
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return str(value) if isinstance(value, UUID) else value
