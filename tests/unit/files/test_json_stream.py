"""JSON with NaN, item by item: what comes of it, and where it says that something is wrong."""

import math

import pytest

from gate.errors import InvalidInput
from gate.files.json_stream import PYTHON, is_too_deep, iterate_members, parse_json


def listed(text, *by_item):
    return [(one.key, one.data, one.line) for one in iterate_members(text.encode(), "f", by_item)]


def test_lists_that_are_named_come_item_by_item_with_their_lines():
    text = '{"a": 1,\n "list": [ {"b": 2},\n  3\n ], "other": [4, 5],\n "empty": [], "n": null}\n'
    assert listed(text, "list", "empty", "n") == [
        ("a", 1, 1),
        ("list", {"b": 2}, 2),
        ("list", 3, 3),
        ("other", [4, 5], 4),
        ("n", None, 5),
    ]
    assert listed("{}") == []


def test_numbers_that_are_none_are_floats():
    a, b, c = parse_json(b"[NaN, Infinity, -Infinity]", "f", PYTHON)
    assert math.isnan(a)
    assert (b, c) == (math.inf, -math.inf)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1: empty"),
        ('{"a": [1,\n 2', "f:2: cut off in the middle"),
        ('{"a": "b', "f:1: cut off in the middle"),
        ('{"a"', "f:1: cut off in the middle"),
        ('{"a": 1', "f:1: cut off in the middle"),
        ('{"a": 1,}', "f:1: a ',' with nothing after it"),
        ('{"a": [1,]}', "f:1: a ',' with nothing after it"),
        ('{"a" 1}', "f:1: a ':' is missing"),
        ('{"a": 1 "b": 2}', "f:1: a ',' or the '}' is missing"),
        ('{"a": 1,\n"a": 2}', "f:2: the key 'a' appears twice"),
        ('{"b": {"a": 1, "a": 2}}', "f:1: the key 'a' appears twice"),
        ('{"a": 1} 2', "f:1: unexpected text after the end"),
        ("[1]", "f:1: no JSON object"),
        ('{"a": "\\ud800"}', "f:1: an incomplete character"),
        ('{"a": ' + "[" * 100_000, "f:1: nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "f:1: Exceeds the limit"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, message):
    with pytest.raises(InvalidInput) as caught:
        listed(text, "a")
    assert str(caught.value).startswith(message)


def test_one_whole_value_has_nothing_behind_it():
    assert parse_json(b' {"a": [1]} \n', "f") == {"a": [1]}
    with pytest.raises(InvalidInput, match="f:2: unexpected text after the end of the value"):
        parse_json(b"1\n2", "f")


def test_depth_is_counted_over_lists_and_objects():
    value = 1
    for _ in range(100):
        value = {"a": [value]}
    assert not is_too_deep(value)
    assert is_too_deep([[value]], most=200)
