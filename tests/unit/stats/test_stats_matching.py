import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from gate.stats.matching import list_positions, longest_in_order, make_mask, maximum_matching
from tests.support.growth import cpu_seconds


def matched(fits):
    return maximum_matching([make_mask(row) for row in fits])


@pytest.mark.parametrize(
    ("fits", "pairs"),
    [
        ([], []),
        ([[]], [None]),
        ([[0]], [0]),
        ([[0], [0]], [0, None]),
        ([[0, 1], [0]], [1, 0]),  # the greedy choice of 0 for the first is taken back
        ([[0, 1], [0, 2], [0]], [1, 2, 0]),
        ([[1], [0, 1], [0, 2]], [1, 0, 2]),
    ],
)
def test_small_cases(fits, pairs):
    assert matched(fits) == pairs


FITS = st.lists(st.lists(st.integers(0, 7), unique=True, max_size=8), max_size=9)


@given(FITS)
def test_as_many_pairs_as_scipy_finds(fits):
    found = matched(fits)
    used = [j for j in found if j is not None]
    assert len(used) == len(set(used))
    assert all(j is None or j in fits[i] for i, j in enumerate(found))
    if fits:
        dense = np.array([[j in row for j in range(8)] for row in fits])
        best = maximum_bipartite_matching(csr_array(dense), perm_type="column")
        assert len(used) == (best >= 0).sum()


@given(FITS)
def test_a_later_item_never_takes_a_partner_away(fits):
    for count in range(len(fits)):
        shorter, longer = matched(fits[:count]), matched(fits[: count + 1])
        kept = [j is not None for j in longer[:count]]
        assert kept == [j is not None for j in shorter]


def test_a_long_chain_needs_no_recursion():
    chain = [[i + 1, i] for i in range(3000)] + [[3000]]
    assert None not in matched(chain)


def test_masks_and_positions_are_inverse():
    assert list(list_positions(make_mask([5, 0, 300]))) == [0, 5, 300]
    assert list(list_positions(0)) == []


def longest(fits, i=0, j=0):
    """By trying everything."""
    if i == len(fits):
        return 0
    taken = [1 + longest(fits, i + 1, k + 1) for k in fits[i] if k >= j]
    return max([longest(fits, i + 1, j), *taken])


@given(st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), max_size=6))
def test_no_pairing_in_order_is_longer(fits):
    found = longest_in_order([make_mask(row) for row in fits], 6)
    pairs = [(i, j) for i, j in enumerate(found) if j is not None]
    assert all(j in fits[i] for i, j in pairs)
    assert [j for _, j in pairs] == sorted({j for _, j in pairs})
    assert len(pairs) == longest(fits)


def dense(size, share=1.0):
    generator = np.random.default_rng(1)
    return [make_mask(np.flatnonzero(generator.random(size) < share).tolist()) for _ in range(size)]


@pytest.mark.parametrize(
    "fits",
    [
        dense(1000),
        dense(1000, 0.01),
        [(1 << 500) - 1] * 1000,  # half of them find no partner
        [(1 << (1000 - i)) - 1 for i in range(1000)],
        [(1 << (i // 2 + 1)) - 1 for i in range(1000)],
        [0b11 << i for i in range(999)] + [1],  # one path through all
    ],
    ids=["full", "sparse", "half", "shrinking", "growing", "chain"],
)
def test_a_thousand_against_a_thousand_are_matched(fits):
    work = cpu_seconds(lambda: (maximum_matching(fits), longest_in_order(fits, 1000)))
    assert work < 10  # a tenth of one: its loops over bits call nothing that could be counted
