"""How a wrong answer misses what was expected; where the texts do not tell, nothing is said."""

import pytest

from gate.analysis.answer_kinds import kind_of


@pytest.mark.parametrize(
    ("expected", "answer", "kind"),
    [
        ({"expected_answer": "20 days"}, " \n", "empty"),
        ({}, "Traceback (most recent call last):\n ...", "error_text"),
        ({"expected_answer": "a"}, "requests.exceptions.ConnectionError: refused", "error_text"),
        ({"expected_answer": "a"}, '{"error": {"message": "rate limit"}}', "error_text"),
        (
            {"expected_answer": "a"},
            "An error occurred while processing your request.",
            "error_text",
        ),
        ({"expected_answer": "The error rate is 4 %"}, "The error rate is 5 %", "other_number"),
        ({"expected_answer": "20 days"}, "I do not know.", "abstains"),
        ({"expected_facts": [{"value": 54}]}, "I could not find that.", "abstains"),
        ({"expected_answer": "Not known."}, "The password is hunter2.", "answers"),
        ({"expected_answer": "Not known."}, "Nobody knows that.", ""),
        ({"expected_answer": "The fee is not refundable."}, "I do not know.", ""),
        ({"expected_answer": "Paris"}, "paris.", "form"),
        ({"expected_answer": "Paris"}, "The capital is Paris.", "more_text"),
        ({"expected_answer": "Paris"}, "Parisian", ""),
        ({"expected_answer": ["Paris", "Lyon"]}, "It is Lyon!", "more_text"),
        ({"expected_answer": "Paris"}, "Paris", ""),
        ({"expected_answer": {"a": 1}}, "a is 1", "no_json"),
        ({"answer_schema": {"type": "object"}}, '```json\n{"a": 1}\n```', "json_in_text"),
        ({"answer_schema": {"type": "object"}}, '{"a": 1}', ""),
        ({"expected_answer": "2024-03-05"}, "On 5 March 2024.", "date_form"),
        ({"expected_answer": "2024-03-05"}, "On 6 March 2024.", ""),
        ({"expected_facts": [{"value": 6.9}]}, "The rate is 0.069.", "scale"),
        ({"expected_answer": "1,120.91 USD"}, "It is 112,091 in all.", "scale"),
        ({"expected_answer": "54 tickets"}, "There are 89 tickets.", "other_number"),
        ({"expected_facts": [54]}, "89, or 54 with those of June", ""),
        ({"expected_answer": "54 tickets"}, "Tickets are counted by day.", "no_number"),
        ({"expected_facts": [{"value": "5.", "regex": True}]}, "89", ""),
        ({"expected_facts": [{"value": 5, "must_not": True}]}, "89", ""),
        ({"expected_answer": "between 3 and 5"}, "89", ""),
        ({"expected_answer": "in 2024"}, "in 2023", ""),
        ({}, "anything", ""),
        ({"relevant_doc_ids": ["kb-1"]}, "89", ""),
    ],
)
def test_each_kind(expected, answer, kind):
    assert kind_of(expected, answer) == kind


# Of others' data sets and answers, written apart.
@pytest.mark.parametrize(
    ("expected", "answer", "kind"),
    [
        (
            {"expected_answer": "$1.2M"},
            "Revenue came to $1.4 million last quarter.",
            "other_number",
        ),
        ({"expected_answer": "42"}, "The answer is 42", "more_text"),
        ({"expected_answer": "Marie Curie"}, "marie curie", "form"),
        ({"expected_facts": [{"value": 30}]}, "Sorry, I can't help with that.", "abstains"),
        ({"expected_answer": "unanswerable"}, "It was built in 1889.", "answers"),
        ({"expected_answer": "15 %"}, "It rose by 0.15.", "scale"),
        ({"expected_answer": "SELECT 1"}, "Error: no such table: orders", "error_text"),
        ({"expected": "positive"}, "The sentiment of this review is positive.", "more_text"),
        ({"expected": "positive"}, "negative", ""),
    ],
)
def test_kinds_of_answers_written_apart(expected, answer, kind):
    assert kind_of(expected, answer) == kind


@pytest.mark.parametrize(
    "odd", [None, True, [], [[1]], {"value": None}, [{"value": [1]}], "\ud800"]
)
def test_what_a_foreign_row_expects_never_fails(odd):
    names = ("expected_answer", "expected_facts", "answer_schema", "expected")
    assert isinstance(kind_of(dict.fromkeys(names, odd), "an answer of 5"), str)
    assert isinstance(kind_of({}, "x\x00\u202e" * 9_000), str)
