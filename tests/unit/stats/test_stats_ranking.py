"""One ranked list against judgements; against trec_eval itself: reference/test_retrieval_*.py."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.stats.ranking import measures

IDS = st.lists(st.sampled_from("abcdefghij"), unique=True)
GAINS = st.dictionaries(st.sampled_from("abcdefghij"), st.floats(1e-300, 1e300), min_size=1)


@given(IDS, GAINS, st.sampled_from(["linear", "exponential"]))
def test_every_measure_is_a_share(ids, gains, gain):
    found = measures(ids, gains, cutoffs=(1, 3, 20), reciprocal_cutoffs=(2,), gain=gain)
    assert all(0.0 <= value <= 1.0 for value in found.values())


@given(GAINS, st.sampled_from(["linear", "exponential"]))
def test_the_best_order_is_perfect(gains, gain):
    best = sorted(gains, key=gains.__getitem__, reverse=True)
    found = measures(best, gains, cutoffs=(1, 2, 20), gain=gain)
    names = ("recall@20", "ndcg@1", "ndcg@2", "ndcg@20", "mrr")
    assert [found[name] for name in names] == [1.0] * len(names)
    assert found["map"] == pytest.approx(1.0)


@given(IDS, GAINS, st.integers(1, 12))
def test_only_the_first_k_count_at_k(ids, gains, k):
    whole, cut = (measures(some, gains, cutoffs=(k,)) for some in (ids, ids[:k]))
    assert {name: whole[name] for name in whole if "@" in name} == {
        name: cut[name] for name in cut if "@" in name
    }


@pytest.mark.parametrize("rank", [1, 7, 49, 98, 1_001])  # 1 / 49 * 49 is less than 1
def test_a_reciprocal_rank_counts_up_to_its_cutoff(rank):
    ids = [*map(str, range(1, rank)), "a"]
    found = measures(ids, {"a": 1.0}, cutoffs=(), reciprocal_cutoffs=(rank, rank - 1 or 2))
    assert found[f"mrr@{rank}"] == 1 / rank
    assert rank == 1 or found[f"mrr@{rank - 1}"] == 0.0


def test_grades_change_ndcg_alone():
    plain = measures("ab", {"a": 1.0, "b": 1.0}, cutoffs=(2,))
    graded = measures("ab", {"a": 1.0, "b": 3.0}, cutoffs=(2,))
    assert graded["ndcg@2"] == pytest.approx((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))
    assert {**graded, "ndcg@2": 1.0} == plain
