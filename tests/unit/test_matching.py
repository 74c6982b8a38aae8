import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from gate.matching import maximum_matching


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
    assert maximum_matching(fits) == pairs


FITS = st.lists(st.lists(st.integers(0, 7), unique=True, max_size=8), max_size=9)


@settings(deadline=None)
@given(FITS)
def test_as_many_pairs_as_scipy_finds(fits):
    found = maximum_matching(fits)
    used = [j for j in found if j is not None]
    assert len(used) == len(set(used))
    assert all(j is None or j in fits[i] for i, j in enumerate(found))
    if fits:
        dense = np.array([[j in row for j in range(8)] for row in fits])
        best = maximum_bipartite_matching(csr_array(dense), perm_type="column")
        assert len(used) == (best >= 0).sum()


@settings(deadline=None)
@given(FITS)
def test_a_later_item_never_takes_a_partner_away(fits):
    for count in range(len(fits)):
        shorter, longer = maximum_matching(fits[:count]), maximum_matching(fits[: count + 1])
        kept = [j is not None for j in longer[:count]]
        assert kept == [j is not None for j in shorter]


def test_a_long_chain_needs_no_recursion():
    chain = [[i + 1, i] for i in range(3000)] + [[3000]]
    assert None not in maximum_matching(chain)
