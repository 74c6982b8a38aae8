"""Failed steps: mended, left lying, and hidden."""

import pytest

from gate.graders.trajectories.recovery import admits, find_failures
from gate.records import ToolCall


def ok(name="search", turn=None, **arguments):
    return ToolCall(name=name, arguments=arguments, result="found", turn=turn)


def bad(name="search", turn=None, **arguments):
    return ToolCall(name=name, arguments=arguments, error="boom", turn=turn)


def mended(*steps):
    return [(one.number, one.mended) for one in find_failures(steps)]


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([], []),
        ([ok()], []),
        ([bad()], [(1, False)]),
        ([bad(q="a"), ok(q="a")], [(1, True)]),
        ([bad(q="a"), ok(q="b")], [(1, True)]),  # corrected arguments
        ([ok(q="a"), bad(q="a")], [(2, False)]),  # what worked before mends nothing
        ([bad(q="a"), bad(q="a"), ok(q="a")], [(1, True), (2, True)]),
        ([bad("search", q="a"), ok("web", q="a")], [(1, True)]),  # another tool for the same
        ([bad("search", q="a"), ok("web", q="b")], [(1, False)]),
        ([bad("search"), ok("list")], [(1, False)]),  # no arguments in common
        ([bad(turn=1, q="a"), ok(turn=1, q="b")], [(1, False)]),  # called side by side
        ([bad(turn=1, q="a"), ok(turn=2, q="b")], [(1, True)]),
        ([ok(turn=1, q="a"), bad(turn=1, q="b"), ok(turn=2, q="b")], [(2, True)]),
    ],
)
def test_a_failed_step_is_mended_by_a_later_call_that_worked(steps, wanted):
    assert mended(*steps) == wanted


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "  \n",
        "I could not reach the weather service.",
        "Sorry, no figures today.",
        "The tool **failed**, so this is from memory.",
        "I can’t say: the request timed out.",
        "UNABLE to find it",
    ],
)
def test_an_answer_that_says_so_hides_nothing(answer):
    assert admits(answer)


@pytest.mark.parametrize(
    "answer",
    ["It is 18 degrees in Tokyo.", "A failsafe estimate: 12.", "Terrorism fell by 4 %.", "12"],
)
def test_an_answer_as_if_all_was_fine_does(answer):
    assert not admits(answer)


def test_words_of_another_language_can_be_added():
    assert not admits("Das ging leider nicht.")
    assert admits("Das ging leider nicht.", ["Leider"])


def test_a_long_answer_is_read_in_no_time():
    assert not admits("word " * 80_000)
