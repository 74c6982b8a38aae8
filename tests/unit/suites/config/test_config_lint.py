"""Rules that cannot work are refused; those that this data cannot meet are warned about."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from gate.analysis.metrics.rate import Rate
from gate.errors import Place
from gate.records import (
    Config,
    GateRule,
    MetricRule,
    MetricSpec,
    PluginSpec,
    Price,
    Quarantine,
    RegressionRules,
    Suite,
    Tolerance,
)
from gate.suites.config.lint import ConfigFindings, lint, lint_with_data

TODAY = date(2026, 11, 21)
SHARE = MetricSpec(name="retrieval.recall@5", column="r", unit="share")
SCORE = MetricSpec(name="correctness.faithfulness", column="f", low=1.0, high=5.0, unit="points")
LATENCY = MetricSpec(
    name="operational.p95_latency_ms",
    column="l",
    family="quantile",
    options={"q": 0.95},
    direction="lower",
    high=None,
    unit="ms",
)
ERRORS = MetricSpec(name="operational.error_rate", column="e", direction="lower", unit="share")
MEASURED = {"a": {spec.name: spec for spec in (SHARE, SCORE, LATENCY, ERRORS)}}
SUITE = Suite(name="a", dataset="a.jsonl", graders=())
CONFIG = Config(agent=PluginSpec(name="openai", options={"model": "m"}), suites=(SUITE,))


def gate(metric: str, **limits: Any) -> GateRule:
    return GateRule(metric=metric, place=Place("gate.yml", 9, f"gates.{metric}"), **limits)


def found(**changes: Any) -> ConfigFindings:
    return lint(replace(CONFIG, **changes), MEASURED, TODAY)


def told(*gates: GateRule) -> list[str]:
    return [problem.message for problem in found(gates=gates).problems]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (gate(SHARE.name), "needs min, max or target"),
        (
            gate(SHARE.name, min=1.01),
            "min 1.01 can never be met: it is at most 1 - lower the limit",
        ),
        (gate(SHARE.name, min=0), "min 0 can never be broken: it is at least 0"),
        (gate(SHARE.name, min=-1), "min -1 can never be broken: it is at least 0"),
        (gate(SCORE.name, min=1), "min 1 can never be broken: it is at least 1"),
        (gate(SHARE.name, max=1), "max 1 can never be broken: it is at most 1"),
        (gate(LATENCY.name, max=-1), "max -1 can never be met: it is at least 0 - raise the limit"),
        (gate(SHARE.name, min=0.9, max=0.8), "min 0.9 is above max 0.8: nothing can meet both"),
        (gate(SHARE.name, min=0.9, target=0.8), "target 0.8 is below min 0.9"),
        (gate(LATENCY.name, max=5000, target=6000), "target 6000 is above max 5000"),
        (gate(SHARE.name, target=2), "target 2 can never be met: it is at most 1 - lower it"),
        (gate(SCORE.name, target=0), "target 0 can never be met: it is at least 1 - raise it"),
    ],
)
def test_gates_that_cannot_work(rule: GateRule, message: str) -> None:
    assert told(rule) == [message]
    assert [p.message for p in found(suites=(replace(SUITE, gates=(rule,)),)).problems] == [message]


@pytest.mark.parametrize(
    "rule",
    [
        gate(SHARE.name, min=0.8, target=0.9),
        gate(SHARE.name, min=1.0),
        gate(ERRORS.name, max=0.0),
        gate(LATENCY.name, max=5000, target=3000),
        gate(SCORE.name, min=4.0, target=4.5),
        gate(SHARE.name, target=0.9),
    ],
)
def test_gates_that_work(rule: GateRule) -> None:
    assert (told(rule), found(gates=(rule,)).warnings) == ([], [])


def test_a_limit_on_the_wrong_side_is_a_warning() -> None:
    assert found(gates=(gate(LATENCY.name, min=10),)).warnings == [
        "gate.yml:9: gates.operational.p95_latency_ms: lower is better here - did you mean max?"
    ]
    assert "did you mean min?" in found(gates=(gate(SHARE.name, max=0.9),)).warnings[0]


@pytest.mark.parametrize(
    ("metric", "hint"),
    [
        ("retrieval.recal@5", "retrieval.recall@5"),
        ("recall@5", "retrieval.recall@5"),
        ("operational.p95_latency", "operational.p95_latency_ms"),
        ("correctnes.faithfulness", "correctness.faithfulness"),
        ("retrieval.ndgc@7", "retrieval.ndcg@7"),
    ],
)
def test_an_unknown_metric_names_the_nearest(metric: str, hint: str) -> None:
    assert told(gate(metric, min=0.5)) == [f"unknown metric - did you mean '{hint}'?"]


def test_a_public_metric_that_nothing_measures_is_missing_not_wrong() -> None:
    further = ("agent.loop_rate", "agent.silent_failure_rate", "agent.recovery_rate")
    for metric in ("retrieval.recall@7", "agent.cost_per_success", "agent.pass@k", *further):
        result = found(gates=(gate(metric, min=0.5),))
        assert result.problems == []
        assert "no suite measures it, so it is missing" in result.warnings[0]
    for metric in ("swebench.resolved_rate[psf/requests]", "promptfoo.tone", "tau.pass^4"):
        result = found(gates=(gate(metric, min=0.5),))
        assert result.problems == []
        assert "only imported results have it, so in `gate run` it is missing" in result.warnings[0]


@pytest.mark.parametrize(
    ("name", "warned"),
    [("my-modle", True), ("my-model", False), ("another", False)],
)
def test_a_price_under_a_misspelt_model_is_warned_about(name: str, warned: bool) -> None:
    agent = PluginSpec(name="openai", options={"model": "my-model-2026-01-31"})
    result = found(agent=agent, pricing={name: Price(input=1.0, output=2.0)})
    assert ("did you mean 'my-modle'?" in "".join(result.warnings)) == warned


def test_a_gate_on_more_rounds_than_any_suite_makes_says_so() -> None:
    result = found(gates=(gate("agent.pass^5", min=0.5),))
    assert result.problems == []
    assert "no suite makes 5 rounds, so it is missing" in result.warnings[0]


def test_regression_metrics_are_known_and_their_tolerance_can_be_broken() -> None:
    def rules(metric: str, tolerance: Tolerance) -> list[str]:
        rule = MetricRule(metric=metric, tolerance=tolerance)
        regression = RegressionRules(metrics={metric: rule})
        return [problem.message for problem in found(regression=regression).problems]

    assert rules(SHARE.name, Tolerance(value=0.02)) == []
    assert rules(LATENCY.name, Tolerance(value=400.0)) == []
    assert "can never be exceeded" in rules(SHARE.name, Tolerance(value=1.0))[0]
    assert "can never be exceeded" in rules(SCORE.name, Tolerance(value=1.0, relative=True))[0]
    assert "unknown metric" in rules("a.b", Tolerance(value=0.1))[0]


@pytest.mark.parametrize(
    ("tolerance", "told"),
    [
        (Tolerance(value=0.99), ""),
        (Tolerance(value=1.0), "no drop is that large - for 1 point write 0.01"),
        (Tolerance(value=2.0), "no drop is that large - for 2 points write 0.02"),
        (Tolerance(value=2.0, relative=True), "tolerance 200% can never be exceeded"),
    ],
)
def test_the_tolerance_of_the_run_can_be_exceeded_too(tolerance: Tolerance, told: str) -> None:
    problems = found(regression=RegressionRules(tolerance=tolerance)).problems
    assert [told in problem.message for problem in problems] == [True] * bool(told)


def test_with_a_broken_suite_only_misspelled_metrics_are_told() -> None:
    config = replace(
        CONFIG, gates=(gate("style.kindness", min=1), gate("agent.sucess_rate", min=1))
    )
    (problem,) = lint(config, MEASURED, TODAY, complete=False).problems
    assert problem.message == "unknown metric - did you mean 'agent.success_rate'?"


def entry(case: str, until: str) -> Quarantine:
    return Quarantine(case=case, owner="@team", until=until, place=Place("gate.yml", 3))


@pytest.mark.parametrize(("rounds", "wrong"), [(4, True), (3, False)])
def test_a_cap_below_the_rounds_of_a_suite_is_refused(rounds: int, wrong: bool) -> None:
    suite = replace(SUITE, rounds=rounds, place=Place("gate.yml", 7, "suites[0]"))
    told = found(suites=(suite,), regression=RegressionRules(max_rounds=3)).problems
    message = (
        "gate.yml:7: suites[0]: 4 rounds of 'a' are more than regression.max_rounds, 3 - raise it, "
        "or ask for fewer rounds"
    )
    assert [str(problem) for problem in told] == [message] * wrong


def test_quarantine() -> None:
    assert found(quarantine=(entry("a", "2026-11-21"),)).problems == []
    ended, wrong, twice = (
        found(quarantine=entries).problems[0].message
        for entries in (
            (entry("a", "2026-11-20"),),
            (entry("a", "2026-02-30"),),
            (entry("a", "2027-01-01"), entry("a", "2027-01-01")),
        )
    )
    assert ended.startswith("the quarantine of 'a' ended on 2026-11-20 - ")
    assert ended.endswith("@team")
    assert wrong == "until: 2026-02-30 is not a date (YYYY-MM-DD)"
    assert twice == "'a' is in quarantine twice"


def test_a_control_agent_that_is_not_asked_is_a_warning() -> None:
    control = PluginSpec(name="openai", place=Place("gate.yml", 4, "control_agent"))
    (warning,) = found(control_agent=control).warnings
    assert warning.startswith("gate.yml:4: control_agent: is never called")
    assert found(control_agent=control, regression=RegressionRules(control="fresh")).warnings == []


def test_a_quarantined_case_must_be_in_a_dataset() -> None:
    config = replace(CONFIG, quarantine=(entry("case-2", "2027-01-01"),))
    known = {f"case-{i}0" for i in range(9)}
    (problem,) = lint_with_data(config, MEASURED, {"a": frozenset(known)}).problems
    assert problem.message.startswith("no dataset has a case 'case-2' - did you mean 'case-")
    assert lint_with_data(config, MEASURED, {"a": frozenset({*known, "case-2"})}).problems == []
    assert lint_with_data(config, MEASURED, {}).problems == []  # its dataset could not be read


@pytest.mark.parametrize(
    ("cases", "rule", "warned"),
    [
        (10, gate(SHARE.name, min=0.1, rule="convicted"), True),
        (500, gate(SHARE.name, min=0.1, rule="convicted"), False),
        (10, gate(SHARE.name, min=0.1), False),
        (10, gate(SHARE.name, min=0.95, rule="proven"), True),
        (500, gate(SHARE.name, min=0.95, rule="proven"), False),
        (10, gate(ERRORS.name, max=0.95, rule="convicted"), True),
        (10, gate(ERRORS.name, max=0.05, rule="proven"), True),
        (10, gate(ERRORS.name, max=0.0), False),
        (33, gate(LATENCY.name, max=5000), True),
        (34, gate(LATENCY.name, max=5000), False),
    ],
)
def test_what_is_only_impossible_at_this_size_is_a_warning(
    cases: int, rule: GateRule, warned: bool
) -> None:
    config = replace(CONFIG, gates=(rule,))
    ids = frozenset(f"c{i}" for i in range(cases))
    result = lint_with_data(config, MEASURED, {"a": ids})
    assert result.problems == []
    assert bool(result.warnings) is warned


@pytest.mark.parametrize(
    ("cases", "rounds", "bound"),
    [(30, 1, 1.0 - 0.01 ** (1 / 30)), (10, 3, 0.18040)],  # z^2 / 30
)
def test_the_size_warning_agrees_with_the_bound_that_gates_use(
    cases: int, rounds: int, bound: float
) -> None:
    """At alpha 1 %, 0 of 30 right."""
    told = Rate().interval(np.zeros((cases, rounds)), SHARE, confidence=0.98)
    assert told.high == pytest.approx(bound, abs=1e-5)
    ids = frozenset(f"c{i}" for i in range(cases))
    suites = (replace(SUITE, rounds=rounds),)
    for limit, warned in ((bound - 1e-4, True), (bound + 1e-4, False)):
        rule = gate(SHARE.name, min=limit, rule="convicted")
        config = replace(CONFIG, suites=suites, gates=(rule,))
        assert bool(lint_with_data(config, MEASURED, {"a": ids}).warnings) is warned


def test_a_small_suite_is_no_warning() -> None:
    assert lint_with_data(CONFIG, MEASURED, {"a": frozenset("abc")}).warnings == []


@pytest.mark.parametrize(
    "metric",
    ["operational.judge_coverage", "operational.unverified_rate", "response_quality.coherence"],
)
def test_a_metric_that_no_suite_measures_is_no_misspelled_one(metric: str) -> None:
    assert told(gate(metric, min=0.5)) == []
