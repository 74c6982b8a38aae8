import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.regex import LIMIT, METRIC, Regex
from gate.records import Case, Response


def score(answer, keys=None, **options):
    case = Case(id="a", input="?", keys=keys or {})
    return Regex(**options).grade(case, Response(answer=answer))


@pytest.mark.parametrize(
    ("options", "answer", "failures"),
    [
        ({"pattern": r"\b\d+ km\b"}, "it is 12 km", ()),
        ({"pattern": r"\d"}, "none", (r"pattern_missing:\d",)),
        ({"pattern": ("a", "b")}, "b", ("pattern_missing:a",)),
        ({"pattern": "A"}, "a", ("pattern_missing:A",)),
        ({"pattern": "A", "flags": ("ignore_case",)}, "a", ()),
        ({"pattern": "^b", "flags": ("multiline",)}, "a\nb", ()),
        ({"pattern": "a.b", "flags": ("dotall", "ignore_case")}, "A\nB", ()),
        ({"must_not": ("sorry",)}, "I am sorry", ("forbidden_pattern_hit:sorry",)),
        ({"must_not": ("sorry",)}, "fine", ()),
        (
            {"pattern": "x", "must_not": ("y",)},
            "y",
            ("pattern_missing:x", "forbidden_pattern_hit:y"),
        ),
        ({"pattern": "x"}, None, ("pattern_missing:x",)),
    ],
)
def test_patterns(options, answer, failures):
    found = score(answer, **options)
    assert found.failures == failures
    assert found.passed is (not failures)
    assert found.values == {METRIC: float(not failures)}


@pytest.mark.parametrize(
    ("written", "passed"), [("^a", True), (["a", "b"], False), (None, None), ([], None)]
)
def test_patterns_of_the_case(written, passed):
    assert score("a", {"patterns": written}, key="patterns").passed is passed


def test_a_broken_pattern_of_a_case_leaves_the_answer_unscored():
    with pytest.raises(GraderFailure, match="patterns: '\\(' is not a pattern"):
        score("a", {"patterns": "("}, key="patterns")


@pytest.mark.parametrize(
    "options",
    [{}, {"pattern": ""}, {"pattern": "("}, {"must_not": ("*",)}, {"pattern": "a{9999999999}"}],
)
def test_broken_options_are_refused(options):
    with pytest.raises(UsageError, match="regex: "):
        Regex(**options)


def test_only_the_beginning_of_a_huge_answer_is_read():
    assert score("x" * LIMIT + "needle", pattern="needle").passed is False
    assert score("x" * (LIMIT - 6) + "needle", pattern="needle").passed is True
