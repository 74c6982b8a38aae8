import gc

import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.json_format import JsonFormat
from gate.graders.openagent_rules.form import FORM
from gate.records import Case, Response

CASE = Case(id="a", input="?", keys={})
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["name"],
}


def score(answer, **options):
    return JsonFormat(**options).grade(CASE, Response(answer=answer))


@pytest.mark.parametrize(
    ("answer", "options", "failures"),
    [
        ('{"a": 1}', {}, ()),
        (" [1, 2]\n", {}, ()),
        ("12", {}, ()),
        ('```json\n{"a": 1}\n```', {}, ()),
        ('```\n{"a": 1}```', {}, ()),
        ('```json\n{"a": 1}\n```', {"allow_fence": False}, ("json_format_invalid",)),
        ('Here: {"a": 1}', {}, ("json_format_invalid",)),
        ('```json\n{"a": 1}\n``` done', {}, ("json_format_invalid",)),
        ("", {}, ("json_format_invalid",)),
        (None, {}, ("json_format_invalid",)),
        ("NaN", {}, ("json_format_invalid",)),
        ('{"a": Infinity}', {}, ("json_format_invalid",)),
        ("9" * 5000, {}, ("json_format_invalid",)),
        ("[" * 100_000, {}, ("json_format_invalid",)),
        ("[1]", {"type": "object"}, ("json_object_expected",)),
        ("null", {"type": "object"}, ("json_object_expected",)),
        ('{"a": 1}', {"type": "array"}, ("json_array_expected",)),
        ("[]", {"type": "array"}, ()),
        ("[1]", {"required_keys": ("a",)}, ("json_object_expected",)),
        ('{"a": 1}', {"required_keys": ("a", "b", "c")}, ("missing_key:b", "missing_key:c")),
        ('{"name": "x", "tags": [1]}', {"schema": SCHEMA}, ()),
        ('{"name": 3}', {"schema": SCHEMA}, ("schema_mismatch:name",)),
        ('{"name": "x", "tags": [1, "b"]}', {"schema": SCHEMA}, ("schema_mismatch:tags.1",)),
        ("{}", {"schema": SCHEMA}, ("schema_mismatch:$",)),
        ("3", {"schema": SCHEMA}, ("schema_mismatch:$",)),
    ],
)
def test_format(answer, options, failures):
    gc.collect()  # or what other tests left is finalized where a nested answer leaves no stack
    found = score(answer, **options)
    assert found.failures == failures
    assert found.values == {FORM: float(not failures)}
    assert found.passed is (not failures)


def test_many_mismatches_give_few_codes():
    schema = {"items": {"type": "integer"}}
    assert len(score(str(["x"] * 1000).replace("'", '"'), schema=schema).failures) == 20


def test_a_schema_that_is_none_is_refused():
    with pytest.raises(UsageError, match="json_format: schema"):
        JsonFormat(schema={"type": "objekt"})


def test_a_reference_outside_is_never_fetched():
    grader = JsonFormat(schema={"$ref": "http://127.0.0.1:9/schema"})
    with pytest.raises(GraderFailure, match=r"schema: .*127\.0\.0\.1"):
        grader.grade(CASE, Response(answer="{}"))


def test_a_case_may_hold_the_schema_and_one_without_is_not_judged():
    grader = JsonFormat(key="form")
    wants_number = Case(id="c", input="i", keys={"form": {"type": "number"}})
    assert grader.grade(wants_number, Response(answer="3")).passed is True
    assert grader.grade(wants_number, Response(answer='"3"')).failures == ("schema_mismatch:$",)
    for keys in ({}, {"form": None}):
        found = grader.grade(Case(id="c", input="i", keys=keys), Response(answer="no JSON"))
        assert (found.passed, found.values) == (None, {FORM: None})


def test_the_key_of_the_schema_is_a_key_of_the_case():
    assert JsonFormat(key="form").keys == {"form": {"type": "object"}}
    assert JsonFormat().keys == {}
