"""Paths as they are stored and compared: bounded, stable, side by side."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.graders.trajectories.alignment import LINES, align_paths
from gate.graders.trajectories.path import (
    KEPT,
    Path,
    PathStep,
    choose_representatives,
    limit_paths,
    path_of,
    path_of_row,
)
from gate.graders.trajectories.reference import reference_path
from gate.records import Case, ToolCall
from gate.records.codec import to_json
from tests.support.growth import calls

SIGNS = {"same": " ", "added": "+", "removed": "-", "changed": "~"}


def call(name, **arguments):
    return ToolCall(name=name, arguments=arguments)


def path(letters, **more):
    """A step a letter; `a1` would be two."""
    return path_of([call(letter) for letter in letters], **more)


def told(was, now):
    return [SIGNS[step.kind] + (step.now or step.was) for step in align_paths(was, now)]


def letters(was, now):
    return " ".join(line.removesuffix("()") for line in told(path(was), path(now)))


# ------------------------------------------------------------------------------------ the alignment


@pytest.mark.parametrize(
    ("was", "now", "wanted"),
    [
        ("", "", ""),
        ("ab", "ab", " a  b"),
        ("ab", "axb", " a +x  b"),
        ("axb", "ab", " a -x  b"),
        ("ab", "ac", " a -b +c"),
        ("", "ab", "+a +b"),
        ("ab", "", "-a -b"),
        ("abc", "bca", "-a  b  c +a"),
        ("ab", "aaaab", " a +a +a +a  b"),
    ],
)
def test_the_fewest_changes_lead_from_one_to_the_other(was, now, wanted):
    assert letters(was, now) == wanted


def test_a_call_with_other_arguments_is_changed_and_both_are_told():
    was, now = path_of([call("get", id=7)]), path_of([call("get", id=8)])
    (change,) = align_paths(was, now)
    assert (change.kind, change.was, change.now) == ("changed", 'get({"id":7})', 'get({"id":8})')


def test_three_calls_with_other_arguments_are_fewer_changes_than_two_that_go_and_two_that_come():
    was, now = (path_of([call("get", id=n) for n in ids]) for ids in ((1, 2, 3), (3, 8, 9)))
    assert [step.kind for step in align_paths(was, now)] == ["changed"] * 3
    later = path_of([call("get", id=n) for n in (2, 3, 9)])
    assert [step.kind for step in align_paths(was, later)] == ["removed", "same", "same", "added"]


def test_arguments_are_compared_whole_though_they_are_cut():
    long = "x" * 500
    was, now = (path_of([call("get", text=long + end)]) for end in "ab")
    assert [step.kind for step in align_paths(was, now)] == ["changed"]
    assert was.steps[0].arguments == now.steps[0].arguments
    assert len(was.steps[0].arguments) == 71


def test_a_reference_without_arguments_stands_for_any():
    keys = {"reference_trajectory": [{"name": "get"}, {"name": "put", "args": {}}]}
    reference = reference_path(Case(id="a", input="?", keys=keys))
    now = path_of([call("get", id=8), call("put", id=8)])
    assert [step.kind for step in align_paths(reference, now)] == ["same", "changed"]
    assert align_paths(reference, now)[0].was == "get(...)"
    assert [step.kind for step in align_paths(now, reference)] == ["same", "changed"]


@pytest.mark.parametrize(
    ("wanted", "made", "kind"),
    [
        ({"any_of": {"id": [7, 8]}}, {"id": 9}, "same"),
        ({"args": {"id": 7, "n": 1}, "optional": ["n"]}, {"id": 7}, "same"),
        ({"args": {"id": 7}}, {"id": 7.0}, "same"),
        ({"args": {"id": 7}}, {"id": 8}, "changed"),
    ],
)
def test_arguments_that_a_reference_leaves_open_are_any(wanted, made, kind):
    keys = {"reference_trajectory": [{"name": "get", **wanted}]}
    reference = reference_path(Case(id="a", input="?", keys=keys))
    assert [step.kind for step in align_paths(reference, path_of([call("get", **made)]))] == [kind]


@pytest.mark.parametrize(
    "keys", [{}, *({"reference_trajectory": it} for it in (None, [], [3], "x"))]
)
def test_a_case_without_a_reference_has_no_path(keys):
    assert reference_path(Case(id="a", input="?", keys=keys)) is None


def test_what_was_cut_off_is_counted_and_not_compared():
    was, now = path("a" * 50, most=30), path("a" * 50)
    changes = align_paths(was, now)
    assert {step.kind for step in changes[:30]} == {"same"}
    assert (changes[30].was, changes[30].now) == ("20 more steps", "20 more steps")
    longer = align_paths(was, path("a" * 51))
    assert (longer[30].kind, longer[30].now) == ("changed", "21 more steps")
    assert told(path("a"), path("ab", omitted=0).cut(1))[-1] == "+1 more step"


def test_a_comparison_is_bounded_and_counts_what_it_leaves_out():
    changes = align_paths(path("a"), path("ab" * 500))
    assert len(changes) == LINES
    assert changes[-1].now == "941 more steps"


def test_two_hundred_by_two_hundred_steps_take_no_time():
    was, now = (path_of([call(f"t{(n * k) % 17}") for n in range(200)]) for k in (3, 5))
    assert calls(lambda: align_paths(was, now)) < 200_000  # 100,000: a few for each pair of steps


@given(was=st.text("abc", max_size=12), now=st.text("abc", max_size=12))
def test_each_side_can_be_read_off_the_lines(was, now):
    changes = align_paths(path(was), path(now))
    assert "".join(step.was[:1] for step in changes) == was
    assert "".join(step.now[:1] for step in changes) == now
    kept = sum(step.kind == "same" for step in changes)
    assert len(was) + len(now) - 2 * kept == len(changes) - kept  # nothing is both gone and new


# ---------------------------------------------------------------------------------------- the paths


def row(case, number, *, passed, steps=(), status="completed", **more):
    told = None if steps is None else to_json(tuple(call(name) for name in steps))
    base = {"case_id": case, "round": number, "passed": passed, "status": status, "steps": told}
    return {**base, **more}


def test_the_first_round_that_passed_stands_for_the_case():
    found = choose_representatives(
        [
            row("a", 1, passed=False, steps="x"),
            row("a", 2, passed=True, steps="y"),
            row("a", 3, passed=True, steps="z"),
            row("b", 2, passed=False, steps="z"),
            row("b", 1, passed=False, steps="x"),
            row("c", 1, passed=None, steps=None),
            row("d", 1, passed=False, status="agent_error", steps=None),
            row("e", 1, passed=True, steps=""),
            row("f", 1, passed=False, status="agent_error", steps=None),
            row("f", 2, passed=False, steps="x"),
        ]
    )
    assert {case: [s.tool for s in one.steps] for case, one in found.items()} == {
        "a": ["y"],
        "b": ["x"],
        "e": [],
        "f": ["x"],
    }


def test_a_stored_path_ends_after_thirty_steps_and_knows_how_many_follow():
    (kept,) = choose_representatives(
        [row("a", 1, passed=True, steps="x" * 50, omitted_steps=9)]
    ).values()
    assert (len(kept.steps), kept.omitted) == (KEPT, 29)


def test_a_suite_stores_a_bounded_number_of_steps():
    rows = [row(f"c{n:02}", 1, passed=True, steps="xx") for n in range(30)]
    assert list(choose_representatives(rows, most=5)) == ["c00", "c01", "c02"]
    assert list(limit_paths(choose_representatives(rows), most=5)) == ["c00", "c01"]


def test_hostile_names_and_arguments_are_one_short_line():
    call_of = {"name": "x\n\x1b[31m" * 99, "arguments": {"q\n": "::error::\u202e" * 99}}
    step = path_of_row(row("a", 1, passed=False) | {"steps": [call_of]}).steps[0]
    assert len(step.tool) <= 80
    assert len(step.arguments) <= 80
    assert not {*"\n\t"} & {*step.text}


def test_the_same_steps_give_the_same_bytes():
    one, other = (path_of([ToolCall(name="a", arguments=given)]) for given in ARGUMENTS)
    assert json.dumps(to_json(one)) == json.dumps(to_json(other))
    assert one == Path(steps=(PathStep(tool="a", digest=DIGEST, arguments=TEXT),))


ARGUMENTS = ({"b": [1, 2.5], "a": 1.0}, {"a": 1, "b": [1.0, 2.5]})
TEXT = '{"a":1,"b":[1,2.5]}'
DIGEST = hashlib.sha256(TEXT.encode()).hexdigest()[:12]
