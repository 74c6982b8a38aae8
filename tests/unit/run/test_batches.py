"""The order of trials: whole rounds, batches between looks, suites in turn."""

from collections import Counter
from itertools import pairwise

import pytest

from gate.records import Case, Suite
from gate.run.batches import PreparedSuite, case_order, deal_batch, deal_rounds, interleave

NOTHING = frozenset()


def suite(name, *ids, rounds=1, streamed=None):
    def cases(part):
        if streamed is not None:
            streamed.append(name)
        return iter([Case(id=i, input="q", keys={}) for i in ids if part is None or i in part])

    made = Suite(name=name, dataset="d", graders=(), rounds=rounds)
    return PreparedSuite(suite=made, graders={}, cases=cases)


def without(*done):
    return lambda *key: key in done


def told(tasks):
    return [(t.suite.name, t.case.id, t.round) for t in tasks]


def test_rounds_come_one_after_another_over_all_suites():
    suites = [suite("a", "1", "2", rounds=2), suite("b", "3")]
    assert told(deal_rounds(suites, without(("a", "1", 2)))) == [
        ("a", "1", 1),
        ("a", "2", 1),
        ("b", "3", 1),
        ("a", "2", 2),
    ]


@pytest.mark.parametrize("cuts", [(0, 12), (0, 3, 12), (0, 5, 10, 12), tuple(range(13))])
def test_batches_make_each_trial_once_however_they_are_cut(cuts):
    order = ("c", "a", "d", "b")
    one = suite("s", "a", "b", "c", "d")
    made = [
        key
        for start, stop in pairwise(cuts)
        for key in told(deal_batch(one, order, range(start, stop), without()))
    ]
    assert Counter(made) == Counter(("s", i, r) for r in (1, 2, 3) for i in "abcd")
    assert [key[2] for key in made] == sorted(key[2] for key in made)


def test_a_batch_is_the_next_stretch_of_the_order_of_the_cases():
    order = ("c", "a", "d", "b")
    one = suite("s", "a", "b", "c", "d")
    assert told(deal_batch(one, order, range(0, 2), without())) == [("s", "a", 1), ("s", "c", 1)]
    across = told(deal_batch(one, order, range(3, 6), without(("s", "c", 2))))
    assert across == [("s", "b", 1), ("s", "a", 2)]


def test_the_dataset_is_streamed_once_a_round_and_not_kept():
    streamed = []
    one = suite("s", *map(str, range(100)), streamed=streamed)
    order = [str(n) for n in range(100)]
    assert len(told(deal_batch(one, order, range(60, 120), without()))) == 60
    assert streamed == ["s", "s"]


def test_the_order_of_the_cases_depends_on_the_commit_and_the_suite_only():
    ids = [f"case {n}" for n in range(50)]
    first = case_order(ids, suite="s", seed="c" * 40)
    assert sorted(first) == sorted(ids)
    assert first == case_order(reversed(ids), suite="s", seed="c" * 40)
    assert first != case_order(ids, suite="s", seed="d" * 40)
    assert first != case_order(ids, suite="t", seed="c" * 40)


def test_suites_take_turns_until_the_last_is_through():
    a, b = suite("a", "1", "2", "3"), suite("b", "4")
    streams = [deal_batch(a, ("1", "2", "3"), range(3), without()), deal_rounds([b], without())]
    assert [key[0] for key in told(interleave(streams))] == ["a", "b", "a", "a"]
