"""`messages`: conversations as OpenAI, Anthropic, LangChain and LangGraph write them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, TypeGuard

from gate.agents.traces.detecting import is_whole, shape_of, unwrap_message
from gate.agents.traces.otel_sdk import is_span
from gate.agents.traces.reading import read_trace
from gate.agents.traces.trace import Trace
from gate.agents.traces.values import content_text
from gate.errors import AgentFailure, Place, Problem, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_object
from gate.files.plain import JsonLine, json_lines, json_of, plain, source_files
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.importers.trials.build import ToolSuite, check_number, provenance_of
from gate.importers.trials.conversations import response_of
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Json, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.figures import count
from gate.text.shortening import tidy

_ENVELOPE = frozenset(  # keys of an object that holds a conversation of no other tool
    (
        *("id", "name", "messages", "model", "usage", "system", "tools", "metadata", "tool_choice"),
        *("responses", "temperature", "finish_reason", "stop_reason", "parallel_tool_calls"),
    )
)
_EXPECTED = ("expected_answer", "expected")
_MOST_ID = 200  # characters


@IMPORTERS.register("messages")
@dataclass(frozen=True, slots=True, kw_only=True)
class Messages:
    """`id`: the key of an item that names its case; `passed`: the one that says whether it passed;
    `suite`: instead of the name of the file or folder.
    """

    id: str = ""
    passed: str = ""
    suite: str = ""

    reads: ClassVar[str] = "JSON or JSON Lines of conversations, or a folder of such files"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        """Whole responses, bare messages, or objects with messages and nothing of another tool."""
        found = found.inside or found
        item = found.item
        if is_whole(item):
            return not is_span(item) and not any(
                map(found.has, ("resourceSpans", "spanId", "span_id"))
            )
        if isinstance(found.first, list):
            return is_message(item) and ("content" in item or unwrap_message(item) is not None)
        held = item.get("messages") if isinstance(item, dict) and _is_plain(item) else None
        return isinstance(held, list) and bool(held) and all(map(is_message, held))

    def read(self, path: Path) -> Imported:
        files = source_files(path, SUFFIXES)
        checked = _check_conversations(files, path, self)
        suite = ToolSuite(TOOL, suite_name(self.suite or path.resolve().name.split(".")[0], TOOL))
        models = sorted(checked.models)
        agent = ", ".join(models[:3]) + (", ..." if len(models) > 3 else "")
        judged = (
            dict.fromkeys(("success", "first_success"), f"{TOOL}: {tidy(self.passed, 80)}")
            if self.passed
            else {}
        )
        return Imported(
            files=files,
            provenance=provenance_of(TOOL, agent or TOOL),
            suites={
                suite.name: ImportedSuite(
                    rounds=max(checked.times.values()),
                    cases=len(checked.times),
                    dataset="conversations",
                    graders=judged,
                )
            },
            trials=lambda: _trials(files, path, self, suite),
            notes=tuple(_notes(checked)),
        )

    def case_id(self, stored: StoredConversation) -> str:
        """Raises AgentFailure for an id of a wrong type, or where the named key is not there."""
        if self.id and self.id not in stored.item:
            raise AgentFailure(f"has no {tidy(self.id, 80)}, the key of --option id")
        keys = (self.id,) if self.id else ("id", "name")
        ids = (stored.item[key] for key in keys if stored.item.get(key) is not None)
        case = next(ids, stored.name)
        if isinstance(case, bool) or not isinstance(case, (str, int)) or not str(case).strip():
            raise AgentFailure("its id is not a string or a number")
        if len(str(case)) > _MOST_ID:
            raise AgentFailure(f"its id has more than {_MOST_ID} characters")
        return str(case)

    def opinion(self, stored: StoredConversation) -> bool | None:
        """Raises AgentFailure for one that is neither true nor false."""
        opinion = stored.item.get(self.passed) if self.passed else None
        if opinion is None or isinstance(opinion, bool):
            return opinion
        raise AgentFailure(f"{tidy(self.passed, 80)} is not true, false or null")


def _is_plain(item: Mapping[str, Json]) -> bool:
    """Whether nothing stands beside the messages that another tool has, such as scores."""
    beside = (value for key, value in item.items() if key not in _ENVELOPE)
    return not any(isinstance(value, (dict, list)) for value in beside)


@dataclass(slots=True)
class _ConversationTotals:
    times: Counter[str] = field(default_factory=Counter)  # case -> how often it is there
    models: dict[str, None] = field(default_factory=dict)
    raw: int = 0  # calls whose arguments are no JSON
    unknown: int = 0  # without a question


def _check_conversations(
    files: tuple[Path, ...], path: Path, options: Messages
) -> _ConversationTotals:
    """Raises InvalidInput with everything that is wrong, UsageError where there is nothing."""
    findings, totals = Findings(), _ConversationTotals()
    for number, one in enumerate(_each(files, path, findings), 1):
        check_number(number, path.as_posix())
        try:
            trace, case = trace_in(one.data), options.case_id(one)
            options.opinion(one)
        except AgentFailure as failure:
            findings.add(one.place, tidy(f"{failure} - correct it, or remove it", 500))
            continue
        totals.times[case] += 1
        totals.unknown += not question_in(one.data)
        totals.raw += sum(step.raw_arguments is not None for step in trace.steps or ())
        if trace.model and len(totals.models) < 10:
            totals.models[tidy(trace.model, 80)] = None
        if totals.times[case] == MOST_ROUNDS + 1:
            message = f"more than {MOST_ROUNDS:,} conversations of one case"
            findings.add(one.place, f"{message} - give each case its own id: --option id=KEY")
    findings.refuse()
    if not totals.times:
        raise UsageError(f"{path}: has no conversation; give a file of messages")
    return totals


def _each(files: tuple[Path, ...], path: Path, findings: Findings) -> Iterator[StoredConversation]:
    for file in files:
        with findings.taking():
            yield from findings.keep_good(conversations((file,), path))


def _trials(
    files: tuple[Path, ...], path: Path, options: Messages, suite: ToolSuite
) -> Iterator[Trial]:
    times: Counter[str] = Counter()
    for one in refuse_problems(conversations(files, path)):
        case = options.case_id(one)
        times[case] += 1
        yield suite.trial(
            suite.case(case, input=question_in(one.data), keys=_expected(one.item)),
            round=times[case],
            passed=options.opinion(one),
            response=response_of(trace_in(one.data)),
        )


def _expected(item: Mapping[str, Json]) -> dict[str, Json]:
    """What stands beside the messages as the answer that was to come."""
    answer = next((item[key] for key in _EXPECTED if item.get(key) is not None), None)
    plain = isinstance(answer, (str, int, float)) and not isinstance(answer, bool)
    return {"expected_answer": answer} if plain else {}


def _notes(totals: _ConversationTotals) -> Iterator[str]:
    again = sum(n > 1 for n in totals.times.values())
    if again:
        yield f"{count(again, 'case')} with several conversations, which are the rounds, in order"
    if totals.raw:
        yield f"{count(totals.raw, 'tool call')} with arguments that are not JSON, kept as text"
    if totals.unknown:
        unknown = count(totals.unknown, "conversation")
        yield f"{unknown} without a message of a user, so without a question"


TOOL = "messages"
_USERS = ("user", "human")


def trace_in(data: Json) -> Trace:
    """Raises AgentFailure, also for what is no messages."""
    shape = shape_of(data)
    if shape is not None and shape[0] in ("otel", "openagent"):
        named = "`gate import otel`" if shape[0] == "otel" else "`trace: openagent`"
        raise AgentFailure(f"is a trace, not a conversation; read it with {named}")
    return read_trace(data)


def question_in(data: Json) -> str:
    """The first message of a user; empty where there is none."""
    if isinstance(data, dict) and isinstance(data.get("input"), str):
        return str(data["input"])
    for message in _messages(data, 4):
        users = message.get("role") in _USERS or message.get("type") in _USERS
        if users and (text := content_text(message.get("content"))):
            return text
    return ""


def _messages(data: Json, depth: int) -> Iterator[Mapping[str, Json]]:
    """Every message in it, in order, whichever shape holds it."""
    for one in data if isinstance(data, list) else [data]:
        if isinstance(one, list) and depth:
            yield from _messages(one, depth - 1)
        if not isinstance(one, dict):
            continue
        unwrapped = unwrap_message(one)
        if unwrapped is not None and "role" not in one:
            yield {"type": unwrapped[0], "content": unwrapped[1].get("content")}
        elif isinstance(one.get("role"), str):
            yield one
        elif depth:
            held: list[Json] = [one[key] for key in HELD if isinstance(one.get(key), list)]
            nodes = [inner for inner in one.values() if isinstance(inner, dict)]
            for inner in held[:1] or nodes:
                yield from _messages(inner, depth - 1)


# ------------------------------------------------------------------------------------ conversations


SUFFIXES = (".json", ".jsonl", ".ndjson")
MOST_FILE = 256 << 20  # bytes of a file that is one value
# Where an object may have its conversation, beside what shapes have themselves.
HELD = ("messages", "responses", "items", "output", "input", "trace", "trajectory", "conversation")
_PEEK = 1 << 20  # bytes of a first line that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """`name`: its file's, and its place there. `item`: the object it came in, or {}."""

    place: Place
    name: str
    data: Json
    item: Mapping[str, Json]


def conversations(files: Sequence[Path], root: Path) -> Iterator[StoredConversation | Problem]:
    """The conversations of all files in order. Raises InvalidInput for a file that is no JSON."""
    for path in files:
        name = path.relative_to(root).as_posix() if path != root else path.name
        name = name.rsplit(".", 1)[0]
        before = "" if path == root else f"{name}:"
        if _is_lines(path):
            yield from _read_lines(path, name, before)
        else:
            yield from _read_value(path, name, before)


def _is_lines(path: Path) -> bool:
    """Whether each line is a value: by the ending, else by the first line and what follows."""
    if path.name.lower().endswith(SUFFIXES[1:]):
        return True
    with plain(path).open("rb") as file:
        line = file.readline(_PEEK)
        if not file.read(_PEEK).strip():
            return False
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(line), (dict, list))
    return False


def _read_lines(path: Path, name: str, before: str) -> Iterator[StoredConversation | Problem]:
    """A conversation a line; or all of them one, where each line is but a message. `before`: what
    the names of single lines begin with.
    """
    first = next(json_lines(path), None)
    if isinstance(first, JsonLine) and is_message(first.data):
        if path.stat().st_size > MOST_FILE:
            message = "one conversation of more than 256 MB - shorten it, or remove it"
            yield Problem(Place(path.as_posix()), message)
            return
        lines = list(json_lines(path))
        wrong = [line for line in lines if isinstance(line, Problem)]
        values = [line.data for line in lines if not isinstance(line, Problem)]
        yield from wrong or _read_one(values, Place(path.as_posix()), name)
        return
    for line in json_lines(path):
        if isinstance(line, Problem):
            yield line
        else:
            yield from _read_one(line.data, line.place, f"{before}line-{line.place.line}")


def _read_value(path: Path, name: str, before: str) -> Iterator[StoredConversation | Problem]:
    """A conversation, or a list of them."""
    data, file = json_of(path, MOST_FILE), path.as_posix()
    if not isinstance(data, list) or is_one(data):
        yield from _read_one(data, Place(file), name)
        return
    for n, item in enumerate(data):
        yield from _read_one(item, Place(file, key=f"[{n}]"), f"{before}item-{n + 1}")


def _read_one(data: Json, place: Place, name: str) -> Iterator[StoredConversation | Problem]:
    if is_too_deep(data):
        yield Problem(place, "nested too deeply - correct it, or remove it")
        return
    item = data if isinstance(data, dict) and not is_whole(data) else {}
    held = held_in(item) if item else data
    if held is None or shape_of(held) is None:
        yield Problem(place, "not a conversation of a known format - see docs/import.md#messages")
    else:
        yield StoredConversation(place=place, name=name, data=held, item=item)


def held_in(item: dict[str, Json]) -> Json:
    """The conversation: the object, what is under a key, or request and response; None: none."""
    sent, back = item.get("request"), item.get("response")
    if isinstance(sent, dict) and isinstance(back, dict):
        asked: Json = next((sent[k] for k in ("messages", "input") if k in sent), [])
        texts = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        return [*texts, back] if isinstance(texts, list) else None
    if shape_of(item) is not None:
        return item
    inner = (item[key] for key in HELD[-3:] if isinstance(item.get(key), (list, dict)))
    return next((one for one in inner if shape_of(one) is not None), None)


def is_message(value: Json) -> TypeGuard[dict[str, Json]]:
    """Whether it is one message or item of a conversation, and no more."""
    if not isinstance(value, dict) or is_whole(value) or any(key in value for key in HELD[:3]):
        return False
    return (
        isinstance(value.get("role"), str) or unwrap_message(value) is not None or _is_item(value)
    )


def _is_item(value: Mapping[str, Json]) -> bool:
    shape = shape_of([dict(value)])
    return shape is not None and shape[0] == "openai_responses" and "type" in value


def is_one(items: Sequence[Json]) -> bool:
    """Whether the items are one conversation: messages, or the growing states of a graph."""
    if not items:
        return False
    if all(is_message(one) or is_whole(one) for one in items):
        return True
    if shape_of(list(items)) != ("langgraph", True):
        return False
    held = [as_object(item).get("messages") for item in items]
    states = [state for state in held if isinstance(state, list)]
    if len(states) < len(items):
        return not states
    grows = all(later[: len(earlier)] == earlier for earlier, later in pairwise(states))
    return grows and len(states[-1]) > len(states[0])
