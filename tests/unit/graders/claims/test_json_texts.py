"""JSON among the sources is read as a person would write it."""

import json

import pytest

from gate.graders.claims.json_texts import read_json
from gate.graders.hallucination import Hallucination
from gate.records import Case, Response


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"id": "K-2", "weight": 3.50, "note": None}, "id: K-2; weight: 3.5"),
        ({"lamp": {"watts": 9, "dims": True}}, "lamp; watts: 9; dims: true"),
        (["red", "blue"], "red, blue"),
        ({"tags": ["red", "blue"]}, "tags: red, blue"),
        (
            {"shop": "Elm", "items": [{"sku": "A", "qty": 2}, {"sku": "B|C"}]},
            "shop: Elm\n\nitems:\n| sku | qty |\n| --- | --- |\n| A | 2 |\n| B/C |  |\n",
        ),
        ([{"a": 1, "b": [1]}, {"a": 2, "b": [2]}], "a: 1\nb: 1\na: 2\nb: 2"),
        ({"page": "x | y\n1 | 2"}, "page:\nx | y\n1 | 2\n"),
    ],
)
def test_records_become_lines_and_lists_of_them_tables(data, text):
    assert read_json(json.dumps(data)) == text


def test_an_object_in_each_line_is_a_list():
    assert read_json('{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n').splitlines() == [
        "",
        "| a | b |",
        "| --- | --- |",
        "| 1 | 2 |",
        "| 3 | 4 |",
    ]


def test_numbers_stay_as_they_are_written():
    assert read_json('{"price": 12.50, "size": 1e3}') == "price: 12.50; size: 1e3"


@pytest.mark.parametrize(
    "text", ["", "[1] Miller", "{not json}", "plain", "[" * 20_000, "{'a': 1}"]
)
def test_any_other_text_stays_as_it_is(text):
    assert read_json(text) == text


STAFF = json.dumps(
    [
        {"name": "Ilse Brandt", "desk": "F4", "since": "2019-05-02", "hours": 38},
        {"name": "Omar Haddad", "desk": "B7", "since": "2021-09-15", "hours": 30},
        {"name": "Tessa Quill", "desk": "C1", "since": "2016-02-01", "hours": 40},
    ]
)


@pytest.mark.parametrize(
    ("answer", "supported"),
    [
        ("Omar Haddad works 30 hours and has desk B7.", True),
        ("Omar Haddad works 38 hours.", False),
        ("Omar Haddad has desk F4 and has been here since 15 September 2021.", False),
        ("Omar Haddad has been here since 2 May 2019.", False),
        ("Together they work 108 hours.", True),
    ],
)
def test_each_record_speaks_for_itself(answer, supported):
    case = Case(id="a", input="Tell me about the staff.", keys={"context": STAFF})
    score = Hallucination(max_rate=0).grade(case, Response(answer=answer))
    assert (score.passed is True) is supported, score.reason
