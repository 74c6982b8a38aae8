"""Broken tool definitions are told when the dataset is read, all at once, with their lines."""

import io
import json

import pytest

from gate.errors import InvalidInput
from gate.files.rows import DatasetSource
from gate.graders.tool_calling.definitions import definition, definition_faults
from gate.graders.tool_calling.validity import call_faults
from gate.graders.tool_calls import FAULTS, VALIDITY, ToolCalls
from gate.graders.trajectory_match import TrajectoryMatch
from gate.records import Case, Response, ToolCall
from gate.suites.cases.dataset import check
from tests.support.growth import calls


def told(*cases, **options):
    rows = [{"id": f"c{n}", "input": "?", **case} for n, case in enumerate(cases)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    source = DatasetSource(name="d.jsonl", open=lambda: io.BytesIO(text.encode()))
    graders = {"tool_calls": ToolCalls(**options), "trajectory_match": TrajectoryMatch()}
    try:
        check(source, graders)
    except InvalidInput as error:
        return [str(problem) for problem in error.problems]
    return []


def case(tools, expected=None):
    return {"tools": tools, "expected_tool_calls": expected, "reference_trajectory": None}


def openai(schema, name="f"):
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def test_every_problem_is_told_with_its_line_and_place():
    properties = {"x": {"type": "int"}, "y": {"pattern": "["}}
    found = told(
        case([openai({"type": "object"}), {"name": "g", "input_schema": {}}]),
        case([openai({"type": "object", "properties": properties}), {"name": "f"}, {}]),
        case([{"name": "h", "inputSchema": {"required": "x", "minimum": "a"}}]),
    )
    begins = [
        "d.jsonl:2: tools[0].function.parameters.properties.x.type: 'int' is not one of",
        "d.jsonl:2: tools[1].name: 'f' is the name of tools[0] too - remove one",
        "d.jsonl:2: tools[2]: the tool has no 'name'",
        "d.jsonl:3: tools[0].inputSchema.minimum: 'a' is not a number",
        "d.jsonl:3: tools[0].inputSchema.required: 'x' is not a list",
    ]
    assert len(found) == len(begins)
    assert all(one.startswith(begin) for one, begin in zip(found, begins, strict=True))
    assert "did you mean 'integer'?" in found[0]
    assert found[0].endswith("(read by 'tool_calls')")


def test_true_and_the_types_of_bfcl_are_taken():
    inner = {"a": {"type": "tuple", "items": {"type": "float"}}, "type": {"type": "any"}}
    properties = {"x": {"type": "dict", "properties": inner}, "y": {"anyOf": [{"type": "dict"}]}}
    theirs = {"type": "dict", "properties": properties, "required": ["x"]}
    assert told(case([openai(True), {"name": "g", "input_schema": theirs}])) == []
    assert definition(openai(True)) == ("f", {})
    _, schema = definition({"name": "g", "input_schema": theirs})
    assert schema["properties"]["x"]["properties"] == {
        "a": {"type": "array", "items": {"type": "number"}},
        "type": {},
    }
    assert schema["properties"]["y"] == {"anyOf": [{"type": "object"}]}
    plain = {"type": "object", "properties": {"x": {"enum": [{"type": "dict"}]}}}
    assert definition(openai(plain))[1] is plain
    made = [ToolCall(name="g", arguments={"x": {"a": [1, 2.5], "type": None}, "y": {}})]
    assert call_faults(made, [{"name": "g", "input_schema": theirs}]) == [()]


DOUBLING = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(50)}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "https://schemas.example/x.json"}, "references to other files are not followed"),
        ({"$ref": "file:///etc/passwd"}, "references to other files are not followed"),
        ({"properties": {"x": {"$ref": "#/$defs/no"}}}, "'#/$defs/no' does not exist"),
        ({"$ref": "http://["}, "does not exist"),
        ({"$ref": "#"}, "its references are endless"),
        ({"$defs": {**DOUBLING, "d50": {}}, "$ref": "#/$defs/d0"}, "or expand too far"),
        ({"properties": {"x": {"pattern": "\\p{L}"}}}, "is not a valid Python regular expression"),
        ({"patternProperties": {"(": {}}}, "is not a valid Python regular expression"),
        ({"$schema": "http://other.example/draft"}, "is not a known JSON Schema draft"),
        ({"type": "string"}, "the arguments of a call are an object"),
        ({"items": [{"type": "string"}]}, "is not a mapping"),
        ("object", "not a mapping"),
    ],
)
def test_schemas_that_are_none(schema, message):
    (found,) = told(case([openai(schema)]))
    assert message in found
    assert calls(lambda: told(case([openai(schema)]))) < 3_000_000  # a million where it doubles


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"kids": {"items": {"$ref": "#"}}}},
        {"$defs": {"p": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/p"}}},
        {"properties": {"$ref": {"type": "string"}, "x": {"enum": [{"$ref": "?"}]}}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"p": {"type": "string"}},
            "properties": {"x": {"$ref": "#/definitions/p"}, "t": {"items": [{"type": "string"}]}},
        },
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "exclusiveMinimum": True,
            "minimum": 1,
        },
    ],
)
def test_schemas_of_all_drafts_with_references_inside(schema):
    assert told(case([openai(schema)])) == []


def test_expected_calls_that_no_tool_or_value_can_meet():
    tools = [{"name": "search"}, {"name": "get"}]
    both = {"name": "get", "args": {"id": 1}, "any_of": {"id": [2]}}
    found = told(case(tools, [{"name": "serch"}, both]), case(None, [{"name": "serch"}]))
    assert found == [
        "d.jsonl:1: expected_tool_calls[0].name: 'serch' is not one of the case's tools - "
        "did you mean"
        " 'search'? (read by 'tool_calls')",
        "d.jsonl:1: expected_tool_calls[1]: 'id' is in 'args' and in 'any_of' - keep one"
        " (read by 'tool_calls')",
    ]


def test_what_one_grader_misses_hides_nothing_that_another_finds():
    tool = openai({"properties": {"x": {"type": "str"}}})
    missing, found = told({"tools": [tool], "expected_tool_calls": []})
    assert found.endswith(
        "'str' is not one of array, boolean, integer, null, number, object,"
        " string or a list - did you mean 'string'? (read by 'tool_calls')"
    )
    assert missing.startswith("d.jsonl:1: 'reference_trajectory' is missing")


def test_a_problem_is_told_once_however_many_graders_read_the_key():
    (found,) = told({"expected_tool_calls": None, "reference_trajectory": [3]})
    assert found.endswith("3 is not a mapping (read by 'tool_calls' and 'trajectory_match')")


def test_the_shape_of_expected_calls_is_checked_first():
    (found,) = told(case([{}], [{"name": "a", "any_of": {"x": []}}]))
    assert (
        "expected_tool_calls[0].any_of.x: the list is empty - it needs at least one item" in found
    )


def test_definitions_nested_beyond_reason():
    deep = {}
    for _ in range(100_000):
        deep = {"properties": {"x": deep}}
    assert definition_faults([{"name": "f", "parameters": deep}]) == (((), "nested too deeply"),)


def judged(schema, *arguments):
    made = tuple(ToolCall(name="f", arguments=one) for one in arguments)
    keys = case([openai(schema)])
    return ToolCalls().grade(Case(id="a", input="?", keys=keys), Response(answer="", steps=made))


def nested(levels):
    found = {"kids": []}
    for _ in range(levels):
        found = {"kids": [found]}
    return found


TREE = {"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}


@pytest.mark.parametrize(
    ("schema", "arguments", "valid"),
    [
        (TREE, nested(5), 1.0),
        (TREE, {"kids": [{"kids": 3}]}, 0.0),
        (TREE, nested(3000), 0.0),  # too deep to be checked
        ({"properties": {"q": {"items": {"type": "integer"}}}}, {"q": [1] * 300_000}, 1.0),
        ({"properties": {"q": {"items": {"type": "integer"}}}}, {"q": ["x"] * 300_000}, 0.0),
        ({"properties": {"q": {"maxLength": 9}}}, {"q": "x" * 3_000_000}, 0.0),
        ({}, {f"k{n}": n for n in range(100_000)}, 1.0),
    ],
)
def test_hostile_arguments_are_judged_at_once(schema, arguments, valid):
    found = judged(schema, arguments)
    assert found.values[VALIDITY] == valid
    assert len(found.reason) < 1000
    assert calls(lambda: judged(schema, arguments)) < 200_000  # 100 to 50,000, of 300,000 items


def test_arguments_that_double_the_work_at_each_level_are_given_up():
    twice = {"allOf": [{"properties": {"x": {"$ref": "#"}}}] * 2}
    deep = {}
    for _ in range(60):
        deep = {"x": deep}
    assert definition_faults([openai(twice)]) == ()
    assert judged(twice, deep).values[VALIDITY] == 0.0
    assert calls(lambda: judged(twice, deep)) < 3_000_000


def test_a_thousand_invalid_calls():
    schema = {"properties": {"a": {"type": "string", "maxLength": 3}}, "required": ["b", "c"]}
    asked = [{"a": n} for n in range(1000)]
    found = judged(schema, *asked)
    assert found.values[FAULTS["missing"]] == 2000
    assert found.values[FAULTS["type"]] == 1000
    assert calls(lambda: judged(schema, *asked)) < 1_000_000  # 400 a call


def test_older_drafts_are_read_as_their_schema_says():
    pair = {"properties": {"t": {"items": [{"type": "string"}, {"type": "integer"}]}}}
    old = {"$schema": "http://json-schema.org/draft-07/schema#", **pair}
    assert judged(old, {"t": ["a", 1]}).values[VALIDITY] == 1.0
    assert judged(old, {"t": ["a", "b"]}).values[VALIDITY] == 0.0
    above = {"properties": {"n": {"minimum": 5, "exclusiveMinimum": True}}}
    oldest = {"$schema": "http://json-schema.org/draft-04/schema#", **above}
    assert judged(oldest, {"n": 5}).values[VALIDITY] == 0.0


@pytest.mark.parametrize("arguments", ["text", [1], 3, True])
def test_arguments_that_are_no_object_are_invalid_whatever_the_schema(arguments):
    assert judged({}, arguments).values[FAULTS["type"]] == 1.0


def test_cases_with_tools_of_their_own_are_checked_with_little_work():
    city = {"type": "string", "description": "where"}
    schema = {"type": "object", "properties": {"city": city}, "required": ["city"]}

    def check():
        for n in range(1_000):
            assert definition_faults([openai({**schema, "title": str(n)}, name=f"f{n}")]) == ()

    assert calls(check) < 1_000 * 250  # 80
