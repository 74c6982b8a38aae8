"""Which cases are shown: the rotation, the lean towards doubt, and what each case stands for."""

import pytest

from gate.commands.label_review.rotation import Candidate, choose


def pool(count, *, doubtful=0):
    """The first `doubtful` cases are those of which the judge is unsure."""
    return [
        Candidate(case_id=f"c{n:03}", case_digest="d", uncertainty=0.9 if n < doubtful else 0.1)
        for n in range(count)
    ]


def shown(choice):
    return {pick.candidate.case_id for pick in choice.picks}


def remember(seen, choice):
    return {**seen, **{pick.candidate.key: pick.cycle for pick in choice.picks}}


def test_the_same_question_gives_the_same_answer_in_any_order_of_the_rows():
    cases = pool(50, doubtful=20)
    assert choose(cases, "s", {}, 10) == choose(cases, "s", {}, 10)
    assert shown(choose(cases, "s", {}, 10)) == shown(choose(cases[::-1], "s", {}, 10))


def test_another_suite_has_another_order():
    assert shown(choose(pool(50), "s", {}, 10)) != shown(choose(pool(50), "t", {}, 10))


def test_the_doubtful_half_gets_two_thirds_of_the_places():
    choice = choose(pool(100, doubtful=50), "s", {}, 21)
    assert {name: one.shown for name, one in choice.strata.items()} == {"uncertain": 14, "sure": 7}


def test_each_case_stands_for_as_many_as_its_stratum_has_for_each_that_is_shown():
    choice = choose(pool(100, doubtful=50), "s", {}, 21)
    weights = {pick.stratum: pick.weight for pick in choice.picks}
    assert weights == {"uncertain": pytest.approx(50 / 14), "sure": pytest.approx(50 / 7)}
    assert sum(pick.weight for pick in choice.picks) == pytest.approx(100)


def test_a_judge_that_is_equally_sure_of_all_makes_one_stratum():
    choice = choose(pool(30), "s", {}, 10)
    assert {pick.stratum for pick in choice.picks} == {"all"}
    assert {pick.weight for pick in choice.picks} == {3.0}


def test_a_judge_that_says_nothing_of_its_doubts_counts_as_sure():
    cases = [Candidate(case_id=f"c{n}", case_digest="d") for n in range(9)]
    cases.append(Candidate(case_id="x", case_digest="d", uncertainty=0.5))
    strata = {pick.candidate.case_id: pick.stratum for pick in choose(cases, "s", {}, 10).picks}
    assert [case for case, name in strata.items() if name == "uncertain"] == ["x"]


@pytest.mark.parametrize("doubtful", [1, 99])
def test_a_stratum_of_one_case_has_a_place(doubtful):
    choice = choose(pool(100, doubtful=doubtful), "s", {}, 10)
    assert all(one.shown >= 1 for one in choice.strata.values())
    assert len(choice.picks) == 10


def test_what_is_left_of_a_cycle_comes_before_the_next_one():
    cases, seen = pool(25), {}
    for _ in range(2):
        seen = remember(seen, choose(cases, "s", seen, 10))
    third = choose(cases, "s", seen, 10)
    assert sorted(pick.cycle for pick in third.picks) == [1] * 5 + [2] * 5
    assert len(shown(third)) == 10


def test_a_case_that_was_added_later_is_unseen():
    cases = pool(10)
    seen = remember({}, choose(cases, "s", {}, 10))
    new = Candidate(case_id="new", case_digest="d")
    assert "new" in shown(choose([*cases, new], "s", seen, 1))


def test_an_edited_case_is_another_one():
    cases = pool(10)
    seen = remember({}, choose(cases, "s", {}, 9))
    missing = ({one.case_id for one in cases} - {key[0] for key in seen}).pop()
    edited = [
        Candidate(case_id=one.case_id, case_digest="new") if one.case_id == "c003" else one
        for one in cases
    ]
    assert shown(choose(edited, "s", seen, 2)) == {"c003", missing}


def test_a_small_suite_is_shown_whole_each_time():
    cases = pool(5, doubtful=2)
    first = choose(cases, "s", {}, 20)
    second = choose(cases, "s", remember({}, first), 20)
    assert shown(first) == shown(second) == {one.case_id for one in cases}
    assert {pick.weight for pick in second.picks} == {1.0}
    assert {pick.cycle for pick in second.picks} == {2}


def test_both_strata_last_to_the_end_of_the_cycle():
    """Else the last periods would say nothing of the doubtful half."""
    cases, seen = pool(200, doubtful=100), {}
    for period in range(10):
        choice = choose(cases, "s", seen, 20)
        assert all(one.shown for one in choice.strata.values()), period
        seen = remember(seen, choice)
    assert set(seen.values()) == {1}
    assert len(seen) == 200


def test_what_fills_a_sample_up_comes_first_in_the_next_cycle():
    cases, seen = pool(25), {}
    for _ in range(2):
        seen = remember(seen, choose(cases, "s", seen, 10))
    filled_up = [one.candidate for one in choose(cases, "s", seen, 10).picks]
    begun = {**{one.key: 1 for one in cases}, filled_up[0].key: 2}
    order = [one.candidate for one in choose(cases, "s", begun, 24).picks]
    assert filled_up[5:] == [one for one in order if one not in filled_up[:5]][:5]
