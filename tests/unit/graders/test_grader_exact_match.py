import pytest

from gate.graders.exact_match import METRIC, ExactMatch
from gate.records import Case, Response


def score(expected, answer, **options):
    case = Case(id="a", input="?", keys={"expected_answer": expected})
    return ExactMatch(**options).grade(case, Response(answer=answer))


@pytest.mark.parametrize(
    ("expected", "answer", "passed"),
    [
        ("Paris", " paris\n", True),
        ("Paris", "Paris.", False),
        ("two  words", "two\nwords", True),
        ("STRASSE", "straße", True),
        ("Ａ", "a", True),
        (42, "42", True),
        (42, "42.0", False),
        (True, "TRUE", True),
        (["Paris", "Paname"], "paname", True),
        (["Paris", "Paname"], "Rome", False),
        ("x", None, False),
        ("x", "x\0", False),
    ],
)
def test_default_steps(expected, answer, passed):
    found = score(expected, answer)
    assert found.passed is passed
    assert found.values == {METRIC: float(passed)}
    assert found.failures == (() if passed else ("answer_mismatch",))


@pytest.mark.parametrize(
    ("steps", "expected", "answer", "passed"),
    [
        ([], "a", "a ", False),
        (["strip"], "a", " a ", True),
        (["strip"], "a", "A", False),
        (["casefold"], "a", "A", True),
        (["punctuation", "strip"], "yes, sir", "yes sir!", True),
        (["numbers"], "1200 units", "1,200.0 units", True),
        (["numbers"], "15 %", "15.0%", True),
        (["numbers"], "15 %", "15", False),
        (["numbers"], "$1.2M", "1200000", True),
        (["numbers"], "5 or 6", "6 or 5", False),
    ],
)
def test_chosen_steps(steps, expected, answer, passed):
    assert score(expected, answer, normalize=tuple(steps)).passed is passed


@pytest.mark.parametrize("nothing", [None, "", []])
def test_nothing_expected_is_not_counted(nothing):
    found = score(nothing, "x")
    assert (found.values, found.passed) == ({METRIC: None}, None)


def test_another_key():
    grader = ExactMatch(key="label")
    assert (grader.needs, list(grader.keys)) == (("label",), ["label"])
    case = Case(id="a", input="?", keys={"label": "b", "expected_answer": "a"})
    assert grader.grade(case, Response(answer="b")).passed


def test_the_reason_is_short_and_shows_both():
    reason = score("a" * 500, "b" * 500).reason
    assert "aaa" in reason
    assert "bbb" in reason
    assert len(reason) < 300
