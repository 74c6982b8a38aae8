import pytest

from gate.errors import UsageError
from gate.graders.contains import METRIC, Contains
from gate.records import Case, Response


def score(answer, keys=None, **options):
    case = Case(id="a", input="?", keys=keys or {})
    return Contains(**options).grade(case, Response(answer=answer))


@pytest.mark.parametrize(
    ("options", "answer", "passed"),
    [
        ({"text": "12"}, "in 2012", True),
        ({"text": "12", "word": True}, "in 2012", False),
        ({"text": "12", "word": True}, "12 of them", True),
        ({"text": "Yes"}, "yes", False),
        ({"text": "Yes", "ignore_case": True}, "YES!", True),
        ({"any_of": ("a", "b")}, "b", True),
        ({"any_of": ("a", "b")}, "c", False),
        ({"all_of": ("a", "b")}, "ab", True),
        ({"all_of": ("a", "b")}, "b", False),
        ({"text": "a", "any_of": ("b", "c")}, "ac", True),
        ({"text": "a", "any_of": ("b", "c")}, "bc", False),
        ({"text": "a"}, None, False),
    ],
)
def test_contains(options, answer, passed):
    found = score(answer, **options)
    assert found.passed is passed
    assert found.values == {METRIC: float(passed)}


def test_codes_name_what_is_missing():
    found = score("b", all_of=("a", "b"), any_of=("x", "y"))
    assert found.failures == ("text_missing:a", "text_missing:any of x, y")
    assert found.reason == "the answer lacks a; any of x, y"


@pytest.mark.parametrize(
    ("written", "passed"), [("a", True), (["a", "b"], False), (None, None), ([], None), ("", None)]
)
def test_texts_of_the_case(written, passed):
    found = score("a", {"phrases": written}, key="phrases")
    assert found.passed is passed
    assert (found.values[METRIC] is None) is (passed is None)


def test_a_key_is_needed_and_described():
    assert Contains(key="phrases").needs == ("phrases",)
    assert list(Contains(key="phrases").keys) == ["phrases"]
    assert Contains(text="a").needs == ()


@pytest.mark.parametrize("options", [{}, {"text": ""}, {"any_of": ("",)}, {"all_of": ("a", "")}])
def test_options_that_any_answer_meets_are_refused(options):
    with pytest.raises(UsageError, match="contains: "):
        Contains(**options)
