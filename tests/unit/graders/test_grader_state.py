"""The grader `state`: which facts of the environment hold, and what is told of the others."""

import pytest

from gate.errors import GraderFailure, UsageError
from gate.graders.state import METRIC, State
from gate.records import Case, Response

WORLD = {
    "reward": 1.0,
    "order": {"status": "cancelled", "items": [{"id": "A1"}, {"id": "B2"}]},
    "a.b": 3,
    "open": True,
    "none": None,
}


def score(expected=None, state=WORLD, **options):
    keys = {} if expected is None else {"expected_state": expected}
    case = Case(id="a", input="?", keys=keys)
    return State(**options).grade(case, Response(answer="", state=state))


@pytest.mark.parametrize(
    "expected",
    [
        {"reward": 1},
        {"order.status": "cancelled"},
        {"order": {"status": "cancelled", "items": {"1": {"id": "B2"}}}},
        {"order.items.0.id": "A1"},
        {"order.items": [{"id": "A1"}, {"id": "B2"}]},
        {"a.b": 3},
        {"open": True},
        {"none": None},
        {"a.b": {"value": 2, "tolerance": 1}},
        {"order.status": {"any_of": ["refunded", "cancelled"]}},
        {"order.status": {"value": "cancelled"}},
        {"reward": 1.0000001},
    ],
    ids=str,
)
def test_a_fact_that_holds(expected):
    found = score(expected)
    assert (found.passed, found.values, found.failures) == (True, {METRIC: 1.0}, ())


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ({"reward": 0.9}, "state_mismatch:reward"),
        ({"reward": True}, "state_mismatch:reward"),
        ({"open": 1}, "state_mismatch:open"),
        ({"reward": "1.0"}, "state_mismatch:reward"),
        ({"none": 0}, "state_mismatch:none"),
        ({"order.items": [{"id": "A1"}]}, "state_mismatch:order.items"),
        ({"order.items.0": {}}, "state_mismatch:order.items.0"),
        ({"order.items.2.id": "A1"}, "state_missing:order.items.2.id"),
        ({"order.items.-1.id": "B2"}, "state_missing:order.items.-1.id"),
        ({"order.status.x": None}, "state_missing:order.status.x"),
        ({"gone": None}, "state_missing:gone"),
        ({"gone": {"any_of": [None]}}, "state_missing:gone"),
        ({"reward": {"value": 0.8, "tolerance": 0.1}}, "state_mismatch:reward"),
        ({"reward": {"any_of": [0, 0.5]}}, "state_mismatch:reward"),
        ({"reward": 10**400}, "state_mismatch:reward"),
    ],
    ids=str,
)
def test_a_fact_that_does_not(expected, code):
    found = score(expected)
    assert (found.passed, found.values, found.failures) == (False, {METRIC: 0.0}, (code,))


def test_the_value_is_the_share_of_the_facts_and_the_reason_says_what_was_found():
    found = score({"reward": 1, "open": False, "gone": 1, "a.b": 3})
    assert (found.values, found.passed) == ({METRIC: 0.5}, False)
    assert found.reason == "2 of 4 facts hold; open is true; gone is not there"


def test_the_case_wins_over_what_is_expected_of_all():
    expect = {"reward": 0, "open": True}
    assert score(expect=expect).failures == ("state_mismatch:reward",)
    assert score({"reward": 1}, expect=expect).passed is True


def test_an_agent_that_reports_nothing_is_unscored_and_a_case_without_facts_does_not_count():
    assert "should return `state`" in score({"reward": 1}, state={}).unscored
    assert score({}).values == score(None).values == {METRIC: None}
    assert score(None, state={}).unscored is None


def test_each_case_needs_facts_only_where_none_are_expected_of_all():
    assert State().needs == ("expected_state",)
    assert State(expect={"reward": 1}).needs == ()


def test_what_can_never_hold_is_an_error_of_the_options_or_of_the_case():
    for expect in ({"a": {"any_of": []}}, {"a": {"value": 1, "tolerance": -1}}):
        with pytest.raises(UsageError, match=r"state: expect\.a: "):
            State(expect=expect)
    with pytest.raises(UsageError, match="below 0"):
        State(tolerance=-0.1)
    wrong = {"expected_state": {"a": {"b": {"any_of": "x"}}, "c": {"value": 1, "tolerance": "1"}}}
    assert list(State().case_faults(wrong)) == [
        "expected_state.a.b: any_of must be a list of one or more values",
        "expected_state.c: tolerance must be a number of 0 or more",
    ]


def test_depth_without_end_is_told():
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(GraderFailure, match="nested too deeply"):
        score({"x": {"value": deep, "tolerance": 0}}, state={"x": {"a": deep}})
    keys = {"expected_state": {"x": deep}}
    assert list(State().case_faults(keys)) == [
        "expected_state or the state is nested too deeply to compare"
    ]
