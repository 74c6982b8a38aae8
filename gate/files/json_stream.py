"""JSON text, value by value with its line: one value, the items of a list, or an object whose long
lists come item by item. Nothing is lenient: no key twice, no half characters.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Container, Generator, Iterator
from dataclasses import dataclass
from typing import NoReturn

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.records import Json

CUT_OFF = "cut off in the middle - the file is incomplete; copy it again"
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the object at the top; of a list that is read by item one item of it."""

    key: str
    data: Json
    line: int
    item: bool = False


def is_too_deep(value: Json, most: int = 200) -> bool:
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


def decode_json(text: str) -> Json:
    """The one value in the text. Raises ValueError or RecursionError, see `explain_error`."""
    return _check_halves(STRICT.decode(text), text, 0, len(text))


# What Python's decoder says, in words for people who write JSON by hand.
_PLAIN = {
    "Expecting property name enclosed in double quotes": "a key in double quotes is expected",
    "Expecting value": "a value is expected; texts stand in double quotes",
    "Expecting ',' delimiter": "a ',' is missing",
    "Expecting ':' delimiter": "a ':' is missing",
    "Extra data": "something follows the end of the value",
    "Unterminated string starting at": "the closing quote of a text is missing",
}


def explain_error(error: Exception) -> str:
    """What a message says of what a decoder raised."""
    if isinstance(error, json.JSONDecodeError):
        what = _PLAIN.get(error.msg, error.msg)
        return f"not JSON: {what} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)


def parse_json(content: bytes, name: str, decoder: json.JSONDecoder | None = None) -> Json:
    """The one value of a file; `name` is for messages. Without a `decoder` STRICT reads it. Raises
    InvalidInput with the line.
    """
    text = decode(content, name)
    del content  # as large as the text
    at = _after_space(text, 0)
    value, end = _value(text, at, name, decoder or STRICT)
    if text[end:].strip():
        _refuse(name, text, _after_space(text, end), "unexpected text after the end of the value")
    return value


def iterate_members(content: bytes, name: str, by_item: Container[str]) -> Iterator[Member]:
    """The members of one object in their order, read by PYTHON; those named `by_item` that are
    lists, item by item, so that no more than one is in memory. Raises InvalidInput with the line.
    """
    text = decode(content, name)
    at = _after_space(text, 0)
    if text[at : at + 1] != "{":
        _refuse(name, text, at, "no JSON object")
    seen: set[str] = set()
    lines = _Lines(text)
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "}":
        key, colon = _value(text, at, name, PYTHON)
        if not isinstance(key, str) or key in seen:
            _refuse(name, text, at, f"the key {str(key)[:80]!r} appears twice, or is not a text")
        seen.add(key)
        colon = _after_space(text, colon)
        if text[colon : colon + 1] != ":":
            _refuse(name, text, colon, "a ':' is missing")
        at = _after_space(text, colon + 1)
        if key in by_item and text[at : at + 1] == "[":
            at = yield from _items(text, at, name, key, PYTHON, lines)
        else:
            value, end = _value(text, at, name, PYTHON)
            yield Member(key, value, lines.at(at))
            at = end
        at = _next(text, at, "}", name)
    if text[at + 1 :].strip():
        _refuse(
            name, text, _after_space(text, at + 1), "unexpected text after the end of the object"
        )


def iterate_items(text: str, opening: int, name: str, *, alone: bool = False) -> Iterator[Member]:
    """The items of the list whose bracket stands at `opening`, read by STRICT. `alone`: nothing may
    follow the list. Raises InvalidInput with the line.
    """
    end = yield from _items(text, opening, name, "", STRICT, _Lines(text))
    if alone and text[end:].strip():
        _refuse(name, text, end, "unexpected text after the end of the list")


def _items(
    text: str, at: int, name: str, key: str, decoder: json.JSONDecoder, lines: _Lines
) -> Generator[Member, None, int]:
    """Those of the list that begins at `at`; returns where it ends."""
    at = _after_space(text, at + 1)
    while text[at : at + 1] != "]":
        item, end = _value(text, at, name, decoder)
        yield Member(key, item, lines.at(at), item=True)
        at = _next(text, end, "]", name)
    return at + 1


def _next(text: str, at: int, closing: str, name: str) -> int:
    """Where the next member begins, or the closing bracket stands."""
    at = _after_space(text, at)
    if text[at : at + 1] == closing:
        return at
    if text[at : at + 1] != ",":
        _refuse(name, text, at, f"a ',' or the '{closing}' is missing")
    at = _after_space(text, at + 1)
    if text[at : at + 1] == closing:
        _refuse(name, text, at, "a ',' with nothing after it")
    return at


def _value(text: str, at: int, name: str, decoder: json.JSONDecoder) -> tuple[Json, int]:
    """The value that begins there, and where it ends."""
    try:
        value, end = decoder.raw_decode(text, at)
        return _check_halves(value, text, at, end), end
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated")
        _refuse(name, text, len(text) if cut else error.pos, explain_error(error))
    except (ValueError, RecursionError) as error:
        _refuse(name, text, at, explain_error(error))


def _check_halves(value: Json, text: str, begin: int, end: int) -> Json:
    """The same value. Raises ValueError where an escape such as \\ud83d stands in that part of the
    text, of which it was made, without its pair, which no UTF-8 can hold.
    """
    if text.find("\\ud", begin, end) >= 0 or text.find("\\uD", begin, end) >= 0:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(
                "an incomplete character: a \\ud... escape without its second half"
            ) from None
    return value


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _refuse(name: str, text: str, at: int, message: str) -> NoReturn:
    """Where the text ends, whatever is missing: it was cut off."""
    if not text[at:].strip():
        message = CUT_OFF
    if not text.strip():
        message = "empty - copy it again, or leave it out"
    raise InvalidInput([Problem(Place(name, text.count("\n", 0, at) + 1), message)])


class _Lines:
    """The line of one place after the other, counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def at(self, position: int) -> int:
        self._line += self._text.count("\n", self._at, position)
        self._at = position
        return self._line


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key '{twice[:80]}' appears twice - remove one")
    return members


def _refuse_constant(word: str) -> Json:
    raise ValueError(f"{word} is not JSON - leave the key out or write null")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is too large a number")
    return value


# What we and our datasets write.
STRICT = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_float=_finite_float, parse_constant=_refuse_constant
)
# What Python's tools write: NaN and Infinity are numbers.
PYTHON = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=float)
