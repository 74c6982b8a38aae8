"""The quick check never says yes where jsonschema says no."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gate.files.json_schema_quick import compile_check

FACTS: dict[str, Any] = {
    "type": ["array", "null"],
    "minItems": 1,
    "items": {
        "type": "object",
        "description": "a fact",
        "properties": {
            "value": {"anyOf": [{"type": "number"}, {"type": "string", "minLength": 1}]},
            "tolerance": {"type": "number", "minimum": 0},
            "required": {"type": "boolean"},
        },
        "required": ["value"],
        "additionalProperties": False,
    },
}
GAINS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "string"},
    {"type": "integer"},
    {"type": ["boolean", "number"]},
    {"enum": ["approved", "a"]},
    FACTS,
    GAINS,
    {"type": "string", "pattern": "^a"},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    {"minimum": -1, "exclusiveMaximum": 1},
    {"type": "object", "minProperties": 1, "maxProperties": 1},
    {"patternProperties": {"^v": {"type": "integer"}}, "additionalProperties": {"type": "string"}},
    {"allOf": [{"type": "array"}, {"minItems": 1}]},
    {"type": "array", "prefixItems": [{"type": "integer"}, {}], "minItems": 1, "maxItems": 2},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {
        "$ref": "#/$defs/tree",
        "$defs": {"tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}}},
    },
    {
        "if": {"properties": {"value": {"const": "a"}}, "required": ["value"]},
        "then": {"required": ["x"]},
        "else": {"properties": {"x": False}},
    },
    {"if": {"properties": {"value": {"const": 1}}}, "then": {"required": ["x"]}},
    {"const": True},
    {"enum": [1, "a"]},
    {"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "object"}},
    {"if": {"type": "integer"}, "then": {"minimum": 1}},
]
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(-2, 2)
    | st.sampled_from(["", "a", "approved"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "tolerance", "required", "x"]), inner)
    ),
    max_leaves=6,
)


@given(st.sampled_from(SCHEMAS), DATA)
def test_a_yes_is_a_yes_of_jsonschema(schema: dict[str, Any], data: Any) -> None:
    if compile_check(schema)(data):
        assert Draft202012Validator(schema).is_valid(data)


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ({"type": "integer"}, 3),
        ({"type": "number"}, 0.5),
        ({"type": ["string", "null"]}, None),
        ({"enum": ["a", "b"]}, "b"),
        (FACTS, [{"value": 3, "tolerance": 0}, {"value": "x", "required": True}]),
        (GAINS, {"a": 1}),
        ({}, object()),
    ],
)
def test_plain_data_are_decided_at_once(schema: dict[str, Any], data: Any) -> None:
    assert compile_check(schema)(data)


def test_true_is_no_number() -> None:
    assert not compile_check({"type": "integer"})(True)
    assert compile_check({"type": "boolean"})(True)


def test_a_keyword_that_is_not_known_asks_jsonschema() -> None:
    assert not compile_check({"type": "array", "uniqueItems": True})([])
    assert not compile_check({"$ref": "#/$defs/nowhere"})("a")
