"""Graders judge as people would, on the cases of tests/data/graders_outside."""

import pytest

from benchmarks.graders_outside import PARTS, SETS, judged, set_file

WRITTEN = [(part, which) for part in PARTS for which in SETS if set_file(part, which).exists()]


MOST = {
    ("facts", "a fifth stranger's"): 0.19,
    ("facts", "a sixth stranger's"): 0.28,
    ("hallucination", "a stranger's"): 0.13,
    ("hallucination", "a stranger's, first kept apart"): 0.09,
    ("hallucination", "a fifth stranger's"): 0.06,
    ("hallucination", "a sixth stranger's"): 0.07,
    ("hallucination", "a ninth stranger's"): 0.3,
    ("hallucination", "a tenth stranger's, kept apart"): 0.32,
}


@pytest.mark.parametrize(("part", "which"), WRITTEN)
def test_few_verdicts_are_wrong(part, which):
    cases = judged(part, which)
    wrong = [f"{one.kind}: {one.case}" for one in cases if one.passed is (not one.right)]
    assert len(wrong) <= MOST.get((part, which), 0.05) * len(cases), wrong
