import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.numeric import METRIC, Numeric
from gate.records import Case, Response


def score(expected, answer, **options):
    case = Case(id="a", input="?", keys={"expected_answer": expected})
    return Numeric(**options).grade(case, Response(answer=answer))


@pytest.mark.parametrize(
    ("expected", "answer", "options", "passed"),
    [
        (42, "The answer is 42.", {}, True),
        (42, "6 * 7 = 42", {}, True),
        (6, "6 * 7 = 42", {"pick": "first"}, True),
        (6, "6 * 7 = 42", {}, False),
        (42, "43", {}, False),
        (42, "43", {"abs_tol": 1}, True),
        (100, "101", {"rel_tol": 0.01}, True),
        (1.23, "1.2", {"rounding": True}, True),
        (-5, "fell by 5", {"sign": "ignore"}, True),
        ("120,411.25 USD.", "$120,411.25", {}, True),
        ("about 30 %", "0.30", {}, True),
        ([41, 42], "42", {}, True),
        (1234.5, "1.234,5", {"locale": "de"}, True),
        (1, "7", {"value": 7}, True),
    ],
)
def test_numeric(expected, answer, options, passed):
    found = score(expected, answer, **options)
    assert found.passed is passed
    assert found.values == {METRIC: float(passed)}
    assert found.failures == (() if passed else ("number_mismatch",))


def test_an_answer_without_a_number():
    found = score(42, "I do not know")
    assert found.failures == ("number_missing",)
    assert found.reason == "the answer states no number, expected 42"


def test_only_one_number_is_wanted():
    assert score(42, "6 * 7 = 42", pick="only").failures == ("number_ambiguous",)
    assert score(42, "42", pick="only").passed


@pytest.mark.parametrize("nothing", [None, "", []])
def test_nothing_expected_is_not_counted(nothing):
    assert score(nothing, "1").values == {METRIC: None}


@pytest.mark.parametrize("expected", ["Paris", "1 and 2", True, [1, None]])
def test_an_expectation_without_one_number_leaves_the_answer_unscored(expected):
    with pytest.raises(GraderFailure, match=r"expected_answer: .* does not state one number"):
        score(expected, "1")


def test_a_value_needs_no_key():
    assert Numeric(value=7).needs == ()
    assert Numeric().needs == ("expected_answer",)


@pytest.mark.parametrize("options", [{"rel_tol": -0.1}, {"abs_tol": -1}])
def test_a_negative_tolerance_is_refused(options):
    with pytest.raises(UsageError, match="below 0"):
        Numeric(**options)


@pytest.mark.parametrize(
    ("expected", "answer", "options", "passed"),
    [
        (12, "twelve", {}, True),
        (12, "twelve", {"number_words": False}, False),
        (42, "two tries: 42", {}, True),
        (30, "30 %", {"percent_as_number": False}, False),
        (9.52, "9.5", {}, False),
        (9.52, "9.5", {"rel_tol": 0.0005}, True),
        ("7k", "7000", {}, True),
        ("007", "7", {}, True),
        ("$5", "€5", {}, False),
    ],
)
def test_numbers_are_read_and_compared_as_in_facts(expected, answer, options, passed):
    assert score(expected, answer, **options).passed is passed
