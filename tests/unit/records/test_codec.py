import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.errors import Place
from gate.files.json_schema import mismatches
from gate.records.codec import from_json, json_line, json_text, parse_json, schema_of, to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    n: int
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: str
    kind: Literal["a", "b"] = "a"
    ratio: float = 0.5
    many: tuple[Inner, ...] = ()
    pair: tuple[str, int] = ("x", 1)
    by_name: Mapping[str, float | None] = field(default_factory=dict)
    either: int | Literal["all"] = 1
    maybe: Inner | None = None
    anything: Any = None


FULL = Outer(
    name="n",
    kind="b",
    ratio=2.0,
    many=(Inner(n=1), Inner(n=2, place=Place("f", 3, "k"))),
    pair=("y", 2),
    by_name={"x": 1.0, "y": None},
    either="all",
    maybe=Inner(n=9),
    anything={"deep": [1, "two"]},
)


@pytest.mark.parametrize("record", [FULL, Outer(name="")])
def test_a_record_survives_json(record):
    data = to_json(record)
    assert mismatches(schema_of(Outer), data) == []
    assert from_json(Outer, data) == record


def test_whole_numbers_become_floats_where_the_field_says_so():
    assert isinstance(from_json(Outer, {"name": "n", "ratio": 1}).ratio, float)


def test_nan_and_infinity_have_no_json_form_but_null():
    assert to_json({"a": float("nan"), "b": float("inf")}) == {"a": None, "b": None}


def test_what_has_no_json_form_is_refused():
    with pytest.raises(TypeError, match="set"):
        to_json({1, 2})


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        ({}, (), "'name' is missing"),
        ({"name": 1}, ("name",), "1 is not a string"),
        ({"name": "n", "kidn": "a"}, ("kidn",), "unknown key - did you mean 'kind'?"),
        ({"name": "n", "kind": "c"}, ("kind",), "'c' is not one of a, b"),
        ({"name": "n", "many": [{"n": "x"}]}, ("many", 0, "n"), "'x' is not a whole number"),
        ({"name": "n", "maybe": {"n": 1, "z": 2}}, ("maybe", "z"), "unknown key"),
        ({"name": "n", "pair": ["x"]}, ("pair",), "needs at least 2 items"),
        ({"name": "n", "by_name": {"x": "y"}}, ("by_name", "x"), "is not"),
    ],
)
def test_mismatches_name_their_place(data, path, message):
    found = mismatches(schema_of(Outer), data)
    assert [m.path for m in found] == [path]
    assert message in found[0].message


def test_every_mismatch_is_found_at_once():
    found = mismatches(schema_of(Outer), {"kind": 1, "ratio": "x", "zzz": 1})
    assert len(found) == 4


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda c: st.lists(c) | st.dictionaries(st.text(), c),
    )
)
def test_no_data_crashes_the_check(data):
    for found in mismatches(schema_of(Outer), data):
        assert found.message


_NUMBERS = st.floats(min_value=-1e60, max_value=1e60) | st.sampled_from(
    [math.nan, math.inf, -math.inf]
)


@given(
    st.recursive(
        _NUMBERS | st.none() | st.integers(-(10**30), 10**30) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_number_that_is_none_has_one_form_in_every_file(value):
    text = json_line(value)
    again = parse_json(text)
    assert again == to_json(value) == to_json(again)
    assert json_line(again) == text


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "-1e61", "9" * 41])
def test_what_no_run_measures_is_not_read(word):
    with pytest.raises(ValueError, match="no number that a run measures"):
        parse_json(f'{{"a": [{word}]}}')
    with pytest.raises(ValueError, match="no number that a run measures"):
        parse_json(word.encode())


_PLAIN = st.none() | st.booleans() | st.integers() | st.text()


def nested(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=30,
    )


@given(nested(_PLAIN))
@example("half a character: \ud800")
@example({"beyond 64 bits": 2**64})
def test_json_has_the_form_that_the_standard_library_writes(data):
    assert json_text(data) == json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    assert json_line(data) == json.dumps(data, ensure_ascii=False, separators=(",", ":"))


@given(nested(_PLAIN | st.floats()))
def test_every_number_is_read_again_as_it_was(data):
    """`0.00001` stands where the standard library writes `1e-05`."""
    assert json.loads(json_text(data)) == json.loads(json_line(data)) == to_json(data)


def test_words_and_numbers_of_other_classes_are_written_as_what_they_are():
    class Word(str):
        __slots__ = ()

    assert (
        json_text({Word("a"): [Word("b"), (), {}]})
        == '{\n  "a": [\n    "b",\n    [],\n    {}\n  ]\n}\n'
    )
