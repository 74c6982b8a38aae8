"""Records to JSON and back, and the JSON Schema of a record: read off the dataclass, so that the
three never disagree.

A number that is unknown or unbounded (NaN, infinity) is None in a record and null in a file: a
field in which it can arise is `float | None`, and `parse_json` refuses the words that are no JSON.

Known types: str, int, float, bool, None, Any, Literal, X | None, tuple[T, ...], tuple[A, B],
Mapping[str, T], records.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Literal, NoReturn, TypeVar, Union

import orjson

from gate.records import LARGEST, CheckedJson, Json

T = TypeVar("T")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DIGITS = 40  # of a whole number: more than any count or seed has
_AS_IT_IS = {str, int, bool, type(None)}  # what has the same form in JSON
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def to_json(value: object) -> CheckedJson:
    """Plain JSON data; tuples become lists, NaN and infinities None. Raises TypeError on anything
    else.
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # What is plain already stays as it is, without a call: most of a record is.
    kind: Any = value.__class__
    if hasattr(kind, "__dataclass_fields__"):
        names = _names(kind)
        return {
            name: item if (item := getattr(value, name)).__class__ in _AS_IT_IS else to_json(item)
            for name in names
        }
    if isinstance(value, Mapping):
        return {
            str(key): item if item.__class__ in _AS_IT_IS else to_json(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [item if item.__class__ in _AS_IT_IS else to_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_text(value: object) -> str:
    """`to_json` for people, as a file that ends with its line: a level is two spaces."""
    data = to_json(value)
    try:
        return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n"
    except TypeError:
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def json_line(value: object) -> str:
    """The value as it stands in a line of a file; NaN and infinities are null."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # half a character, a number beyond 64 bits, a record
        return _ENCODER.encode(to_json(value))


def parse_json(text: str | bytes) -> Json:
    """The value of a file that a run has written, or that could be one. Raises ValueError, also for
    NaN, infinities and numbers beyond LARGEST, and RecursionError.
    """
    parsed: Json = json.loads(
        text, parse_float=_number, parse_int=_parse_integer, parse_constant=_refuse_number
    )
    return parsed


def digest(value: object) -> str:
    """sha256 of the canonical JSON form."""
    text = json.dumps(to_json(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def to_lean_json(record: object) -> dict[str, Json]:
    """The record's JSON without the fields that are as the record's class has them anyway."""
    cls: type = record.__class__
    return {
        name: to_json(value)
        for name, default in _defaults(cls)
        if (value := getattr(record, name)) is not default and value != default
    }


def from_json(cls: type[T], data: Json) -> T:
    """A record of class `cls`; `data` must already fit `schema_of(cls)`. Keys that are absent take
    their defaults.
    """
    return typing.cast(T, _build(cls, data))


def schema_of(cls: type) -> dict[str, CheckedJson]:
    """JSON Schema (2020-12) of a record: unknown keys refused, fields without default required."""
    properties, required = {}, []
    for field in dataclasses.fields(cls):
        properties[field.name] = _schema(_hints(cls)[field.name])
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    schema: dict[str, Json] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def _number(text: str) -> float:
    value = float(text)
    return value if abs(value) <= LARGEST else _refuse_number(text)


def _parse_integer(text: str) -> int:
    return int(text) if len(text) <= _DIGITS else _refuse_number(text)


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is no number that a run measures")


@cache
def _defaults(cls: type) -> tuple[tuple[str, object], ...]:
    """Name and default of each field; what equals nothing where there is none."""
    missing = dataclasses.MISSING
    return tuple(
        (field.name, field.default if field.default_factory is missing else field.default_factory())
        for field in dataclasses.fields(cls)
    )


@cache
def _names(cls: type) -> tuple[str, ...]:
    return tuple([field.name for field in dataclasses.fields(cls)])


@cache
def _hints(cls: type) -> dict[str, object]:
    """The types of a class's fields. For our own classes, whose annotations are plain strings,
    this takes a tenth of the calls of typing.get_type_hints.
    """
    if not all(base.__module__.startswith("gate.") for base in cls.__mro__[:-1]):
        return typing.get_type_hints(cls)
    return {
        name: _resolve_annotation(written, base.__module__)
        for base in reversed(cls.__mro__)
        for name, written in vars(base).get("__annotations__", {}).items()
    }


@cache
def _resolve_annotation(written: str, module: str) -> object:
    """The type that an annotation names."""
    return eval(written, vars(sys.modules[module]))  # noqa: S307 - of our own source


def _schema(hint: object) -> dict[str, Json]:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        if _PLAIN.keys() >= set(args):
            return {"type": [_PLAIN[arg] for arg in args]}
        return _either([_schema(arg) for arg in args])
    if origin is tuple and args[-1] is Ellipsis:
        return {"type": "array", "items": _schema(args[0])}
    if origin is tuple:
        return {
            "type": "array",
            "prefixItems": [_schema(a) for a in args],
            "minItems": len(args),
            "maxItems": len(args),
        }
    if origin in (Mapping, dict):
        return {"type": "object", "additionalProperties": _schema(args[1])}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return schema_of(hint)
    return {}


def _either(schemas: list[dict[str, Json]]) -> dict[str, Json]:
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}


Build = Callable[[CheckedJson], object]  # from JSON


def _build(cls: type, data: CheckedJson) -> object:
    builders = _builders(cls)
    return cls(**{key: builders[key](item) for key, item in data.items() if key in builders})


@cache
def _builders(cls: type) -> dict[str, Build]:
    """How each field of a record is made."""
    return {name: _builder(hint) for name, hint in _hints(cls).items()}


@cache
def _builder(hint: object) -> Build:
    if hint in _PLAIN:
        return _float if hint is float else _same
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return partial(_build, hint)
    if origin in (Union, types.UnionType):
        return _either_builder(args)
    if origin is tuple and args[-1] is Ellipsis:
        inner = _builder(args[0])
        return lambda data: tuple(map(inner, data))
    if origin is tuple:
        each = [_builder(arg) for arg in args]
        return lambda data: tuple(make(item) for make, item in zip(each, data, strict=True))
    if origin in (Mapping, dict):
        value = _builder(args[1])
        return lambda data: {key: value(item) for key, item in data.items()}
    return _same


def _either_builder(args: tuple[object, ...]) -> Build:
    kinds = [arg for arg in args if arg is not type(None)]
    if len(kinds) == 1:
        inner = _builder(kinds[0])
        return lambda data: None if data is None else inner(data)
    builders = [(kind, _builder(kind)) for kind in kinds]

    def build_either(data: Json) -> object:
        fitting = (make for kind, make in builders if data is not None and _fits(kind, data))
        return next(fitting, _same)(data)

    return build_either


def _same(data: Json) -> Json:
    return data


def _float(data: CheckedJson) -> float | None:
    return float(data) if data is not None else data


def _fits(kind: object, data: Json) -> bool:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return data in typing.get_args(kind)
    if dataclasses.is_dataclass(kind) or origin in (Mapping, dict):
        return isinstance(data, dict)
    if origin is tuple:
        return isinstance(data, list)
    return kind in _PLAIN and (isinstance(data, kind) or (kind is float and isinstance(data, int)))
