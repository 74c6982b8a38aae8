"""JSON whose numbers may be NaN or Infinity, as Python's tools write it: whole, or a long list in
it item by item.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Generator, Iterator
from dataclasses import dataclass
from typing import NoReturn

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.json_rows import told
from gate.records import Json

_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Part:
    """A member of the object at the top; of a list that is read by item one item of it."""

    key: str
    data: Json
    line: int
    item: bool = False


def too_deep(value: Json, most: int = 200) -> bool:
    """Whether lists and objects lie deeper in each other than what is written later can bear."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for node in level
            if isinstance(node, (dict, list))
            for inner in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True


def whole(content: bytes, name: str) -> Json:
    """The one value; `name` is for messages. Raises InvalidInput with the line."""
    text = decode(content, name)
    at = _after_space(text, 0)
    value, end = _value(text, at, name)
    if text[end:].strip():
        _refuse(name, text, _after_space(text, end), "something follows the end of the value")
    return value


def parts(content: bytes, name: str, by_item: Container[str]) -> Iterator[Part]:
    """The members of one object in their order; those named `by_item` that are lists, item by item,
    so that no more than one is in memory. Raises InvalidInput with the line.
    """
    text = decode(content, name)
    at = _after_space(text, 0)
    if text[at : at + 1] != "{":
        _refuse(name, text, at, "no JSON object")
    seen: set[str] = set()
    lines = _Lines(text)
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "}":
        key, colon = _value(text, at, name)
        if not isinstance(key, str) or key in seen:
            _refuse(name, text, at, f"the key {str(key)[:80]!r} is here twice, or is no text")
        seen.add(key)
        at = _after_space(text, _expected(text, _after_space(text, colon), ":", name))
        if key in by_item and text[at : at + 1] == "[":
            at = yield from _items(text, at, key, name, lines)
        else:
            value, end = _value(text, at, name)
            yield Part(key, value, lines.at(at))
            at = end
        at = _next(text, at, "}", name)
    if text[at + 1 :].strip():
        _refuse(name, text, _after_space(text, at + 1), "something follows the end of the object")


def _items(text: str, at: int, key: str, name: str, lines: _Lines) -> Generator[Part, None, int]:
    """Those of the list that begins at `at`; returns where it ends."""
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "]":
        item, end = _value(text, at, name)
        yield Part(key, item, lines.at(at), item=True)
        at = _next(text, end, "]", name)
    return at + 1


def _next(text: str, at: int, closing: str, name: str) -> int:
    """Where the next member begins, or the closing bracket stands."""
    at = _after_space(text, at)
    if text[at : at + 1] == closing:
        return at
    at = _after_space(text, _expected(text, at, ",", name))
    if text[at : at + 1] == closing:
        _refuse(name, text, at, "a ',' with nothing behind it")
    return at


def _expected(text: str, at: int, sign: str, name: str) -> int:
    """Where what follows the sign begins."""
    if text[at : at + 1] != sign:
        _refuse(name, text, at, f"a {sign!r} is missing")
    return at + 1


def _value(text: str, at: int, name: str) -> tuple[Json, int]:
    """The value that begins there, and where it ends."""
    try:
        value, end = _decoder.raw_decode(text, at)
        if "\\ud" in text[at:end].lower():
            json.dumps(value, ensure_ascii=False).encode()
        return value, end
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated"):
            _refuse(name, text, len(text), "")
        _refuse(name, text, error.pos, told(error))
    except UnicodeEncodeError:
        _refuse(name, text, at, "half a character: a \\ud... escape without its pair")
    except (ValueError, RecursionError) as error:
        _refuse(name, text, at, told(error))


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _refuse(name: str, text: str, at: int, message: str) -> NoReturn:
    """Where the text ends, whatever is missing: it was cut off."""
    cut = not text[at:].strip()
    told_so = "cut off in the middle - copy it again, it is not whole" if cut else message
    if not text.strip():
        told_so = "empty - copy it again, or leave it out"
    raise InvalidInput([Problem(Place(name, text.count("\n", 0, at) + 1), told_so)])


class _Lines:
    """The line of one place after the other, counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def at(self, position: int) -> int:
        self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key '{twice[:80]}' is here twice - remove one")
    return found


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=float)
