"""Failure modes and clusters over whatever stands in rows."""

from typing import get_args

import hypothesis.strategies as st
from hypothesis import given

from gate.analysis.failures.clusters import Failures
from gate.analysis.failures.modes import RULES, mode_in, mode_of
from gate.records import FailureMode

MODES = get_args(FailureMode)
KNOWN = sorted({code for rule in RULES for code in rule.codes | rule.both})

codes = st.sampled_from(KNOWN) | st.text(max_size=12)
details = st.builds("{}:{}".format, codes, st.text(max_size=8)) | codes
severities = st.sampled_from(["low", "medium", "high"])
violations = st.lists(
    st.builds(lambda s: {"violation": {"rule": "r", "severity": s}}, severities), max_size=2
)
ENDS = {"completed": (True, False, None), "agent_error": (False,), "infra_error": (None,)}
results = st.sampled_from([(status, passed) for status, some in ENDS.items() for passed in some])
rows = st.fixed_dictionaries(
    {
        "case_id": st.sampled_from("abcd"),
        "result": results,
        "failures": st.lists(details, max_size=4),
        "failed_by": st.lists(st.text(max_size=5), max_size=2),
        "scores": st.dictionaries(
            st.sampled_from([column for rule in RULES for column in rule.scores]),
            st.sampled_from([None, 0.0, 0.5, 1.0]),
        ),
        "error": st.none() | st.text(max_size=30),
        "output": st.none() | st.text(max_size=30),
        "retrieved_ids": st.none() | st.lists(st.text(max_size=2), max_size=2),
        "violations": st.none() | violations,
        "finish_reason": st.none() | st.text(max_size=5),
    }
).map(lambda row: {**row, "status": row["result"][0], "passed": row["result"][1]})


@given(row=rows)
def test_a_row_has_a_mode_exactly_when_it_failed(row):
    mode = mode_of(row)
    assert (mode in MODES) == (row["passed"] is False)
    assert mode is not None or row["passed"] is not False
    assert mode_in({**row, "mode": mode}) == mode_in(row) == mode


@given(row=rows)
def test_codes_count_in_any_order_and_only_once(row):
    turned = {**row, "failures": [*reversed(row["failures"]), *row["failures"]]}
    assert mode_of(turned) == mode_of(row)


@given(found=st.lists(rows, max_size=30), order=st.randoms(use_true_random=False))
def test_each_failure_is_counted_once_whatever_the_order(found, order):
    counted = Failures()
    for row in found:
        counted.add(row)
    failed = [row for row in found if row["passed"] is False]
    assert sum(one.trials for one in counted.modes()) == len(failed)
    for one in counted.modes():
        assert one.cases == len({row["case_id"] for row in failed if mode_of(row) == one.mode})
    turned = Failures()
    for row in order.sample(found, len(found)):
        turned.add(row)
    assert (turned.modes(), turned.clusters()) == (counted.modes(), counted.clusters())
