"""Graders judge as people would, on the cases of tests/data/graders_outside."""

import pytest

from benchmarks.graders_outside import PARTS, SETS, judged, set_file

WRITTEN = [(part, which) for part in PARTS for which in SETS if set_file(part, which).exists()]


# What nobody can tell offline is asked of the verifier: `hallucination` counts it as unsupported.
MOST = {
    ("hallucination", "kept apart"): 0.16,
    ("hallucination", "a stranger's"): 0.30,
    ("hallucination", "a stranger's, first kept apart"): 0.57,
    ("hallucination", "a second stranger's, kept apart"): 0.54,
    ("facts", "a second stranger's, kept apart"): 0.18,
}


@pytest.mark.parametrize(("part", "which"), WRITTEN)
def test_few_verdicts_are_wrong(part, which):
    cases = judged(part, which)
    wrong = [f"{one.kind}: {one.case}" for one in cases if one.passed is not one.right]
    assert len(wrong) <= MOST.get((part, which), 0.05) * len(cases), wrong
