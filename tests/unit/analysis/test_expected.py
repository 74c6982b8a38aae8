"""What a dataset expects of a case: which keys a row carries, and how people read it."""

import pytest

from gate.analysis.expected import (
    LIMIT,
    cut_text,
    describe_expected,
    expected_in_row,
    expected_of,
    find_expected,
    list_expected_keys,
)
from gate.graders.exact_match import ExactMatch
from gate.graders.facts import Facts
from gate.graders.hallucination import Hallucination
from gate.records import Case, Trial
from gate.text.redaction import Redactor


def case(**keys):
    return Case(id="a", input="why?", keys={"input": "why?", **keys})


def test_only_what_a_grader_of_the_suite_judges_by_is_expected():
    names = list_expected_keys({"facts": Facts(), "h": Hallucination(), "e": ExactMatch(key="k")})
    assert names == {"expected_facts", "k"}  # a context is given, not expected
    given = case(expected_facts=[30], k="", context="long", expected_answer="not graded")
    assert expected_of(given, names) == {"expected_facts": [30]}


def test_where_nobody_knows_who_judged_all_but_what_is_given_is_expected():
    given = case(expected_answer=0, context="long", metadata={"a": 1}, patterns=None)
    assert expected_of(given) == {"expected_answer": 0}


def row(round_, **keys):
    trial = Trial(suite="s", case=case(**keys), round=round_, attempts=(), started_at="", judged=0)
    return expected_in_row(trial)


def test_the_first_round_says_it_for_all_of_a_case():
    assert row(1, expected_answer="30 days") == {"expected_answer": "30 days"}
    assert row(2, expected_answer="30 days") is None
    rows = [{"round": 2}, {"round": 1, "expected": {"expected_answer": "30 days"}}]
    assert find_expected(rows) == {"expected_answer": "30 days"}
    assert find_expected([{"round": 1}]) == {}


def test_long_expectations_are_cut_and_say_so():
    kept = row(1, expected_answer="x" * 9_000, expected_facts=[30], patterns=["y"])
    assert kept["expected_answer"] == "x" * LIMIT + "… (cut: 5,000 more characters)"
    assert kept["expected_facts"] == "… (cut: 4 more characters)"
    assert len(str(row(1, **{f"k{n}": "z" * 1_000 for n in range(9)}))) < LIMIT + 500
    exact = {"expected_answer": "x" * (LIMIT - 30)}
    assert row(1, **exact) == exact


def test_a_secret_that_a_cut_goes_through_is_still_masked():
    text = cut_text("x" * (LIMIT - 10) + "sk-secret-0123456789")
    assert Redactor(["sk-secret-0123456789"]).redact(text) == (
        "x" * (LIMIT - 10) + "***… (cut: 10 more characters)"
    )


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"expected_answer": "1,120.91"}, "1,120.91"),
        ({"expected_answer": ["Osaka", "Kyoto"]}, "Osaka or Kyoto"),
        ({"expected_facts": [30, "days", {"value": 2019, "required": False}]}, "30, days"),
        ({"expected_facts": [{"value": 15, "near": "cost"}]}, "15 (cost)"),
        (
            {"expected_facts": [{"value": 12, "must_not": True}, {"value": "a+", "regex": True}]},
            "not 12, /a+/",
        ),
        (
            {"expected_tool_calls": [{"name": "find", "args": {"top_k": 5, "q": "a"}}]},
            "find(top_k=5, q=a)",
        ),
        (
            {"expected_tool_calls": [{"name": "go", "any_of": {"to": ["a", "b"]}}, {"name": "x"}]},
            "go(to=a or b), x()",
        ),
        ({"reference_trajectory": [{"name": "a"}, "b"]}, "a() → b"),
        ({"patterns": [r"\d+ days"]}, r"/\d+ days/"),
        (
            {"relevant_doc_ids": ["kb-1", 2], "expected_facts": [30]},
            "30; documents kb-1, 2",
        ),
        ({"relevance_scores": {"a": 1, "b": 3, "c": 0}}, "documents b, a"),
        (
            {"expected_state": {"order": {"paid": True}}},
            'expected state: {"order": {"paid": true}}',
        ),
        ({"min_words": 5, "expected_answer": "so"}, "so; min words: 5"),
        ({}, ""),
        (
            {"expected_answer": "1,120.91 USD.", "expected_facts": [{"value": 1120.91}]},
            "1,120.91 USD.",
        ),
        ({"expected_answer": "so", "expected_facts": [{"value": 3}, "so"]}, "so; 3"),
        ({"expected_answer": "so", "expected_facts": [{"value": "s.", "regex": True}]}, "so"),
        ({"expected_facts": [{"value": "s.", "regex": True}]}, "/s./"),
        (
            {"expected_answer": "no", "expected_facts": [{"value": "no", "must_not": True}]},
            "no; not no",
        ),
        ({"expected": {"value": 1120.91, "unit": "USD"}}, "value: 1120.91, unit: USD"),
        ({"relevant_doc_ids": ["a"], "relevance_scores": {"a": 1}}, "documents a"),
    ],
)
def test_an_expectation_reads_as_one_short_text(expected, text):
    assert describe_expected(expected) == text


@pytest.mark.parametrize("odd", [None, 3, "x", [], {}, [[1]], [{"name": 3}], {"value": None}])
def test_what_a_foreign_row_says_is_told_somehow(odd):
    names = ("expected_answer", "expected_facts", "expected_tool_calls", "reference_trajectory")
    names += ("patterns", "relevant_doc_ids", "relevance_scores", "other")
    assert isinstance(describe_expected(dict.fromkeys(names, odd)), str)
