"""Identical calls, and the loops that they make."""

import pytest

from gate.graders.trajectories.identity import call_mark, has_failed
from gate.graders.trajectories.loops import count_repeated, find_loops
from gate.records import ToolCall
from tests.support.growth import calls


def call(name, result=None, error=None, **arguments):
    return ToolCall(name=name, arguments=arguments, result=result, error=error)


def way(letters, **more):
    return [call(letter, **more) for letter in letters]


def found(steps, at_least=3, **more):
    return [
        (loop.start, "".join(loop.tools), loop.times)
        for loop in find_loops(steps, at_least=at_least, **more)
    ]


@pytest.mark.parametrize(
    ("letters", "wanted"),
    [
        ("", []),
        ("aa", []),
        ("aaa", [(1, "a", 3)]),
        ("xaaaay", [(2, "a", 4)]),
        ("ababab", [(1, "ab", 3)]),
        ("xabababa", [(2, "ab", 3)]),
        ("abab", []),
        ("abcdeabcdeabcde", [(1, "abcde", 3)]),
        ("abcdefabcdefabcdef", []),
        ("aaabbb", [(1, "a", 3), (4, "b", 3)]),
        ("aaaaaa", [(1, "a", 6)]),
        ("abcabd", []),
        ("abcabcabcxyxyxy", [(1, "abc", 3), (10, "xy", 3)]),
    ],
)
def test_a_loop_is_a_cycle_of_up_to_five_calls_three_times_in_a_row(letters, wanted):
    assert found(way(letters)) == wanted


def test_how_often_is_an_option():
    assert found(way("aaaa"), at_least=5) == []
    assert found(way("aa"), at_least=2) == [(1, "a", 2)]


def test_other_arguments_are_another_call():
    assert found([call("a", n=n) for n in range(5)]) == []


def test_what_comes_to_something_else_each_time_is_no_loop():
    for pages in (3, 5):
        assert found([call("next_page", result=f"page {n}") for n in range(pages)]) == []
    assert found([call("next_page", result="page 1") for _ in range(5)]) == [(1, "next_page", 5)]


def test_errors_are_alike_whatever_their_text():
    assert found([call("a", error=f"at 12:0{n}") for n in range(3)]) == [(1, "a", 3)]
    told = [call("a", error="late", result=f"waited {n} s") for n in range(3)]
    assert found(told) == [(1, "a", 3)]


def test_tools_that_may_be_asked_again_make_no_loop():
    assert found(way("aaa"), may_repeat=("a",)) == []
    assert count_repeated(way("aaab"), ("a",)) == 0
    assert found(way("xabxabxab"), may_repeat=("x",)) == [(2, "ab", 3)]


@pytest.mark.parametrize(("letters", "wanted"), [("", 0), ("abc", 0), ("aba", 1), ("aaaa", 3)])
def test_repeated_calls_are_counted_anywhere(letters, wanted):
    assert count_repeated(way(letters)) == wanted


def test_a_repeat_with_another_outcome_is_a_repeat():
    assert count_repeated([call("a", result=1), call("a", result=2)]) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"n": 1, "m": 2}, {"m": 2.0, "n": 1}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": 1}, {"n": "1"}, False),
        ({"n": [1, 2]}, {"n": [2, 1]}, False),
        ({}, None, True),
        ({"n": float("nan")}, {"n": float("nan")}, True),
    ],
)
def test_arguments_are_equal_as_json(one, other, same):
    marks = [call_mark(ToolCall(name="a", arguments=given)) for given in (one, other)]
    assert (marks[0] == marks[1]) is same


def test_arguments_that_are_no_json_are_compared_as_they_came():
    one, other = (ToolCall(name="a", raw_arguments=text) for text in ("{n: 1", "{n: 2"))
    assert call_mark(one) != call_mark(other)


def test_arguments_nested_without_end_end_nothing():
    deep = []
    for _ in range(5_000):
        deep = [deep]
    assert count_repeated([ToolCall(name="a", arguments={"x": deep})] * 2) == 1


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (call("a"), False),
        (call("a", error="no"), True),
        (call("a", error=""), True),
        (call("a", result={"error": "no"}), True),
        (call("a", result={"error": None, "rows": []}), False),
        (call("a", result={"isError": True}), True),
        (call("a", result={"is_error": False}), False),
        (call("a", result={"is_error": "no"}), False),
        (call("a", result="error: no such city"), False),  # a text may speak of errors
        (ToolCall(name="a", raw_arguments="{n: 1"), True),
        (ToolCall(name="a", raw_arguments="{n: 1", result="1"), False),  # the tool could read it
        (call("z"), True),
        (call("z", result="1"), False),  # so it is a tool, though nobody says so
    ],
)
def test_which_steps_failed(step, wanted):
    assert has_failed(step, frozenset({"a"})) is wanted


def test_a_thousand_steps_take_no_time():
    steps = [call("abcdefg"[n % 7], result="x" * 100, n=n % 3) for n in range(1_000)]
    assert (
        calls(lambda: (find_loops(steps, at_least=3), count_repeated(steps))) < 150_000
    )  # 70 a step
