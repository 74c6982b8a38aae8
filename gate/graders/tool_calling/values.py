"""Makes values of arguments comparable, and usable as keys of a dictionary."""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from typing import Final

from gate.records import CheckedJson, Json

LARGEST = 100_000  # values inside one argument; a larger one is like no other
_IGNORED = str.maketrans("'", '"', " ,./-_*^")


class Mark(Enum):
    """A value that no JSON value equals."""

    TRUE = True
    FALSE = False
    ABSENT = None


ABSENT: Final = Mark.ABSENT


def freeze(value: object, *, loose: bool = False) -> Hashable:
    """A hashable form that is equal for values that are equal as JSON: 1 and 1.0 are, 1 and true
    are not, and the order of keys does not matter. `loose`: texts are compared without case, spaces
    and the signs , . / - _ * ^, and ' is ". A value that is too large or too deep equals nothing.
    """
    try:
        return _freeze(value, loose) if has_few_values(value, LARGEST) else object()
    except RecursionError:
        return object()


def has_few_values(value: object, most: int) -> bool:
    """Whether there are at most `most` values inside, itself included; it stops counting there."""
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
        if count + len(waiting) > most:
            return False
    return True


def are_alike(wanted: CheckedJson, made: object, *, loose: bool = False) -> bool:
    """Whether the values are equal; a wanted 5 is not met by 5.0, a wanted 5.0 is met by 5."""
    if isinstance(wanted, dict) and isinstance(made, dict):
        return wanted.keys() == made.keys() and all(
            are_alike(value, made[key], loose=loose) for key, value in wanted.items()
        )
    if isinstance(wanted, (list, tuple)) and isinstance(made, (list, tuple)):
        return len(wanted) == len(made) and all(
            are_alike(one, other, loose=loose) for one, other in zip(wanted, made, strict=True)
        )
    if isinstance(wanted, int) and isinstance(made, float):
        return False
    return freeze(wanted, loose=loose) == freeze(made, loose=loose)


def has_whole_float(value: object) -> bool:
    """Whether a whole number written as a float, such as 5.0, is inside."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, float) and item.is_integer():
            return True
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
    return False


def value_at(data: Json, path: str) -> object:
    """The value at the dotted path, or ABSENT; the empty path is the value itself."""
    value: object = data
    for key in path.split(".") if path else ():
        value = value.get(key, ABSENT) if isinstance(value, dict) else ABSENT
    return value


def _freeze(value: object, loose: bool) -> Hashable:
    if isinstance(value, str):
        return value.translate(_IGNORED).lower() if loose else value
    if isinstance(value, bool):
        return Mark.TRUE if value else Mark.FALSE
    if isinstance(value, dict):
        return frozenset((str(key), _freeze(inner, loose)) for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(_freeze(inner, loose) for inner in value)
    return value if value is None or isinstance(value, (int, float, Mark)) else repr(value)
