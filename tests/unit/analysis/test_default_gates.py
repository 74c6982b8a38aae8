"""Zero tolerance without a word in gate.yml: where it holds, who may loosen it, what it decides."""

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from gate.analysis.catalogue import trial_metrics
from gate.analysis.default_gates import VIOLATIONS, format_default_gates, with_default_gates
from gate.analysis.table import Table
from gate.records import GateRule, RegressionRules
from gate.suites.config.levels import level_of
from gate.suites.config.load import digest, load
from gate.suites.protection.loosening.loosened import list_loosened_rules
from gate.verdict.comparability import stand
from gate.verdict.gates import certain_state, judge_gates
from tests.support.verdict_tables import suite_data

SPECS = {spec.name: spec for spec in trial_metrics(2)}
ONE = """\
suites:
  - name: s
    dataset: d.jsonl
    graders: [exact_match, {safety: {forbidden_tools: [rm]}}]
"""


def read(text, more=""):
    content = f"version: 1\nagent: {{type: sample}}\n{text}{more}".encode()
    return load({"gate.yml": content}.get, "gate.yml", env={}, root=Path(), today=date(2026, 1, 1))


def rules(config):
    return [*config.gates, *config.suites[0].gates]


def test_a_suite_with_the_grader_has_the_gate_at_the_graders_line():
    (gate,) = rules(read(ONE))
    assert (gate.metric, gate.max, gate.min, gate.level) == (VIOLATIONS, 0.0, None, "block")
    assert gate.by_default
    assert gate.place.line == 6
    (words,) = format_default_gates(read(ONE).suites[0])
    assert words == f"gate {VIOLATIONS} max 0, by default (grader 'safety')"
    assert (
        list(
            format_default_gates(read(ONE, f"    gates: {{{VIOLATIONS}: {{max: 0}}}}\n").suites[0])
        )
        == []
    )


def test_a_suite_without_it_has_none():
    assert rules(read(ONE.replace(", {safety: {forbidden_tools: [rm]}}", ""))) == []


@pytest.mark.parametrize("rule", ["{max: 5}", "{max: 0, level: warn}", "{target: 0}"])
def test_a_rule_of_gate_yml_stands_in_its_place(rule):
    written = f"{VIOLATIONS}: {rule}"
    (top,) = rules(read(ONE, f"gates: {{{written}}}\n"))
    (own,) = rules(read(ONE, f"    gates: {{{written}}}\n"))
    assert not top.by_default
    assert not own.by_default


def test_doing_it_twice_changes_nothing():
    config = read(ONE)
    assert with_default_gates(config) == config


def test_a_written_one_is_another_rule_in_the_digest_since_with_it_a_regression_blocks_too():
    written = read(ONE, f"    gates: {{{VIOLATIONS}: {{max: 0}}}}\n")
    assert digest(read(ONE), {}) != digest(written, {})


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (ONE.replace(", {safety: {forbidden_tools: [rm]}}", ""), "removes the gate on"),
        (ONE + f"    gates: {{{VIOLATIONS}: {{max: 5}}}}\n", "max 0.00 -> 5.00"),
        (ONE + f"    gates: {{{VIOLATIONS}: {{max: 0, level: warn}}}}\n", "level block -> warn"),
        (ONE + f"    gates: {{{VIOLATIONS}: {{target: 0}}}}\n", "max 0.00 -> none"),
    ],
)
def test_removing_the_grader_or_raising_the_limit_is_told(head, words):
    sentences = list_loosened_rules(read(head), read(ONE), {"s": SPECS})
    assert any(words in sentence and VIOLATIONS in sentence for sentence in sentences)


def test_adding_the_grader_or_writing_the_gate_out_loosens_nothing():
    before = ONE.replace(", {safety: {forbidden_tools: [rm]}}", "")
    assert list_loosened_rules(read(ONE), read(before), {"s": SPECS}) == ()
    written = ONE + f"    gates: {{{VIOLATIONS}: {{max: 0}}}}\n"
    assert list_loosened_rules(read(written), read(ONE), {"s": SPECS}) == ()


def test_it_takes_no_alpha_from_the_comparisons():
    (default,) = rules(read(ONE))
    spec, regression = SPECS[VIOLATIONS], RegressionRules()
    assert level_of(spec, (default,), regression) == "warn"
    assert level_of(spec, (GateRule(metric=VIOLATIONS, max=0.0),), regression) == "block"


def judged(values, *, rounds=2, cut_short=False):
    """The gate on these violations, cases x rounds; NaN where nobody looked."""
    values = np.array(values, dtype=float)
    cases = tuple(f"c{n}" for n in range(len(values)))
    table = Table(
        suite="s",
        cases=cases,
        digests=cases,
        rounds=values.shape[1],
        columns={"violations": values, "success": np.ones_like(values)},
        specs=SPECS,
    )
    config = read(ONE)
    data = suite_data(
        name="s",
        current=table,
        baseline=None,
        gates=config.suites[0].gates,
        chosen=len(cases),
        planned=len(cases) * rounds,
        made=values.size,
        not_run=len(cases) * rounds - values.size if cut_short else 0,
    )
    standing = stand(data, max_removed=0.1)
    (result,) = judge_gates([standing], config.gates, alpha=0.01)
    return result, certain_state(standing, config.suites[0].gates[0], SPECS[VIOLATIONS])


def test_one_violation_in_many_trials_fails():
    result, _ = judged([[0, 0]] * 99 + [[0, 2]])
    assert (result.status, result.value, result.by_default) == ("fail", 1.0, True)


def test_none_passes_and_nobody_looking_does_not():
    assert judged([[0, 0]] * 10)[0].status == "pass"
    assert judged([[np.nan, np.nan]] * 10)[0].status == "missing"


def test_a_violation_is_certain_before_all_rounds_are_made():
    assert judged([[0]] * 9 + [[1]])[1] == "broken"
    assert judged([[0]] * 10)[1] == "open"
    assert judged([[0]] * 9 + [[1]], cut_short=True)[0].status == "fail"
