import pytest

from gate.errors import GraderFailure
from gate.graders.constraints import FACTS, FOLLOWED, FORM, Constraints
from gate.records import Case, Response
from gate.suites.cases.keys import key_rules


def score(answer, keys, **options):
    return Constraints(**options).grade(Case(id="a", input="?", keys=keys), Response(answer=answer))


def test_each_metric_has_a_value_where_the_case_demands_something_of_its_kind():
    keys = {"format_type": "json_keys", "expected_keys": ["a", "b"], "fact_patterns": ["1", "2"]}
    assert score('{"a": 1}', keys).values == {FORM: 0.0, FACTS: 0.5, FOLLOWED: None}
    assert score("[1]", {"format_type": "json_array"}).values[FORM] == 1.0
    assert score("12", {"max_words": 1, "min_words": 2}).values == {
        FORM: None,
        FACTS: None,
        FOLLOWED: 0.5,
    }


def test_a_blank_answer_is_worst_in_all_that_was_demanded():
    keys = {"format_type": "json_array", "fact_patterns": ["1"], "forbid_patterns": ["x"]}
    found = score("", keys)
    assert found.values == {FORM: 0.0, FACTS: 0.0, FOLLOWED: 0.0}
    assert found.failures == ("completion_failed",)


def test_the_reason_says_what_was_wanted_and_what_was_found():
    keys = {"fact_patterns": [r"\bOslo\b"], "max_words": 2, "line_prefix": "- ", "item_count": 1}
    told = score("It is Bergen", keys).reason
    assert r"no match for the fact '\\bOslo\\b'" in told
    assert "3 words, expected at most 2" in told
    assert "the line 'It is Bergen' does not begin with '- '" in told
    assert "'N/A'" in score("N/A", {"format_type": "json_array"}).reason


def test_without_an_opinion_it_measures_all_the_same():
    found = score("a b", {"max_words": 1}, fail=False)
    assert found.values[FOLLOWED] == 0.0
    assert (found.passed, found.failures) == (None, ())
    assert "2 words" in found.reason
    assert Constraints(fail=False).decides is False


@pytest.mark.parametrize("answer", ["x", ""])
def test_a_case_that_demands_nothing_is_not_judged_but_upstream(answer):
    keys = {"max_words": None, "fact_patterns": [], "expected_answer_regex": ""}
    assert score(answer, keys).passed is None
    assert score(answer, keys, mode="upstream").passed is bool(answer)


def test_a_pattern_that_slipped_through_leaves_the_answer_unscored():
    with pytest.raises(GraderFailure, match="is not a pattern"):
        score("a", {"must_patterns": ["("]})


@pytest.mark.parametrize(
    ("key", "least"), [("min_chars", 0), ("max_words", 0), ("min_items", 0), ("item_count", 1)]
)
def test_a_number_of_a_case_has_a_least_value(key, least):
    rules = key_rules({"constraints": Constraints()})
    assert list(rules.faults({key: least})) == []
    (told,) = rules.faults({key: least - 1})
    assert told.startswith(f"{key}: ")


def test_faults_of_a_case_follow_the_mode():
    keys = {"min_chars": 2, "max_chars": 1}
    assert len(list(Constraints().case_faults(keys))) == 1
    assert list(Constraints(mode="upstream").case_faults(keys)) == []
