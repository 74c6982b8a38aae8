"""Intervals of metrics whose noise is hard to know hold the truth, in the simulation of
benchmarks/intervals.py; there with more runs and all kinds of metrics.
"""

import pytest

from benchmarks.intervals import KINDS, measure

HARD = (
    ("mean time, dear", "10x5"),
    ("mean time", "20x2"),
    ("cost per success, dear", "20x2"),
    ("steps", "10x5"),
    ("deviation of a case's scores", "20x2"),
    ("deviation of times", "10x5"),
)


@pytest.mark.parametrize("cell", HARD, ids=" ".join)
def test_of_400_runs_few_have_the_truth_outside(cell: tuple[str, str]) -> None:
    found = measure(cell, reps=400, seed=2)
    assert found.above + found.below <= 5.5 + 3.3  # three standard errors
    assert found.change_above + found.change_below <= 2.5 + 2.3


def test_each_family_that_has_intervals_is_measured() -> None:
    measured = {kind.spec.family for kind in KINDS.values()}
    assert measured == {"rate", "mean", "log_mean", "quantile", "std", "ratio", "k_rounds"}
