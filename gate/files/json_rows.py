"""JSON as datasets have it: JSON Lines and lists with the line of each case, and nothing lenient:
no key twice, no NaN, no half characters.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import BinaryIO

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode, foreign_mark
from gate.files.source import Row, Rows
from gate.records import Json


def cases(stream: BinaryIO, name: str) -> Rows:
    """A list when the first sign is `[`, otherwise one case a line, whatever the suffix says."""
    number = 0
    for line in stream:
        number += 1
        if line.strip(b"\xef\xbb\xbf \t\r\n"):
            break
    else:
        return
    if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from _list(b"\n" * (number - 1) + line + stream.read(), name)
        return
    yield from _line(line, name, number)
    if foreign_mark(line) and number == 1:
        return
    for later, line in enumerate(stream, number + 1):
        yield from _line(line, name, later)


def decoded(text: str) -> Json:
    """The one value in the text. Raises ValueError or RecursionError, see `told`."""
    return _whole(_one_line.decode(text), text)


def told(error: Exception) -> str:
    """What a message says of either."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return str(error)


def _line(line: bytes, name: str, number: int) -> Rows:
    try:
        text = decode(line, name, line=number).strip()
        if text:
            yield Row(line=number, data=_whole(_one_line.decode(text), text))
    except InvalidInput as error:
        yield from error.problems
    except (ValueError, RecursionError) as error:
        yield Problem(Place(name, number), told(error))


def _list(content: bytes, name: str) -> Rows:
    try:
        text = decode(content, name)
    except InvalidInput as error:
        yield from error.problems
        return
    yield from items(text, text.index("["), name, alone=True)


def items(text: str, opening: int, name: str, *, alone: bool = False) -> Rows:
    """The items of the list whose bracket stands at `opening`, each with its line. `alone`: nothing
    may follow the list.
    """
    seen = opening + 1
    line = text.count("\n", 0, seen) + 1
    start = _after_space(text, seen)
    while text[start : start + 1] != "]":
        line += text.count("\n", seen, start)
        try:
            data, seen = _one_line.raw_decode(text, start)
            yield Row(line=line, data=_whole(data, text[start:seen]))
            line += text.count("\n", start, seen)
            start = _next_item(text, seen)
        except json.JSONDecodeError as error:
            yield Problem(Place(name, error.lineno), told(error))
            return
        except (ValueError, RecursionError) as error:
            yield Problem(Place(name, line), told(error))
            return
    if alone and text[start + 1 :].strip():
        yield Problem(Place(name, line), "something follows the end of the list")


def _next_item(text: str, position: int) -> int:
    """Where the next item or the closing bracket stands."""
    start = _after_space(text, position)
    sign = text[start : start + 1]
    if sign not in (",", "]"):
        raise json.JSONDecodeError("a ',' or the ']' of the list is missing", text, start)
    if sign == "]":
        return start
    following = _after_space(text, start + 1)
    if text[following : following + 1] == "]":
        raise json.JSONDecodeError("a ',' without a case behind it", text, start)
    return following


def _after_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _whole(data: Json, text: str) -> Json:
    """`data`, unless an escape such as \\ud83d stands without its pair, which no UTF-8 can hold."""
    if "\\ud" in text or "\\uD" in text:
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half a character: a \\ud... escape without its pair") from None
    return data


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key '{twice}' is here twice - remove one")
    return found


def _not_a_number(word: str) -> Json:
    raise ValueError(f"{word} is not JSON - leave the key out or write null")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


_one_line = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_not_a_number
)
