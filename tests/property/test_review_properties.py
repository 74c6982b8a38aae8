"""The rotation over many periods in which cases come, go and change their doubts."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gate.commands.label_review.rotation import Candidate, choose
from gate.text.spreadsheet_cells import defuse, restore

sizes = st.integers(1, 12)
doubts = st.none() | st.floats(0.0, 1.0)
pools = st.dictionaries(st.integers(0, 25), doubts, min_size=1)


def candidates(found):
    return [Candidate(case_id=str(n), case_digest="d", uncertainty=d) for n, d in found.items()]


@given(periods=st.lists(st.tuples(pools, sizes), min_size=1, max_size=25))
def test_a_case_is_shown_once_a_cycle_and_a_cycle_begins_when_all_that_are_there_were_seen(periods):
    seen = {}
    for found, size in periods:
        choice = choose(candidates(found), "s", seen, size)
        keys = [pick.candidate.key for pick in choice.picks]
        assert len(set(keys)) == len(keys) == min(size, len(found))
        after = {**seen, **{pick.candidate.key: pick.cycle for pick in choice.picks}}
        for pick in choice.picks:
            assert pick.cycle > seen.get(pick.candidate.key, 0)
            if pick.cycle > max(seen.values(), default=1):
                assert all(after.get((str(n), "d"), 0) >= pick.cycle - 1 for n in found)
        seen = after


@given(found=pools, size=sizes)
def test_weights_sum_to_all_cases_of_the_strata_that_are_shown(found, size):
    choice = choose(candidates(found), "s", {}, size)
    represented = sum(one.cases for one in choice.strata.values() if one.shown)
    assert sum(pick.weight for pick in choice.picks) == pytest.approx(represented)
    if size >= 2:
        assert represented == len(found)


@given(count=st.integers(1, 40), size=sizes, doubt=st.lists(doubts, min_size=40, max_size=40))
def test_over_a_cycle_each_case_is_shown_once(count, size, doubt):
    cases = candidates(dict(enumerate(doubt[:count])))
    seen, shown = {}, []
    while len(shown) < count:
        choice = choose(cases, "s", seen, size)
        first = [pick.candidate.key for pick in choice.picks if pick.cycle == 1]
        assert len(choice.picks) == min(size, count)
        shown += first
        seen |= {pick.candidate.key: pick.cycle for pick in choice.picks}
    assert sorted(shown) == sorted(one.key for one in cases)


@given(st.text())
def test_a_guarded_cell_is_no_formula_and_comes_back(text):
    guarded = defuse(text)
    assert not guarded.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    assert restore(guarded) == text
