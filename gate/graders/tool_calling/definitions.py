"""Tool definitions as OpenAI, Anthropic and MCP write them, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from gate.files.json_schema import unsound
from gate.files.json_schema_mismatch import Path
from gate.files.json_schema_quick import compile_check
from gate.records import CheckedJson, Json

Faults = tuple[tuple[Path, str], ...]  # where inside the list, and what is wrong

_PLAIN: Json = {"$ref": "#/$defs/plain"}
_TEXT: Json = {"type": "string"}
_is_plain = (
    compile_check(  # a schema of the plain kind, which most are, needs no meta-schema: 5 ms less
        {
            "$ref": "#/$defs/plain",
            "$defs": {
                "plain": {
                    "type": "object",
                    "properties": {
                        "type": {
                            "enum": ["string", "integer", "number", "boolean", "array", "object"]
                        },
                        "title": _TEXT,
                        "description": _TEXT,
                        "properties": {"type": "object", "additionalProperties": _PLAIN},
                        "items": _PLAIN,
                        "required": {"type": "array", "items": _TEXT},
                        "enum": {"type": "array"},
                        "additionalProperties": {"type": "boolean"},
                        "default": {},
                    },
                    "additionalProperties": False,
                }
            },
        }
    )
)
_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")
_BFCL: Mapping[str, str | None] = {  # its names of types, which are taken; None: any value
    **{"dict": "object", "float": "number", "tuple": "array", "any": None},
}
_SCHEMAS = ("items", "additionalProperties", "not", "contains", "propertyNames")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")
_OTHER_NAMES = {  # of types, as Python and BFCL write them
    **{"dict": "object", "float": "number", "double": "number", "int": "integer"},
    **{"str": "string", "list": "array", "tuple": "array", "bool": "boolean", "None": "null"},
}


def definition(tool: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
    """Name and arguments' schema, in JSON Schema's names; {} where it has none, or `true`."""
    _, inner = _inner(tool)
    key = _schema_key(inner)
    schema = inner[key] if key else {}
    return str(inner.get("name")), _standardise(schema) if isinstance(schema, dict) else {}


def _standardise(schema: Json) -> CheckedJson:
    """The schema with types by JSON Schema's names, where it has BFCL's; the same one where none is
    in it. Values that it allows are no schemas.
    """
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Json] = {}
    named = schema.get("type")
    if isinstance(named, str) and named in _BFCL:
        changed["type"] = _BFCL[named]
    for key in _SCHEMAS:
        if isinstance(schema.get(key), dict):
            changed[key] = _standardise(schema[key])
    for key in _LISTS_OF_SCHEMAS:
        if isinstance(schema.get(key), list):
            changed[key] = [_standardise(inner_schema) for inner_schema in schema[key]]
    for key in _NAMED_SCHEMAS:
        if isinstance(schema.get(key), dict):
            changed[key] = {
                name: _standardise(inner_schema) for name, inner_schema in schema[key].items()
            }
    if all(schema.get(key) == value for key, value in changed.items()):
        return schema
    standard = {**schema, **changed}
    return {key: value for key, value in standard.items() if key != "type" or value is not None}


def definition_faults(tools: Sequence[Mapping[str, Json]]) -> Faults:
    """Everything that is wrong with the definitions. The same ones stand in case after case, so
    what was found is kept.
    """
    try:
        return _faults_of(json.dumps(tools))
    except RecursionError:
        return (((), "nested too deeply"),)


@lru_cache(maxsize=64)
def _faults_of(text: str) -> Faults:
    return tuple(_faults(json.loads(text)))


def _faults(tools: Sequence[Mapping[str, Json]]) -> Iterator[tuple[Path, str]]:
    first: dict[str, int] = {}
    for n, tool in enumerate(tools):
        where, inner = _inner(tool)
        name = inner.get("name")
        if not isinstance(name, str) or not name:
            yield (n, *where), "the tool has no 'name'"
        elif name in first:
            message = f"'{name}' is the name of tools[{first[name]}] too - remove one"
            yield (n, *where, "name"), message
        else:
            first[name] = n
        key = _schema_key(inner)
        if key:
            for path, message in _schema_faults(inner[key]):
                yield (n, *where, key, *path), message


def _inner(tool: Mapping[str, Json]) -> tuple[Path, Mapping[str, Json]]:
    inner = tool.get("function")
    return (("function",), inner) if isinstance(inner, dict) else ((), tool)


def _schema_key(inner: Mapping[str, Json]) -> str | None:
    return next((key for key in _SCHEMA_KEYS if inner.get(key) is not None), None)


def _schema_faults(schema: CheckedJson) -> Iterator[tuple[Path, str]]:
    if schema is True:
        return  # any arguments
    if not isinstance(schema, dict):
        yield (), "the schema of the arguments is not a mapping"
        return
    schema = _standardise(schema)
    for wrong in () if _is_plain(schema) else unsound(schema):
        better = "" if "did you mean" in wrong.message else _better_name(schema, wrong.path)
        yield wrong.path, f"{wrong.message}{better}"
    if schema.get("type", "object") != "object" and isinstance(schema["type"], str):
        yield ("type",), "the arguments of a call are an object, so its schema must be of one"


def _better_name(schema: CheckedJson, path: Path) -> str:
    written = schema
    for part in path:
        written = written[part]
    name = (
        _OTHER_NAMES.get(written) if path[-1:] == ("type",) and isinstance(written, str) else None
    )
    return f" - JSON Schema calls it '{name}'" if name else ""
