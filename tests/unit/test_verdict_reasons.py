"""The sentences of a verdict."""

from dataclasses import replace

import pytest

from gate.records import Comparison, GateResult
from gate.verdict.reasons import gate_failed, joined, passed, regressed, suspected

ROW = Comparison(
    suite="analytics",
    metric="retrieval.recall@5",
    baseline=0.93,
    current=0.839,
    delta=-0.091,
    ci_low=-0.132,
    ci_high=-0.05,
    confidence=0.98,
    p_value=0.0003,
    p_better=0.9997,
    p_adjusted=0.0012,
    tolerance=0.02,
    relative=False,
    status="regression",
    n_paired=200,
    mde=0.065,
    level="block",
    method="shuffle test",
    unit="share",
)
GATE = GateResult(
    suite="analytics",
    metric="correctness.fact_accuracy",
    value=0.8196,
    min=0.82,
    max=None,
    target=None,
    rule="point",
    status="fail",
    level="block",
    ci_low=0.75,
    ci_high=0.88,
    unit="share",
)


def test_a_fall_in_points() -> None:
    assert regressed(ROW) == (
        "`retrieval.recall@5` fell by 9.1 points "
        "(0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed -2.0)"
    )


def test_a_relative_rise() -> None:
    row = replace(
        ROW,
        metric="operational.p95_latency_ms",
        baseline=2310.0,
        current=2587.2,
        delta=0.12,
        ci_low=0.061,
        ci_high=None,
        tolerance=0.1,
        relative=True,
        direction="lower",
        unit="ms",
    )
    assert regressed(row) == (
        "`operational.p95_latency_ms` rose by 12.0 % "
        "(2,310 ms -> 2,587 ms, 98 % interval +6.1 % to unknown; allowed +10.0 %)"
    )


def test_a_fall_on_another_scale() -> None:
    row = replace(ROW, baseline=4.2, current=3.8, delta=-0.4, ci_low=-0.6, ci_high=-0.2, unit="")
    assert regressed(row).startswith("`retrieval.recall@5` fell by 0.4 (4.2 -> 3.8, ")


def test_a_suspicion_says_how_often_it_would_show_by_chance() -> None:
    text = suspected(replace(ROW, p_value=0.031))
    assert text.startswith("`retrieval.recall@5` may have fallen by 9.1 points (")
    assert text.endswith(
        "but a change this large would show 3.1 % of the time if nothing had changed"
    )
    assert "may have risen by" in suspected(replace(ROW, delta=0.05, direction="lower"))


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (GATE, "is 0.8196, below min 0.82 (interval 0.75 to 0.88)"),
        (replace(GATE, min=None, max=0.5, value=0.6), "is 0.6, above max 0.5"),
        (replace(GATE, value=0.85), "is 0.85, which does not prove min 0.82"),
        (replace(GATE, min=None, max=0.9), "is 0.8196, which does not prove max 0.9"),
        (
            replace(GATE, min=None, max=0.01, value=0.0234, unit="USD", ci_high=None),
            "is $0.0234, above max $0.01 (interval $0.75 to unknown)",
        ),
    ],
)
def test_a_failed_gate(row: GateResult, text: str) -> None:
    assert f"`correctness.fact_accuracy` {text}" in gate_failed(row)


def test_a_pass_says_what_it_could_have_seen() -> None:
    success = replace(ROW, metric="agent.success_rate", status="no_regression")
    assert passed([ROW, success], [], 0.8) == (
        "no regression seen; a drop of 6.5 points or more in `agent.success_rate` "
        "would have been caught 8 times in 10"
    )
    cost = replace(ROW, metric="agent.cost_per_task", relative=True, direction="lower", unit="USD")
    assert "a rise of 6.5 % or more in `agent.cost_per_task`" in passed([cost], [], 0.9)
    assert "caught 9 times in 10" in passed([cost], [], 0.9)


@pytest.mark.parametrize("mde", [None, 0.95])
def test_a_blind_pass_says_so(mde: float | None) -> None:
    text = passed([replace(ROW, mde=mde)], [], 0.8)
    assert text == (
        "no regression seen, but no drop in `retrieval.recall@5` "
        "would have been caught 8 times in 10"
    )


def test_the_least_sensitive_metric_speaks_for_all() -> None:
    rows = [ROW, replace(ROW, metric="a.b", mde=0.2), replace(ROW, metric="c.d", level="warn")]
    assert "20.0 points or more in `a.b`" in passed(rows, [], 0.8)


def test_a_pass_without_comparisons() -> None:
    assert passed([], [replace(GATE, status="pass")], 0.8) == (
        "1 gate met; no blocking metric was compared with a baseline"
    )


def test_several_reasons() -> None:
    assert joined(["a"]) == "a"
    assert joined(["a", "b"]) == "a; and 1 more reason"
    assert joined(["a", "b", "c"]) == "a; and 2 more reasons"
