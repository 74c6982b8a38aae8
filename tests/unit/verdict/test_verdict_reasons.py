"""The sentences of a verdict."""

from dataclasses import replace

import pytest

from gate.records import Calls, Comparison, GateResult, Outcome
from gate.verdict.reasons import (
    describe_gate_failure,
    describe_pass,
    describe_regression,
    describe_suspicion,
    describe_undecided,
    join_reasons,
    with_calls,
)

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
    assert describe_regression(ROW) == (
        "`retrieval.recall@5` fell by 9.1 points "
        "(0.93 -> 0.84, 98 % interval -13.2 to -5.0; allowed 2 points; "
        "if nothing had changed, a drop this large would appear 0.03 % of the time)"
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
    assert describe_regression(row) == (
        "`operational.p95_latency_ms` rose by 12 % "
        "(2,310 ms -> 2,587 ms, 98 % interval +6.1 % to unknown; allowed 10 %; "
        "if nothing had changed, a rise this large would appear 0.03 % of the time)"
    )


def test_a_fall_on_another_scale() -> None:
    row = replace(ROW, baseline=4.2, current=3.8, delta=-0.4, ci_low=-0.6, ci_high=-0.2, unit="")
    assert describe_regression(row).startswith("`retrieval.recall@5` fell by 0.40 (4.20 -> 3.80, ")


def test_no_figure_reads_as_a_limit_that_it_is_not() -> None:
    row = replace(ROW, baseline=0.9341, current=0.8996, delta=-0.0345)
    assert "fell by 3.5 points (0.93 -> 0.90, " in describe_regression(row)
    assert "fell by 3.5 points (0.93 -> 0.8996, " in describe_regression(row, (0.9,))


def test_a_change_of_typical_answers_is_no_change_of_the_means_beside_it() -> None:
    slower = {"baseline": 19.96, "current": 19.64, "delta": 0.47, "relative": True, "unit": "ms"}
    row = replace(ROW, **slower, ci_low=0.3, ci_high=0.66, method="shuffle test of logarithms")
    said = (
        "rose by 47 % for a typical answer (mean 20.0 ms -> 19.6 ms, 98 % interval +30 % to +66 %;"
    )
    assert said in describe_regression(row)


def test_a_rise_to_many_times_is_a_multiple() -> None:
    row = replace(ROW, baseline=12.0, current=3_073.8, delta=255.15, relative=True, unit="ms")
    assert "rose to 256 x (12.0 ms -> 3,074 ms, " in describe_regression(row)


def test_a_metric_without_an_interval_claims_none() -> None:
    assert "(0.93 -> 0.84; allowed" in describe_regression(replace(ROW, ci_low=None, ci_high=None))


def test_an_interval_that_ends_at_nothing_says_on_which_side() -> None:
    assert "interval -13.2 to below 0;" in describe_regression(replace(ROW, ci_high=0.0))
    rise = replace(ROW, delta=0.091, ci_low=0.0, ci_high=0.132, direction="lower")
    assert "interval above 0 to +13.2;" in describe_regression(rise)
    assert "interval -13.2 to -0.01;" in describe_regression(replace(ROW, ci_high=-0.0001))


@pytest.mark.parametrize(
    ("p", "often"),
    [
        (0.0003, "0.03 %"),
        (0.01, "1 %"),
        (0.096, "9.6 %"),
        (0.44, "44 %"),
        (0.997, "99.7 %"),
        (1e-9, "less than 0.01 %"),
    ],
)
def test_how_often_chance_does_this(p: float, often: str) -> None:
    assert f"would appear {often} of the time" in describe_regression(replace(ROW, p_value=p))


def test_the_chance_is_that_of_the_side_on_which_the_change_is() -> None:
    better = replace(ROW, status="no_regression", delta=0.012, p_value=0.8, p_better=0.2)
    assert "measured +1.2 points" in describe_pass([better], [], 0.8)
    assert "a rise this large would appear 20 % of the time" in describe_pass([better], [], 0.8)
    cost = replace(better, direction="lower", unit="USD", delta=-0.1, p_value=0.7, p_better=0.3)
    assert "a drop this large would appear 30 % of the time" in describe_pass([cost], [], 0.8)


def test_a_suspicion_says_how_often_it_would_show_by_chance_and_what_could_be_seen() -> None:
    assert describe_suspicion(replace(ROW, p_value=0.031, mde=0.18), 0.8) == (
        "`retrieval.recall@5` may have fallen by 9.1 points (0.93 -> 0.84, 98 % interval -13.2 to "
        "-5.0; allowed 2 points), but if nothing had changed, a drop this large would appear 3.1 % "
        "of the time, too likely to call it a regression; a drop of 18 points or more would have "
        "been caught 8 times in 10"
    )
    assert "may have risen by" in describe_suspicion(
        replace(ROW, delta=0.05, direction="lower"), 0.8
    )


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (GATE, "is 0.8196, below min 0.82 (interval 0.75 to 0.88)"),
        (replace(GATE, min=None, max=0.5, value=0.6), "is 0.60, above max 0.50"),
        (replace(GATE, value=0.85), "is 0.85, which does not prove min 0.82"),
        (replace(GATE, min=None, max=0.9), "is 0.82, which does not prove max 0.90"),
        (
            replace(GATE, min=None, max=0.01, value=0.0234, unit="USD", ci_high=None),
            "is $0.023, above max $0.010 (interval $0.75 to unknown)",
        ),
    ],
)
def test_a_failed_gate(row: GateResult, text: str) -> None:
    assert f"`correctness.fact_accuracy` {text}" in describe_gate_failure(row)


SUCCESS = replace(
    ROW,
    metric="agent.success_rate",
    status="no_regression",
    delta=-0.006,
    ci_low=-0.041,
    ci_high=0.029,
    p_value=0.34,
)


def test_a_pass_says_what_it_could_have_seen() -> None:
    assert describe_pass([ROW, SUCCESS], [], 0.8) == (
        "no regression seen; a drop of 6.5 points or more in `agent.success_rate` would have been "
        "caught 8 times in 10 (measured -0.6 points, 98 % interval -4.1 to +2.9; if nothing had "
        "changed, a drop this large would appear 34 % of the time)"
    )
    cost = replace(ROW, metric="agent.cost_per_task", relative=True, direction="lower", unit="USD")
    assert "a rise of 6.5 % or more in `agent.cost_per_task`" in describe_pass([cost], [], 0.9)
    assert "caught 9 times in 10" in describe_pass([cost], [], 0.9)
    assert "caught 85 % of the time" in describe_pass([cost], [], 0.85)


def test_no_change_at_all_needs_no_chance() -> None:
    said = describe_pass([replace(SUCCESS, delta=0.0)], [], 0.8)
    assert said.endswith("(measured no change, 98 % interval -4.1 to +2.9)")


def test_a_change_on_another_scale() -> None:
    row = replace(SUCCESS, metric="agent.avg_steps", unit="steps", direction="lower", delta=0.21)
    assert "(measured +0.21, 98 %" in describe_pass([row], [], 0.8)


@pytest.mark.parametrize("mde", [None, 0.95])
def test_a_blind_pass_says_so(mde: float | None) -> None:
    assert describe_pass([replace(ROW, mde=mde)], [], 0.8).startswith(
        "no regression seen, but no drop in `retrieval.recall@5` "
        "would have been caught 8 times in 10 (measured"
    )


def test_a_tolerated_drop_is_not_called_none() -> None:
    row = replace(SUCCESS, status="within_tolerance", delta=-0.011, ci_low=-0.019, ci_high=-0.003)
    said = describe_pass([replace(ROW, status="no_regression"), row], [], 0.8)
    assert said.startswith(
        "no regression beyond the tolerance: `agent.success_rate` fell by 1.1 points ("
    )
    assert said.endswith("; a drop of 6.5 points or more would have been caught 8 times in 10")


def test_the_least_sensitive_metric_speaks_for_all() -> None:
    rows = [ROW, replace(ROW, metric="a.b", mde=0.2), replace(ROW, metric="c.d", level="warn")]
    assert "20 points or more in `a.b`" in describe_pass(rows, [], 0.8)


def test_what_the_end_of_the_run_left_open_does_not_sound_settled() -> None:
    left = replace(ROW, metric="a.b", status="no_regression", settled=False, mde=0.2)
    said = describe_pass([SUCCESS, left], [], 0.8)
    assert said.startswith("no regression seen so far; a drop of 20 points or more in `a.b`")
    assert said.endswith("; the run ended before this was settled")
    shown = replace(left, level="warn")
    assert "so far" not in describe_pass([SUCCESS, shown], [], 0.8)


def test_a_pass_without_comparisons() -> None:
    assert describe_pass([], [replace(GATE, status="pass")], 0.8) == (
        "1 gate met; no blocking metric was compared with a baseline"
    )


def test_a_reason_that_begins_with_the_metric_names_it_once() -> None:
    assert describe_undecided("agent.pass^3", "agent.pass^3 could not be measured") == (
        "`agent.pass^3` could not be measured"
    )
    assert describe_undecided("agent.pass^3", "not judged") == "`agent.pass^3`: not judged"


def test_several_reasons() -> None:
    assert join_reasons(["a"]) == "a"
    assert join_reasons(["a", "b"]) == "a; and 1 more reason"
    assert join_reasons(["a", "b", "c"]) == "a; and 2 more reasons"


@pytest.mark.parametrize(
    ("outcome", "made", "trials", "said"),
    [
        ("pass", 102, 102, "; 102 of 255 planned calls made, 153 saved"),
        ("fail", 102, 102, "; found after 102 of 255 planned calls, 153 saved"),
        ("pass", 306, 306, "; 306 calls, 51 more than planned, settled it"),
        ("fail", 306, 306, "; 306 calls, 51 more than planned, settled it"),
        ("inconclusive", 306, 306, "; 306 calls, 51 more than planned, did not settle it"),
        (
            "inconclusive",
            510,
            510,
            "; 510 calls, 255 more than planned, did not settle it, and `max_rounds` allows no "
            "more",
        ),
        ("pass", 255, 255, ""),
        ("pass", 257, 255, ""),  # two were tried again
        ("error", 0, 0, ""),
    ],
)
def test_the_calls_are_told_where_they_are_not_as_planned(
    outcome: Outcome, made: int, trials: int, said: str
) -> None:
    calls = Calls(planned=255, cap=510, made=made, saved=max(0, 255 - made))
    assert with_calls("why", outcome, calls, trials=trials) == "why" + said


def test_what_a_budget_cut_off_is_no_saving() -> None:
    calls = Calls(planned=1255, cap=2510, made=1200, saved=0)
    said = "why; 1,200 of 1,255 planned calls made"
    assert with_calls("why", "pass", calls, trials=1200) == said
    assert with_calls("why", "fail", calls, trials=1200) == said
