"""The same cases each time, in proportion, nested."""

from collections import Counter

from gate.suites.cases.sampling import choose, in_shard

CASES = {f"case-{i}": ("big" if i % 10 < 7 else "small") for i in range(200)}


def test_the_same_ids_whatever_the_order() -> None:
    backwards = dict(reversed(CASES.items()))
    assert choose(CASES, "suite", 20) == choose(backwards, "suite", 20)


def test_another_suite_picks_others() -> None:
    assert choose(CASES, "one", 20) != choose(CASES, "two", 20)


def test_categories_keep_their_share() -> None:
    picked = Counter(CASES[case_id] for case_id in choose(CASES, "suite", 20))
    assert picked == {"big": 14, "small": 6}


def test_an_uncategorised_case_is_a_category_too() -> None:
    assert len(choose({"a": None, "b": None, "c": "x"}, "suite", 2)) == 2


def test_more_than_there_are_is_all_and_none_is_none() -> None:
    assert choose(CASES, "suite", 1000) == frozenset(CASES)
    assert choose(CASES, "suite", 0) == frozenset()
    assert choose({}, "suite", 3) == frozenset()


def test_an_added_case_moves_few_others() -> None:
    before = choose(CASES, "suite", 50)
    after = choose({**CASES, "case-new": "big"}, "suite", 50)
    assert len(before - after) <= 2


def test_known_picks_stay_the_same_for_ever() -> None:
    """A change of this list breaks the pairing with every stored baseline of a sample."""
    ids = {f"case-{i}": None for i in range(12)}
    assert sorted(choose(ids, "analytics", 3)) == ["case-0", "case-11", "case-2"]


def test_each_case_is_in_exactly_one_shard() -> None:
    shards = [{i for i in CASES if in_shard(i, index, 4)} for index in range(1, 5)]
    assert set.union(*shards) == set(CASES)
    assert sum(map(len, shards)) == len(CASES)
    assert all(30 <= len(shard) <= 70 for shard in shards)
