"""Where a run is between its looks, also after it was read back."""

import json

import pytest

from gate.records import Looks, equal_looks
from gate.verdict.course import SETTLED, Course, course

PLANS = {"s": Looks(calls=(10, 20, 30)), "t": Looks(calls=(15, 40))}


def read_back(now, plans=PLANS):
    return course(plans, "c", json.loads(json.dumps(now.state())))


def test_every_suite_goes_on_batch_by_batch_until_it_is_settled():
    now = course(PLANS, "c", None)
    assert (now.trials("s"), now.trials("t")) == (range(10), range(15))
    now = now.after({"s"}, "")
    assert (now.going, now.ended) == ({"s"}, {"t": SETTLED})
    assert (now.trials("s"), now.made) == (range(10, 20), {"s": 1, "t": 1})
    now = now.after(set(), "a regression was found")
    assert (now.going, now.made) == (set(), {"s": 2, "t": 1})
    assert now.ended == {"s": "a regression was found", "t": SETTLED}


def test_nobody_goes_beyond_the_cap():
    now = course(PLANS, "c", None).after({"s", "t"}, "").after({"s", "t"}, "")
    assert (now.going, now.ended) == ({"s"}, {"t": "all 40 trials were run"})


def test_a_run_that_was_cut_off_goes_on_where_it_was():
    now = course(PLANS, "c", None).after({"s"}, "")
    again = read_back(now)
    assert again == now
    assert not again.again


def test_a_run_that_had_ended_makes_the_next_batch_of_every_suite_below_its_cap():
    ended = course(PLANS, "c", None).after({"s", "t"}, "").after({"s"}, "").after(set(), "done")
    again = read_back(ended)
    assert (again.going, again.ended) == (set(), {"s": "done", "t": SETTLED})  # both at their caps
    early = read_back(course(PLANS, "c", None).after({"s"}, "").after(set(), "done"))
    assert (early.going, early.again) == ({"s", "t"}, True)
    assert (early.trials("s"), early.trials("t")) == (range(20, 30), range(15, 40))
    assert early.ended == {}


def test_a_run_without_a_verdict_comes_back_to_its_last_look():
    before = course(PLANS, "c", None).after({"s"}, "")
    cut_off = course(PLANS, "c", before.after(set(), "done").state(), stands=False)
    assert (cut_off.made, cut_off.going, cut_off.again) == (before.made, {"s"}, False)
    assert cut_off.ended == {"t": SETTLED}
    at_cap = course(PLANS, "c", {"looks": {"s": 3, "t": 2}, "going": []}, stands=False)
    assert (at_cap.going, at_cap.trials("s")) == ({"s"}, range(20, 30))


def test_a_run_without_a_verdict_that_was_never_looked_at_begins():
    nothing = course(PLANS, "c", {"looks": {}, "going": []}, stands=False)
    assert (nothing.made, nothing.going) == ({"s": 0, "t": 0}, {"s", "t"})


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"looks": 3, "going": "s", "ended": []},
        {"looks": {"s": "many", "t": True}, "going": [None, ["s"]], "ended": {"s": 1}},
        {"looks": {"s": -5, "other": 2}, "going": [], "ended": None},
    ],
)
def test_a_state_that_makes_no_sense_is_a_beginning(state):
    now = course(PLANS, "c", state)
    assert (now.made, now.going) == ({"s": 0, "t": 0}, {"s", "t"})


def test_no_state_leads_beyond_the_plan():
    now = course(PLANS, "c", {"looks": {"s": 99, "t": 99}, "going": ["s", "x"], "ended": {}})
    assert (now.made, now.going) == ({"s": 3, "t": 2}, set())
    assert now.trials("s") == range(20, 30)


@pytest.mark.parametrize(
    "calls", [(), (0, 5), (5, 5), (9, 3), (-3, 3), (1.5, 3), ("a",), tuple(range(1, 22))]
)
def test_looks_of_a_stored_plan_that_are_none_are_refused(calls):
    with pytest.raises(ValueError, match="ascending"):
        Looks(calls=calls)


@pytest.mark.parametrize(
    ("cap", "batch", "expected"),
    [
        (600, 16, tuple(range(30, 601, 30))),
        (60, 16, (30, 60)),
        (12, 1, (12,)),
        (3, 16, (3,)),
    ],
)
def test_looks_are_equal_and_their_batches_keep_the_workers_busy(cap, batch, expected):
    assert equal_looks(cap, batch=batch).calls == expected


def test_rounds_that_somebody_asked_for_are_made_whatever_a_look_says():
    plans = {"s": Looks(calls=(10, 20, 30, 40))}
    asked = Course(plans=plans, made={"s": 1}, going=frozenset("s"), until={"s": 3}, again=True)
    on = asked.after(set(), "settled")
    assert (on.going, on.made) == ({"s"}, {"s": 2})
    assert course(plans, "", on.state(), stands=False).until == {"s": 3}
    there = on.after({"s"}, "")
    assert (there.going, there.ended) == (frozenset(), {"s": "all 30 trials were run"})
    assert on.after(set(), "settled").ended == {"s": "settled"}


def test_rounds_that_somebody_asked_for_are_not_made_where_they_would_change_nothing():
    plans = {"s": Looks(calls=(10, 20, 30, 40))}
    asked = Course(plans=plans, made={"s": 1}, going=frozenset("s"), until={"s": 3}, again=True)
    worse = asked.after(set(), "it got worse", over=True)
    assert (worse.going, worse.ended) == (frozenset(), {"s": "it got worse"})


@pytest.mark.parametrize("until", [7, {"s": "x"}, {"s": -1}, {"s": 10**9}, {"t": 2}, {"s": True}])
def test_a_stored_number_of_looks_is_not_believed(until):
    plans = {"s": Looks(calls=(10, 20))}
    state = {"looks": {"s": 0}, "going": ["s"], "ended": {}, "until": until}
    assert set(course(plans, "", state).until.values()) <= {1, 2}
