"""Patterns in a JSON Schema that could be searched for ever: ended, wherever the schema is from."""

import pytest

from gate.errors import GraderFailure
from gate.files.json_schema import mismatches, mismatches_bounded
from gate.files.json_schema_quick import compile_check
from gate.graders.json_format import JsonFormat
from gate.records import Case, Response
from gate.user_code.processes import PROCESSES

EVIL = "^(a+)+$"
TEXT = "a" * 40 + "!"


@pytest.mark.parametrize(
    ("look", "schema", "data"),
    [
        (mismatches, {"type": "string", "pattern": EVIL}, TEXT),
        (mismatches_bounded, {"patternProperties": {EVIL: {"type": "string"}}}, {TEXT: 1}),
        (mismatches, {"items": {"anyOf": [{"type": "null"}, {"pattern": EVIL}]}}, [TEXT]),
    ],
)
def test_a_schema_that_takes_too_long_is_told(look, schema, data):
    with pytest.raises(GraderFailure, match="a JSON Schema with patterns took longer than"):
        look(schema, data)
    assert compile_check(schema)(data) is False


def test_what_it_finds_elsewhere_is_what_it_finds_here():
    schema = {"type": "object", "patternProperties": {EVIL: {"pattern": EVIL}}}
    (wrong,) = mismatches(schema, {"aaa": "b"})
    assert (wrong.path, wrong.rule) == (("aaa",), "pattern")
    assert mismatches(schema, {"aaa": "a"}) == []
    assert PROCESSES.is_used


def test_an_answer_that_takes_too_long_is_unscored():
    grader = JsonFormat(schema={"type": "string", "pattern": EVIL})
    with pytest.raises(GraderFailure, match="took longer"):
        grader.grade(Case(id="a", input="q", keys={}), Response(answer=f'"{TEXT}"'))
