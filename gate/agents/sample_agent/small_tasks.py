"""Small tasks that need no documents: the prompt itself holds what the answer is made of.

Each rule reads one form of sentence and returns None for any other; nothing here knows a fact of
the world. A question that no rule reads is one for the analyst.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable

from gate.agents.sample_agent.arithmetic import evaluate
from gate.records import Json

_LONGEST = 2_000  # characters of a prompt that is a small task
_COUNT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_JSON = re.compile(r"\bJSON\b")
_QUOTED = re.compile(r'"(\w+)"')
_WITH = re.compile(
    r"\bJSON\b(?: \w+){0,3}? with (?:the )?(?:keys? )?(\w[\w, ]{0,99}?)(?=[.:]| and values | of \d)"
)
_USE = re.compile(r"\bUse ([^.\n]+)\.?\s*\Z")
_VALUES = re.compile(r"\bvalues ([\w., -]+?)\.?\s*\Z")
_PAIR = re.compile(r"\bkey (\w+)=(\w+)")
_OPERANDS = re.compile(r"\bof (\d+) and (\d+)\b")
_ARRAY = re.compile(r"\bJSON array\b[^:]*:\s*([^.\n]+)\.?\s*\Z")
_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_CALCULATION = re.compile(
    rf"(?:What is|Calculate|Compute|only:)\s*{_NUMBER}\s*"
    rf"([-+*/]|x|times|plus|minus|divided by|to the power of)\s*{_NUMBER}\b",
)
_ROOT = re.compile(rf"\bsquare root of {_NUMBER}\b")
_SIGNS = {"x": "*", "times": "*", "plus": "+", "minus": "-", "divided by": "/"}
_CHOICE = re.compile(r"\b(?:Output|Reply|Answer|Respond)(?: with)?(?: only)? (\w+) or (\w+)\b")
_PRIME = re.compile(r"\bIs (\d{1,9}) a prime number\b")
_ORDER = re.compile(rf"\bIs {_NUMBER} (greater|larger|less|smaller) than {_NUMBER}\b")
_CAPITALS = re.compile(r"\bWrite the word (\w+) in capital letters\b")
_ECHO = re.compile(r"""\b(?:Reply|Answer|Respond) with exactly:? ["']?([^"'.\n]+)""")
_SORT = re.compile(r"\bSort these words\b[^:]*:\s*([^.\n]+)")
_COUNTING = re.compile(r"\bCount (?:down|up)? ?from (\d{1,3}) to (\d{1,3})\b")
_TIME = re.compile(r"\b[Ww]hat time is it\b|\bcurrent (?:date|time)\b")
_SETTINGS = re.compile(r"\bname=value\b[^:]*:\s*([^.\n]+)")


def answer(text: str) -> str | None:
    """The answer of the first rule that reads the prompt."""
    if len(text) > _LONGEST:
        return None
    return next((said for rule in _RULES if (said := rule(text)) is not None), None)


def parse_line_request(text: str) -> tuple[str, int] | None:
    """The prefix and the number of the lines that the prompt asks for."""
    if len(text) > _LONGEST:
        return None
    prefix = re.search(r"""\blines?\b[^.\n]{0,30}? starts? with ["']([^"'\n]{1,9})["']""", text)
    number = re.search(
        rf"\b(\d|{'|'.join(_COUNT)}) (?=\w)", text[: prefix.start() if prefix else 0]
    )
    if not prefix or not number:
        return None
    word = number[1]
    return prefix[1], int(word) if word.isdigit() else _COUNT.index(word) + 1


def asks_the_time(text: str) -> bool:
    return len(text) <= _LONGEST and bool(_TIME.search(text))


def _object(text: str) -> str | None:
    """A JSON object of values that the prompt states."""
    pair = _PAIR.search(text) if _JSON.search(text) else None
    if pair:
        return json.dumps({pair[1]: _value(pair[2])})
    keys = _keys(text)
    values = _values_in_order(text, len(keys)) or _values_by_key(text, keys)
    return json.dumps(dict(zip(keys, values, strict=True))) if keys and values else None


def _keys(text: str) -> list[str]:
    if not _JSON.search(text):
        return []
    quoted = _QUOTED.findall(text) if "key" in text else []
    named = _WITH.search(text)
    listed = _SEPARATOR.split(named[1].strip()) if named else []
    return list(dict.fromkeys(quoted or [key for key in listed if key.isidentifier()]))


def _values_in_order(text: str, count: int) -> list[Json] | None:
    """Values in the order of the keys."""
    match = _USE.search(text) or _VALUES.search(text)
    values = _SEPARATOR.split(match[1].strip()) if match else []
    return [_value(value) for value in values] if count and len(values) == count else None


def _values_by_key(text: str, keys: list[str]) -> list[Json] | None:
    """Values that stand beside their key, or that are computed; null where that is allowed."""
    values = []
    for key in keys:
        stated = re.search(rf"\bthe {re.escape(key)} is ([^,.\n]+)", text)
        computed = _compute_value(key, text)
        if not stated and computed is None and "null" not in text:
            return None
        values.append(_value(stated[1]) if stated else computed)
    return values if any(value is not None for value in values) else None


def _compute_value(key: str, text: str) -> Json:
    signs = {"sum": "+", "difference": "-", "product": "*"}
    match = _OPERANDS.search(text)
    return int(evaluate(f"{match[1]} {signs[key]} {match[2]}")) if match and key in signs else None


def _array(text: str) -> str | None:
    match = _ARRAY.search(text)
    values = _SEPARATOR.split(match[1].strip()) if match else []
    plain = values and all(re.fullmatch(r"[\w.-]+", value) for value in values)
    return json.dumps([_value(value) for value in values]) if plain else None


def _value(text: str) -> Json:
    if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?|true|false|null", text):
        value: Json = json.loads(re.sub(r"^(-?)0+(?=\d)", r"\1", text))
        return value
    return text.strip("\"'")


def _calculation(text: str) -> str | None:
    root, match = _ROOT.search(text), _CALCULATION.search(text)
    if root and float(root[1]) >= 0:
        return _format_number(math.sqrt(float(root[1])))
    if not match:
        return None
    if match[2] == "to the power of":
        base, exponent = float(match[1]), float(match[3])
        return _format_number(base**exponent) if 0 < base <= 100 and 0 <= exponent <= 20 else None
    sign = _SIGNS.get(match[2], match[2])
    try:
        return _format_number(evaluate(f"{match[1]} {sign} {match[3]}"))
    except ValueError as error:
        return str(error)


def _format_number(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.6g}"


def _choice(text: str) -> str | None:
    """One of two words: by what can be computed; the first where nothing is asked."""
    words = _CHOICE.search(text)
    if not words:
        return None
    prime, order = _PRIME.search(text), _ORDER.search(text)
    if prime:
        holds = _is_prime(int(prime[1]))
    elif order:
        first, second = float(order[1]), float(order[3])
        holds = first > second if order[2] in ("greater", "larger") else first < second
    elif "?" in text:
        return None
    else:
        return words[1]
    return words[1] if holds == (words[1].lower() in ("yes", "true")) else words[2]


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % n for n in range(2, math.isqrt(number) + 1))


def _words(text: str) -> str | None:
    capitals, echo, sort = _CAPITALS.search(text), _ECHO.search(text), _SORT.search(text)
    if capitals:
        return capitals[1].upper()
    if sort:
        return ", ".join(sorted(_SEPARATOR.split(sort[1].strip())))
    return echo[1].strip() if echo else None


def _lines(text: str) -> str | None:
    counting, settings = _COUNTING.search(text), _SETTINGS.search(text)
    if counting:
        first, last = int(counting[1]), int(counting[2])
        step = 1 if first <= last else -1
        return "\n".join(map(str, range(first, last + step, step)))
    pairs = re.findall(r"(\w+) is (\w+)", settings[1]) if settings else []
    return "\n".join(f"{name}={value}" for name, value in pairs) or None


_RULES: tuple[Callable[[str], str | None], ...] = (
    _object,
    _array,
    _choice,
    _calculation,
    _words,
    _lines,
)
