"""Whether data fit a JSON Schema, in microseconds: a sure yes, or 'ask jsonschema'.

A dataset is checked case by case; jsonschema needs about a millisecond for what plain checks
decide in one microsecond, and its import costs a start-up 50 ms. A no is never final:
gate.files.json_schema.mismatches decides and explains.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, partial
from typing import Any

from gate.user_code.patterns import is_short

Check = Callable[[object], bool]  # True: fits for certain
Schema = Mapping[str, Any]

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_LENGTHS = 256  # of texts for which it is kept whether a pattern's search is short
_NOTES = {"title", "description", "default", "examples", "$comment", "$schema", "$defs"}


def compile_check(schema: Schema | bool, root: Schema | None = None) -> Check:
    """The quick check of a schema; one with a keyword that is not known here says no to all.

    `root`: the whole schema, where `$ref: "#/$defs/..."` leads.
    """
    if isinstance(schema, bool):
        return lambda data: bool(schema)
    whole = schema if root is None else root
    # Lists, not generators, here and below: a start-up compiles hundreds of these.
    words = [key for key in schema if key not in _NOTES]
    if not words:
        return _yes
    if not _KNOWN.issuperset(words):
        return lambda data: False
    rules = dict.fromkeys([_RULES[word] for word in words])
    first, *rest = [rule(schema, whole) for rule in rules]
    for check in rest:
        first = _both(first, check)
    return first


def _yes(data: object) -> bool:
    return True


def _both(one: Check, two: Check) -> Check:
    return lambda data: one(data) and two(data)


def _reference(schema: Schema, root: Schema) -> Check:
    name = str(schema["$ref"]).removeprefix("#/$defs/")
    target = root.get("$defs", {}).get(name)
    if target is None:
        return lambda data: False
    ready: list[Check] = []  # compiled at the first use: a schema may refer to itself

    def check(data: object) -> bool:
        if not ready:
            ready.append(compile_check(target, root))
        return ready[0](data)

    return check


def _type(schema: Schema, root: Schema) -> Check:
    wanted = schema["type"]
    names = wanted if isinstance(wanted, list) else [wanted]
    return _kind_check(*names)


@cache
def _kind_check(*names: str) -> Check:
    kinds = tuple([kind for name in names for kind in _KINDS[name]])
    if "boolean" in names or not {int, float} & set(kinds):
        return lambda data: isinstance(data, kinds)
    return lambda data: isinstance(data, kinds) and not isinstance(data, bool)


def _words(schema: Schema, root: Schema) -> Check:
    """`enum` and `const`, as far as they are texts, whole numbers, true or false."""
    listed = schema.get("enum", [schema.get("const")])
    words = frozenset([(type(v), v) for v in listed if isinstance(v, (str, int))])
    return lambda data: isinstance(data, (str, int)) and (type(data), data) in words


def _items(schema: Schema, root: Schema) -> Check:
    inner = schema["items"]
    if isinstance(inner, dict) and set(inner) == {"type"}:  # long lists of numbers are common
        wanted = inner["type"]
        names = wanted if isinstance(wanted, list) else [wanted]
        kinds = {kind for name in names for kind in _KINDS[name]}
        return lambda data: not isinstance(data, list) or kinds.issuperset(map(type, data))
    check = compile_check(inner, root)
    return lambda data: not isinstance(data, list) or all(map(check, data))


def _object(schema: Schema, root: Schema) -> Check:
    """All keywords about the keys of an object together."""
    properties = schema.get("properties", {})
    known: dict[str, Check] = {}  # compiled at their first use: few files have many of the keys
    patterns = [
        (re.compile(pattern), compile_check(inner, root))
        for pattern, inner in schema.get("patternProperties", {}).items()
    ]
    required = frozenset(schema.get("required", ()))
    more = schema.get("additionalProperties", True)
    other = compile_check(more, root)

    def of(key: str) -> Check:
        if key not in known and key in properties:
            known[key] = compile_check(properties[key], root)
        return known.get(key, other)

    least, most = schema.get("minProperties", 0), schema.get("maxProperties", float("inf"))

    def fits(key: str, value: object) -> bool:
        if not all(is_short(pattern, len(key)) for pattern, _ in patterns):
            return False
        matching = [check for pattern, check in patterns if pattern.search(key)]
        if key in properties:
            matching.append(of(key))
        return all(check(value) for check in matching) if matching else other(value)

    def check(data: object) -> bool:
        if not isinstance(data, dict):
            return True
        if not least <= len(data) <= most or not data.keys() >= required:
            return False
        if patterns:
            return all(fits(str(key), value) for key, value in data.items())
        for key, value in data.items():
            fitting = known.get(key) or (of(key) if key in properties else other)
            if fitting is not _yes and not fitting(value):
                return False
        return True

    return check


def _any(schema: Schema, root: Schema) -> Check:
    branches = [compile_check(inner, root) for inner in schema["anyOf"]]
    return lambda data: any(branch(data) for branch in branches)


def _all(schema: Schema, root: Schema) -> Check:
    parts = [compile_check(inner, root) for inner in schema["allOf"]]
    return lambda data: all(part(data) for part in parts)


def _condition(schema: Schema, root: Schema) -> Check:
    """Only where the condition is decided for certain, also when it is not met."""
    if not _certain(schema["if"]):
        return lambda data: False
    test = compile_check(schema["if"], root)
    then = compile_check(schema.get("then", {}), root)
    otherwise = compile_check(schema.get("else", {}), root)
    return lambda data: then(data) if test(data) else otherwise(data)


def _certain(condition: Schema) -> bool:
    """A kind that only one Python type has, or texts that keys of an object must be."""
    texts = all(
        set(inner) <= {"const", "enum"}
        and all(isinstance(word, str) for word in inner.get("enum", [inner.get("const")]))
        for inner in condition.get("properties", {}).values()
    )
    kind = condition.get("type", "object")
    return (
        texts
        and kind in ("string", "object", "array", "null", "boolean")
        and set(condition) <= {"type", "properties", "required"}
    )


def _bounds(schema: Schema, root: Schema) -> Check:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    return lambda data: not isinstance(data, (int, float)) or low <= data <= high


def _open_bounds(schema: Schema, root: Schema) -> Check:
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    return lambda data: (
        not isinstance(data, (int, float))
        or ((above is None or data > above) and (below is None or data < below))
    )


def _length(schema: Schema, root: Schema) -> Check:
    low, high = schema.get("minItems", 0), schema.get("maxItems", float("inf"))
    return lambda data: not isinstance(data, list) or low <= len(data) <= high


def _places(schema: Schema, root: Schema) -> Check:
    """`prefixItems`; with `items` for what follows them no is the safe answer."""
    if "items" in schema:
        return lambda data: False
    checks = [compile_check(inner, root) for inner in schema["prefixItems"]]
    return lambda data: (
        not isinstance(data, list)
        or all(check(item) for check, item in zip(checks, data, strict=False))
    )


def _text(schema: Schema, root: Schema) -> Check:
    low = schema.get("minLength", 0)
    if "pattern" not in schema:
        return lambda data: not isinstance(data, str) or len(data) >= low
    pattern = re.compile(schema["pattern"])
    quick = lru_cache(maxsize=_LENGTHS)(partial(is_short, pattern))
    return lambda data: (
        not isinstance(data, str)
        or (len(data) >= low and quick(len(data)) and pattern.search(data) is not None)
    )


_RULES: dict[str, Callable[[Schema, Schema], Check]] = {
    "$ref": _reference,
    "type": _type,
    "enum": _words,
    "const": _words,
    "items": _items,
    **dict.fromkeys(
        (
            *("properties", "patternProperties", "required", "additionalProperties"),
            *("minProperties", "maxProperties"),
        ),
        _object,
    ),
    "anyOf": _any,
    "allOf": _all,
    **dict.fromkeys(("if", "then", "else"), _condition),
    **dict.fromkeys(("minimum", "maximum"), _bounds),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _open_bounds),
    **dict.fromkeys(("minItems", "maxItems"), _length),
    "prefixItems": _places,
    **dict.fromkeys(("minLength", "pattern"), _text),
}
_KNOWN = set(_RULES)
