"""Samples of any dataset: nested, of the right size, each category with its share."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from gate.suites.cases.sampling import choose

DATASETS = st.dictionaries(
    st.text(min_size=1, max_size=8).filter(lambda text: text.isprintable()),
    st.sampled_from([None, "a", "b", "c", "d"]),
    max_size=60,
)


@given(DATASETS, st.integers(0, 60), st.integers(0, 60))
def test_a_smaller_sample_is_part_of_a_larger_one(
    cases: dict[str, str | None], one: int, two: int
) -> None:
    small, large = sorted((one, two))
    assert choose(cases, "s", small) <= choose(cases, "s", large)
    assert len(choose(cases, "s", small)) == min(small, len(cases))


@given(DATASETS, st.integers(0, 60))
def test_each_category_has_its_share(cases: dict[str, str | None], n: int) -> None:
    """Webster's counts are round(s t) for a common t, so they differ from s n / N by at most
    1/2 + s k / (2 N) for k categories.
    """
    n = min(n, len(cases))
    sizes = Counter(cases.values())
    picked = Counter(cases[case_id] for case_id in choose(cases, "s", n))
    for category, size in sizes.items():
        share = size * n / len(cases)
        slack = 0.5 + size * len(sizes) / (2 * len(cases))
        assert abs(picked[category] - share) <= slack + 1e-9
