"""A judge's estimate beside what people's labels make of it, and judges that may not gate."""

from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.agreement import correct_estimates
from gate.files.json_schema import mismatches
from gate.records import (
    Corrected,
    Estimate,
    GateRule,
    MetricRule,
    Policy,
    RegressionRules,
    SuiteReport,
)
from gate.records.codec import from_json, schema_of, to_json
from gate.report.console import render_console
from gate.report.formats.comment import Comment
from gate.report.formats.html import Html
from gate.report.formats.markdown import Markdown
from gate.verdict.decide import decide
from tests.support.labelled import METRIC, SPEC, labels
from tests.support.small_report import report
from tests.support.verdict_tables import SUCCESS, build, passing, suite_data

RNG = np.random.default_rng(1)
SCORES = np.clip(np.rint(3.5 + RNG.normal(0, 1, (20, 1)) + RNG.normal(0, 0.4, (20, 3))), 1, 5)


def corrected(values=SCORES, rows=None, spec=SPEC, **columns):
    table = build({METRIC: values, **columns}, specs=(spec,))
    return correct_estimates(table, {METRIC: rows or labels(20)})[METRIC]


def test_the_judges_excess_is_taken_off():
    found = corrected()
    assert found.value == pytest.approx(SCORES.mean())
    excess = found.value - found.corrected.value
    assert excess == pytest.approx(18 / 20, abs=0.1)
    assert found.corrected.ci_low < found.corrected.value < found.corrected.ci_high
    assert found.corrected.n_labels == 20
    assert 0.5 < found.corrected.agreement < 0.9


def test_it_stays_on_the_scale():
    found = corrected(np.full((20, 3), 1.0)).corrected
    assert (found.value, found.ci_low) == (1.0, 1.0)


def test_failed_calls_keep_their_value_since_people_rate_answers_only():
    failed = np.zeros((20, 3))
    failed[:10] = 1.0
    values = np.where(failed == 1.0, 1.0, SCORES)
    found = corrected(values, agent_error=failed)
    answered = corrected(np.where(failed == 1.0, np.nan, SCORES))
    assert found.corrected.value == pytest.approx((1.0 + answered.corrected.value) / 2)


def test_a_run_that_only_failed_has_nothing_to_correct():
    assert corrected(np.ones((20, 3)), agent_error=np.ones((20, 3))).corrected is None


def test_one_round_a_case_is_enough():
    assert corrected(SCORES[:, :1]).corrected is not None


def test_a_few_labels_correct_nothing():
    assert corrected(rows=labels(4)).corrected is None


@pytest.mark.parametrize(
    ("family", "options"), [("std", {}), ("quantile", {"q": 0.5}), ("mean", {"scale": 100.0})]
)
def test_a_number_that_is_no_mean_of_the_scores_is_not_corrected(family, options):
    found = corrected(spec=replace(SPEC, family=family, options=options))
    assert (found.value is not None, found.corrected) == (True, None)


def test_five_labelled_cases_are_enough():
    assert corrected(rows=labels(5)).corrected.n_labels == 5


def test_metrics_without_labels_and_labels_without_values_stay_as_they_are():
    table = build({METRIC: np.full((20, 3), np.nan)}, specs=(SPEC,))
    assert (
        correct_estimates(table, {METRIC: labels(20), "gone": labels(20)})[METRIC].corrected is None
    )
    whole = build({METRIC: SCORES}, specs=(SPEC,))
    assert correct_estimates(whole, {})[METRIC].corrected is None


def test_estimates_of_older_sessions_still_load_and_new_ones_come_back():
    old = to_json(Estimate(metric=METRIC, value=4.0))
    del old["corrected"]
    assert mismatches(schema_of(Estimate), old) == []
    assert from_json(Estimate, old).corrected is None
    new = Estimate(
        metric=METRIC,
        value=4.3,
        corrected=Corrected(value=4.0, ci_low=3.9, ci_high=4.1, n_labels=48, agreement=0.7),
    )
    assert mismatches(schema_of(Estimate), to_json(new)) == []
    assert from_json(Estimate, to_json(new)) == new


# ------------------------------------------------------------------------------- may not gate

WHY = "does not gate: nobody rated it"
DROPPED = np.clip(SCORES - 2.0, 1, 5)


def decided(advisory, *, gates=(), rules=None, current=DROPPED):
    table = build({METRIC: SCORES, "success": passing(20, 3)}, specs=(SPEC, SUCCESS))
    now = build({METRIC: current, "success": passing(20, 3)}, specs=(SPEC, SUCCESS))
    data = suite_data(name="s", current=now, baseline=table, advisory=advisory)
    named = rules or RegressionRules(metrics={METRIC: MetricRule(metric=METRIC, level="block")})
    return decide([data], gates=gates, regression=named, policy=Policy())


def test_a_judge_that_may_gate_blocks():
    assert decided({}).outcome == "fail"


def test_one_that_may_not_warns_though_gate_yml_says_block():
    found = decided({METRIC: WHY})
    assert found.outcome == "pass"
    (row,) = (row for row in found.comparisons if row.metric == METRIC)
    assert (row.status, row.level, row.reason) == ("regression", "warn", WHY)


def test_its_limit_warns_too_and_says_why():
    limit = GateRule(metric=METRIC, min=4.9)
    strict, mild = decided({}, gates=[limit]), decided({METRIC: WHY}, gates=[limit])
    assert (strict.outcome, mild.outcome) == ("fail", "pass")
    (gate,) = mild.gates
    assert (gate.status, gate.level) == ("fail", "warn")
    assert gate.reason.endswith(f"; {WHY}")


def test_alpha_is_not_shared_with_what_may_not_gate():
    """The others are tested as sharply as without it."""
    limit = GateRule(metric=SUCCESS.name, min=0.5)
    alone = decided({METRIC: WHY}, gates=[limit, GateRule(metric=METRIC, min=2.0)]).gates[0]
    both = decided({}, gates=[limit, GateRule(metric=METRIC, min=2.0)]).gates[0]
    assert alone.ci_low > both.ci_low


# ------------------------------------------------------------------------------- what is shown


def shown(reporter):
    return reporter.render(a_report(), lambda: iter(()))


def a_report():
    estimate = Estimate(
        metric=METRIC,
        value=4.31,
        ci_low=4.2,
        ci_high=4.4,
        n=60,
        unit="points",
        corrected=Corrected(value=4.02, ci_low=3.85, ci_high=4.19, n_labels=48, agreement=0.74),
    )
    found = decided({}, gates=[GateRule(metric=METRIC, min=4.9)])
    suite = SuiteReport(
        name="s",
        outcome="fail",
        reason="why",
        version=None,
        dataset="d",
        dataset_digest="",
        cases=20,
        trials=60,
        rounds=3,
        metrics={METRIC: estimate},
        failures_top=(),
        success_rate_ci95=None,
        baseline=report().baseline,
    )
    return report("fail", 1, suites={"s": suite}, gates=found.gates, comparisons=found.comparisons)


def test_a_terminal_shows_it_below_the_table():
    text = " ".join(render_console(a_report(), color=False, unicode=True, width=100).split())
    assert (
        "correctness.factual_correctness 4.31, corrected by 48 labels: 4.02 (3.85 to 4.19)" in text
    )


@pytest.mark.parametrize("reporter", [Markdown(), Comment()], ids=["markdown", "comment"])
def test_a_corrected_value_stands_beside_the_raw_one(reporter):
    words = (
        "`correctness.factual_correctness` 4.31, corrected by 48 labels: 4.02 (3.85 to 4.19);"
        " weighted"
    )
    text = shown(reporter)
    table = text.index("| `correctness.factual_correctness`")
    assert table < text.index(words)


def test_a_browser_shows_it_in_the_cell_of_the_raw_value():
    assert "4.31<br>corrected by 48 labels: 4.02 (3.85 to 4.19)</td>" in shown(Html())
