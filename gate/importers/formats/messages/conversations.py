"""Where a conversation begins and ends: a file, an item of its list, or a line of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gate.agents.traces.detecting import is_whole, shape_of, unwrap_message
from gate.errors import Place, Problem, UsageError
from gate.files.json_stream import is_too_deep
from gate.files.json_values import as_object
from gate.files.plain import files_below, json_lines, json_of, plain
from gate.records import Json

SUFFIXES = (".json", ".jsonl", ".ndjson")
MOST_FILE = 256 << 20  # bytes of a file that is one value
# Where an object may have its conversation, beside what shapes have themselves.
HELD = ("messages", "responses", "items", "output", "input", "trace", "trajectory", "conversation")
_PEEK = 1 << 20  # bytes of a first line that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """`name`: of its file, and where that has several its place in it. `item`: the object that it
    came in, with its id and what else is told of it; empty where there is none.
    """

    place: Place
    name: str
    data: Json
    item: Mapping[str, Json]


def source_files(path: Path) -> tuple[Path, ...]:
    """The file itself, or those of a folder by their endings. Raises UsageError."""
    if path.is_symlink() or not path.is_dir():
        return (plain(path),)
    found = tuple(one for one in files_below(path) if one.name.lower().endswith(SUFFIXES))
    if not found:
        raise UsageError(f"{path}: no file in it ends in {', '.join(SUFFIXES)}")
    return found


def conversations(files: Sequence[Path], root: Path) -> Iterator[StoredConversation | Problem]:
    """The conversations of all files in order. Raises InvalidInput for a file that is no JSON."""
    for path in files:
        name = path.relative_to(root).as_posix() if path != root else path.name
        name = name.rsplit(".", 1)[0]
        if _is_lines(path):
            yield from _read_lines(path, name, alone=path == root)
        else:
            yield from _read_value(json_of(path, MOST_FILE), path, name, alone=path == root)


def _is_lines(path: Path) -> bool:
    """By the ending; else where the first line is a value, and something follows."""
    if path.name.lower().endswith(SUFFIXES[1:]):
        return True
    with plain(path).open("rb") as file:
        line = file.readline(_PEEK)
        if not file.read(_PEEK).strip():
            return False
    try:
        return isinstance(json.loads(line), (dict, list))
    except (ValueError, RecursionError):
        return False


def _read_lines(path: Path, name: str, *, alone: bool) -> Iterator[StoredConversation | Problem]:
    """A conversation a line; or all of them one, where each line is but a message."""
    first = next(json_lines(path), None)
    if first is not None and not isinstance(first, Problem) and is_message(first.data):
        if path.stat().st_size > MOST_FILE:
            yield Problem(Place(path.as_posix()), "one conversation of over 256 MB - split it")
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
            number = f"line-{line.place.line}"
            yield from _read_one(line.data, line.place, number if alone else f"{name}:{number}")


def _read_value(
    data: Json, path: Path, name: str, *, alone: bool
) -> Iterator[StoredConversation | Problem]:
    place = Place(path.as_posix())
    if not isinstance(data, list) or is_one(data):
        yield from _read_one(data, place, name)
        return
    for n, item in enumerate(data):
        own = Place(path.as_posix(), key=f"[{n}]")
        yield from _read_one(item, own, f"item-{n + 1}" if alone else f"{name}:item-{n + 1}")


def _read_one(data: Json, place: Place, name: str) -> Iterator[StoredConversation | Problem]:
    if is_too_deep(data):
        yield Problem(place, "nested too deeply - no conversation is")
        return
    item = data if isinstance(data, dict) and not is_whole(data) else {}
    held = held_in(item) if item else data
    if held is None or shape_of(held) is None:
        yield Problem(place, "no conversation of a known shape - see docs/import.md#messages")
    else:
        yield StoredConversation(place=place, name=name, data=held, item=item)


def held_in(item: dict[str, Json]) -> Json:
    """What an object has as its conversation: itself, what stands under a key, or what was sent
    and what came back; None: nothing.
    """
    sent, back = item.get("request"), item.get("response")
    if isinstance(sent, dict) and isinstance(back, dict):
        asked: Json = next((sent[k] for k in ("messages", "input") if k in sent), [])
        texts = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        return [*texts, back] if isinstance(texts, list) else None
    if shape_of(item) is not None:
        return item
    inner = (item[key] for key in HELD[-3:] if isinstance(item.get(key), (list, dict)))
    return next((one for one in inner if shape_of(one) is not None), None)


def is_message(value: Json) -> bool:
    """Whether it is one message or item of a conversation, and no more."""
    if not isinstance(value, dict) or is_whole(value) or any(key in value for key in HELD[:3]):
        return False
    return (
        isinstance(value.get("role"), str) or unwrap_message(value) is not None or _is_item(value)
    )


def _is_item(value: Mapping[str, Json]) -> bool:
    found = shape_of([dict(value)])
    return found is not None and found[0] == "openai_responses" and "type" in value


def is_one(items: Sequence[Json]) -> bool:
    """Whether a list is one conversation: messages and responses in turn, what a graph's nodes
    added, or its states, of which each begins as the one before.
    """
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
