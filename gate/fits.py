"""Whether data fit a JSON Schema, in microseconds: a sure yes, or 'ask jsonschema'.

A dataset is checked case by case; jsonschema needs about a millisecond for what plain checks
decide in one microsecond. A no is never final: gate.schema.mismatches decides and explains.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gate.records import Json

Check = Callable[[Json], bool]  # True: fits for certain

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_NOTES = {"title", "description", "default", "examples", "$comment"}


def compiled(schema: Mapping[str, Any]) -> Check:
    """The quick check of a schema; one with a keyword that is not known here says no to all."""
    words = dict.fromkeys(key for key in schema if key not in _NOTES)
    if not words:
        return lambda data: True
    if not set(words) <= _KNOWN:
        return lambda data: False
    checks = [_RULES[word](schema) for word in words if word in _RULES]
    return checks[0] if len(checks) == 1 else lambda data: all(check(data) for check in checks)


def _type(schema: Mapping[str, Any]) -> Check:
    wanted = schema["type"]
    names = wanted if isinstance(wanted, list) else [wanted]
    kinds = tuple(kind for name in names for kind in _KINDS[name])
    if "boolean" in names or not {int, float} & set(kinds):
        return lambda data: isinstance(data, kinds)
    return lambda data: isinstance(data, kinds) and not isinstance(data, bool)


def _enum(schema: Mapping[str, Any]) -> Check:
    words = frozenset(value for value in schema["enum"] if isinstance(value, str))
    return lambda data: isinstance(data, str) and data in words


def _items(schema: Mapping[str, Any]) -> Check:
    check = compiled(schema["items"])
    return lambda data: not isinstance(data, list) or all(map(check, data))


def _object(schema: Mapping[str, Any]) -> Check:
    """`properties`, `required` and `additionalProperties` together."""
    known = {key: compiled(inner) for key, inner in schema.get("properties", {}).items()}
    required = tuple(schema.get("required", ()))
    more = schema.get("additionalProperties", True)
    other: Check = compiled(more) if isinstance(more, dict) else lambda data: bool(more)

    def check(data: Json) -> bool:
        if not isinstance(data, dict):
            return True
        return all(key in data for key in required) and all(
            known.get(key, other)(value) for key, value in data.items()
        )

    return check


def _any(schema: Mapping[str, Any]) -> Check:
    branches = [compiled(inner) for inner in schema["anyOf"]]
    return lambda data: any(branch(data) for branch in branches)


def _least(schema: Mapping[str, Any]) -> Check:
    low = schema["minimum"]
    return lambda data: not isinstance(data, (int, float)) or data >= low


def _length(schema: Mapping[str, Any]) -> Check:
    low = schema.get("minItems", 0)
    return lambda data: not isinstance(data, list) or len(data) >= low


def _text(schema: Mapping[str, Any]) -> Check:
    low = schema.get("minLength", 0)
    return lambda data: not isinstance(data, str) or len(data) >= low


_RULES: dict[str, Callable[[Mapping[str, Any]], Check]] = {
    "type": _type,
    "enum": _enum,
    "items": _items,
    "properties": _object,
    "required": _object,
    "additionalProperties": _object,
    "anyOf": _any,
    "minimum": _least,
    "minItems": _length,
    "minLength": _text,
}
_KNOWN = set(_RULES)
