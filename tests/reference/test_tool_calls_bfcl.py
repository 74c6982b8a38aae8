"""tool_calls on converted rows against verdicts of BFCL's own AST checker (v4, Python)."""

import json

import pytest
from jsonschema import Draft202012Validator

from gate.errors import UsageError
from gate.graders.tool_calling.bfcl_rows import (
    OPTIONS,
    case_keys,
    json_schema,
    plain_name,
    tool_definition,
)
from gate.graders.tool_calls import VALIDITY, ToolCalls
from gate.records import Case, Response, ToolCall

GRADER = ToolCalls(**OPTIONS)
CATEGORIES = ("simple_python", "multiple", "parallel", "parallel_multiple")
# error_type of theirs -> kinds of codes, one of which must be there. A call that is wrong in one
# argument only is a missing and an extra call to them.
CODES = {
    "wrong_count": {"missing_tool_call", "unexpected_tool_call"},
    "wrong_func_name": {"unknown_tool"},
    "missing_required": {"missing_tool_arg"},
    "unexpected_param": {"unknown_tool_arg"},
    "simple": {"invalid_tool_args", "wrong_tool_args"},  # type_error; 5.0 for 5 fits JSON Schema
    "string": {"wrong_tool_args"},
    "list/tuple": {"wrong_tool_args"},
    "others": {"wrong_tool_args"},
    "missing_optional": {"wrong_tool_args"},
    "cannot_find_match": {"wrong_tool_args", "missing_tool_call"},
}


def rows(path):
    return {row["id"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}


@pytest.fixture(scope="module")
def folder(gate_real_data):
    return gate_real_data / "bfcl"


@pytest.fixture(scope="module")
def cases(folder):
    found = {}
    for category in CATEGORIES:
        answers = rows(folder / f"possible_answer_{category}.sample.jsonl")
        for name, row in rows(folder / f"BFCL_v4_{category}.sample.jsonl").items():
            keys = case_keys(row["function"], answers[name]["ground_truth"])
            found[name] = json.loads(json.dumps(keys))  # as a dataset has them
    return found


@pytest.fixture(scope="module")
def vectors(folder):
    data = json.loads((folder / "ast_checker_vectors.json").read_text("utf-8"))
    return [one for category in CATEGORIES for one in data["vectors"][category]]


def judged(cases, vector):
    calls = [next(iter(call.items())) for call in vector["model_output"]]
    steps = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    case = Case(id="a", input="?", keys=cases[vector["id"]])
    return GRADER.grade(case, Response(answer="", steps=steps))


def test_every_verdict_is_the_same(cases, vectors):
    assert len(vectors) > 400
    wrong = [one for one in vectors if judged(cases, one).passed is not one["valid"]]
    assert wrong == []


def test_the_codes_say_what_their_error_type_says(cases, vectors):
    for vector in vectors:
        if vector["valid"]:
            continue
        kinds = {code.partition(":")[0] for code in judged(cases, vector).failures}
        assert kinds & CODES[vector["error_type"].rpartition(":")[2]], (vector, kinds)


def test_what_the_checker_takes_for_right_is_valid_but_for_a_fault_of_a_row(cases, vectors):
    """It looks at no enum: an answer of parallel_multiple_94 is not among its parameter's."""
    references = [one for one in vectors if one["case"] == "reference"]
    invalid = {one["id"] for one in references if judged(cases, one).values[VALIDITY] != 1.0}
    assert invalid == {"parallel_multiple_94"}


def test_converted_rows_are_cases_without_a_fault(cases):
    for name, keys in cases.items():
        assert list(GRADER.case_faults(keys)) == [], name
        for one in keys["tools"]:
            Draft202012Validator.check_schema(one["function"]["parameters"])


def test_no_call_is_right_where_no_function_is_relevant(folder):
    for row in rows(folder / "BFCL_v4_irrelevance.sample.jsonl").values():
        keys = case_keys(row["function"], [])
        case = Case(id="a", input="?", keys=keys)
        name = row["function"][0]["name"]
        assert GRADER.grade(case, Response(answer="", steps=())).passed is True
        made = (ToolCall(name=name, arguments={}),)
        assert GRADER.grade(case, Response(answer="", steps=made)).passed is False


FUNCTION = {
    "name": "shop.buy",
    "description": "Buys.",
    "parameters": {
        "type": "dict",
        "required": ["what"],
        "properties": {
            "what": {"type": "string"},
            "box": {"type": "dict", "properties": {"width": {"type": "float"}}},
            "items": {"type": "array", "items": {"type": "dict"}},
            "sizes": {"type": "tuple", "items": {"type": "float"}},
            "price": {"type": "float"},
            "count": {"type": "integer"},
        },
    },
}


def passed(allowed, arguments, **options):
    keys = case_keys([FUNCTION], [{"shop.buy": {"what": ["tea"], **allowed}}], **options)
    name = keys["tools"][0]["function"]["name"]
    step = ToolCall(name=name, arguments={"what": "tea", **arguments})
    case = Case(id="a", input="?", keys=keys)
    return GRADER.grade(case, Response(answer="", steps=(step,))).passed


@pytest.mark.parametrize(
    ("allowed", "arguments", "right"),
    [
        ({"what": ["tea", ""]}, {}, True),
        ({"box": [{"width": [2], "note": ["a", ""]}]}, {"box": {"width": 2.0}}, True),
        ({"box": [{"width": [2], "note": ["a", ""]}]}, {"box": {"width": 2, "note": "A."}}, True),
        ({"box": [{"width": [2], "note": ["a", ""]}]}, {"box": {"note": "a"}}, False),
        ({"box": [{"width": [2, 3]}]}, {"box": {"width": 3, "more": 1}}, False),
        ({"items": [[{"n": [1]}, {"n": [2, 3]}]]}, {"items": [{"n": 1}, {"n": 3}]}, True),
        ({"items": [[{"n": [1]}, {"n": [2, 3]}]]}, {"items": [{"n": 3}, {"n": 1}]}, False),
        ({"items": ["all_items"]}, {"items": "all_items"}, True),  # a variable's name
        ({"sizes": [[1.5, 2]]}, {"sizes": [1.5, 2.0]}, True),
        ({"price": [4]}, {"price": 4.0}, True),
        ({"count": [4]}, {"count": 4.0}, False),
        ({"count": [4, ""]}, {}, True),
        ({"count": [""]}, {"count": 4}, False),
    ],
)
def test_values_of_every_kind(allowed, arguments, right):
    assert passed(allowed, arguments) is right
    assert passed(allowed, arguments, underscores=True) is right


def test_what_the_schema_requires_may_not_be_left_out():
    """parallel_88: the answer marks a required parameter as one that may be."""
    keys = case_keys([FUNCTION], [{"shop.buy": {"what": ["tea", ""]}}])
    case = Case(id="a", input="?", keys=keys)
    found = GRADER.grade(case, Response(answer="", steps=(ToolCall(name="shop.buy"),)))
    assert "missing_tool_arg:shop.buy.what" in found.failures


def test_dots_of_names_become_underscores_where_they_are_wanted():
    assert tool_definition(FUNCTION, underscores=True)["function"]["name"] == "shop_buy"
    assert tool_definition(FUNCTION)["function"]["name"] == "shop.buy"
    assert plain_name("a.b.c") == "a_b_c"


def test_rows_of_another_form_are_refused():
    with pytest.raises(UsageError, match="'HashMap' is no type"):
        json_schema({"type": "HashMap"})
    with pytest.raises(UsageError, match="'other', which is not one of the functions"):
        case_keys([FUNCTION], [{"other": {}}])
    many = {f"m{i}": [1, 2] for i in range(11)}
    with pytest.raises(UsageError, match="more than 1,000 values"):
        case_keys([FUNCTION], [{"shop.buy": {"what": ["tea"], "box": [many]}}])
