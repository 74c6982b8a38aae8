"""Rows of the Berkeley Function Calling Leaderboard (v4, Python) as cases of tool_calls.

With OPTIONS the grader decides as its AST checker does, but that

* expected and made calls are paired as well as possible, not first come, first served;
* texts are compared loosely everywhere: there not inside lists of lists, of objects' members, and
  not where the answer has another type than the schema;
* a whole number in a list of floats is accepted, as everywhere;
* members of objects are compared with their types (there true is 1), and one that may be left out
  is not met by an empty text;
* where an answer and its schema contradict each other, the answer is right: there no call is, when
  the answer names no value of a required parameter, or a parameter that the schema does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from gate.errors import UsageError
from gate.records import CheckedJson, Json

OPTIONS: Mapping[str, CheckedJson] = {"mode": "unordered", "strings": "loose", "numbers": "typed"}

_TYPES = {  # theirs -> JSON Schema's; None: any value
    **{"string": "string", "integer": "integer", "float": "number", "boolean": "boolean"},
    **{"array": "array", "tuple": "array", "dict": "object", "any": None},
}
_MOST_VALUES = 1_000  # of one parameter, when each choice inside an object is written out
_LEFT_OUT = ""


def case_keys(
    functions: Sequence[Mapping[str, CheckedJson]],
    ground_truth: Sequence[Mapping[str, CheckedJson]],
    *,
    underscores: bool = False,
) -> dict[str, Json]:
    """`tools` and `expected_tool_calls` of a case. `underscores`: for models that allow no dots in
    names and write `_` instead. Raises UsageError for a row of another form.
    """
    schemas = {function["name"]: function.get("parameters") or {} for function in functions}
    expected = []
    for answer in ground_truth:
        ((name, allowed),) = answer.items()
        if name not in schemas:
            raise UsageError(f"BFCL: the answer calls {name!r}, which is not one of the functions")
        call = _expected(schemas[name], allowed)
        expected.append({"name": plain_name(name) if underscores else name, **call})
    tools = [tool_definition(function, underscores=underscores) for function in functions]
    return {"tools": tools, "expected_tool_calls": expected}


def plain_name(name: str) -> str:
    """The function's name for models that allow no dots."""
    return name.replace(".", "_")


def tool_definition(
    function: Mapping[str, CheckedJson], *, underscores: bool = False
) -> dict[str, Json]:
    """A function as a tool definition with a proper JSON Schema."""
    name = str(function["name"])
    parameters = {**json_schema(function.get("parameters") or {}), "type": "object"}
    return {
        "type": "function",
        "function": {
            "name": plain_name(name) if underscores else name,
            "description": function.get("description") or "",
            "parameters": {**parameters, "additionalProperties": False},
        },
    }


def json_schema(theirs: Mapping[str, CheckedJson]) -> dict[str, Json]:
    """Their schema with JSON Schema's names of types; keys that say nothing of values are kept."""
    schema = {key: value for key, value in theirs.items() if key not in ("type", "optional")}
    named = theirs.get("type", "any")
    if named not in _TYPES:
        raise UsageError(f"BFCL: {named!r} is no type of its Python functions")
    if _TYPES[named] is not None:
        schema["type"] = _TYPES[named]
    if isinstance(schema.get("properties"), dict):
        schema["properties"] = {key: json_schema(one) for key, one in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = json_schema(schema[key])
    return schema


def _expected(
    schema: Mapping[str, CheckedJson], allowed: Mapping[str, Sequence[CheckedJson]]
) -> dict[str, Json]:
    """`any_of` and `optional`. What the schema requires may not be left out, whatever the answer
    says.
    """
    required, properties = schema.get("required") or (), schema.get("properties") or {}
    any_of: dict[str, list[Json]] = {}
    optional = []
    for name, given in allowed.items():
        values = _values(properties.get(name) or {}, given)
        may_lack = _LEFT_OUT in given and name not in required
        if values and not (may_lack and name not in properties):
            any_of[name] = values
            optional += [name] if may_lack else []
    return {"any_of": any_of, "optional": optional}


def _values(schema: Mapping[str, CheckedJson], allowed: Sequence[CheckedJson]) -> list[Json]:
    """Every value that a parameter may have. `""` says that it may be left out, and is a value of
    texts.
    """
    kind, items = schema.get("type"), schema.get("items") or {}
    texts = kind in ("string", "any") or any(isinstance(value, str) and value for value in allowed)
    values: list[Json] = []
    for value in allowed:
        if value == _LEFT_OUT and not texts:
            continue
        if kind == "dict" and isinstance(value, dict):
            values += _objects(value)
        elif kind in ("array", "tuple") and items.get("type") == "dict" and _all_objects(value):
            choices = [_objects(choice) for choice in value]
            values += map(list, product(*choices)) if _is_few(choices) else []
        else:
            values.append(_number(value, kind, items))
    return values


def _number(value: Json, kind: Json, items: Mapping[str, CheckedJson]) -> CheckedJson:
    """A float is met by a whole number, too; a whole number only by one."""
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in ("array", "tuple") and isinstance(value, list):
        return [_number(one, items.get("type"), items.get("items") or {}) for one in value]
    return value


def _objects(choices: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Every object that {member: [values]} stands for; their whole numbers may be floats."""
    rows: list[list[tuple[tuple[str, Json], ...]]] = []
    for name, values in choices.items():
        given = values if isinstance(values, list) else [values]
        rows.append([((name, _float(value)),) if value != _LEFT_OUT else () for value in given])
    if not _is_few(rows):
        return []
    return [dict(pair for part in chosen for pair in part) for chosen in product(*rows)]


def _float(value: Json) -> Json:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _is_few(choices: Sequence[Sequence[object]]) -> bool:
    if prod(map(len, choices)) > _MOST_VALUES:
        raise UsageError(f"BFCL: an answer allows more than {_MOST_VALUES:,} values of a parameter")
    return True


def _all_objects(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)
