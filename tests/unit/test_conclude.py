from dataclasses import replace

import numpy as np
import pytest

from gate.archive import SuiteMeta
from gate.conclude import Measured, Setting, conclude
from gate.lookup import Compared
from gate.records import (
    BaselineInfo,
    Config,
    GateRule,
    PluginSpec,
    Provenance,
    Quarantine,
    Suite,
)
from gate.tally import Tally
from tests.verdict_tables import RECALL, SUCCESS, build, passing

SETTING = Setting(
    session_id="20261120-120000-0123abcd",
    created_at="2026-11-20T12:00:00Z",
    duration_s=1.5,
    mode="laptop",
    provenance=Provenance(commit="c" * 40),
    notes=("a note",),
    loosened=("a rule",),
    comment_id="mine",
)
CONFIG = Config(agent=PluginSpec(name="sample"), suites=(Suite(name="s", dataset="d", graders=()),))


def table(failed=0, cases=20, name="s", **columns):
    success = passing(cases, 3, failed)
    return build({"success": success, **columns}, suite=name, specs=(SUCCESS, RECALL))


def measured(current=None, baseline=None, name="s", **changes):
    current = current or table(name=name)
    meta = SuiteMeta(dataset="d", dataset_digest="dd", rounds=3, cases=20, specs=current.specs)
    info = BaselineInfo(source="file" if baseline else "none", detail=f"of {name}")
    made = Measured(
        name=name,
        meta=meta,
        table=current,
        tally=Tally(trials=60, calls=60, usd=0.6, priced=60),
        baseline=Compared(table=baseline, info=info),
    )
    return replace(made, **changes)


def rows(suite, ids):
    for case in sorted(ids):
        for number, codes in ((1, ["b"]), (2, ["a"]), (3, ["a", "c"])):
            yield {
                "suite": suite,
                "case_id": case,
                "round": number,
                "passed": False,
                "failures": codes,
                "error": "",
                "reasons": {"facts": f"round {number}", "regex": "no match"},
            }


def report_on(*suites, config=CONFIG, setting=SETTING):
    return conclude(suites, config, setting, rows)


def test_a_run_that_lost_nothing_passes():
    report = report_on(measured(baseline=table()))
    assert (report.outcome, report.exit_code) == ("pass", 0)
    assert report.suites["s"].metrics[SUCCESS.name].value == 1.0
    low, high = report.suites["s"].success_rate_ci95
    assert 0.9 < low < high <= 1.0
    assert report.session_id == SETTING.session_id
    assert (report.notes, report.loosened, report.comment_id) == (("a note",), ("a rule",), "mine")
    assert report.reproduce == "gate run --suite s --baseline auto"


def test_newly_failing_cases_come_with_codes_evidence_and_a_command():
    report = report_on(measured(table(failed=8), baseline=table()))
    assert report.outcome == "fail"
    first = report.cases.newly_failing[0]
    assert (first.failures, first.reason) == (("a", "b", "c"), "round 1; no match")
    assert report.reproduce == "gate run --suite s --case c000 --baseline auto"


def test_names_in_the_command_are_quoted():
    odd = "a suite; rm -rf"
    report = report_on(measured(table(failed=8, name=odd), baseline=table(name=odd), name=odd))
    assert "--suite 'a suite; rm -rf' --case c000" in report.reproduce


def test_evidence_is_looked_up_for_a_bounded_number_of_cases():
    asked = []

    def counted(suite, ids):
        asked.append(len(ids))
        return rows(suite, ids)

    many = measured(table(failed=300, cases=400), baseline=table(cases=400))
    report = conclude([many], CONFIG, SETTING, counted)
    assert len(report.cases.newly_failing) == 300
    assert asked == [200]
    assert report.cases.newly_failing[-1].failures == ()


def test_cases_that_were_not_chosen_are_neither_removed_nor_missed():
    chosen = table(cases=10)
    whole = table(cases=20)
    left_out = frozenset(whole.cases) - frozenset(chosen.cases)
    report = report_on(measured(chosen, baseline=whole, not_asked=left_out))
    assert report.outcome == "pass"
    assert report.cases.removed == ()
    assert report_on(measured(chosen, baseline=whole)).outcome == "not_comparable"


def test_a_gate_on_a_suite_that_was_left_out_is_no_gate_here():
    gates = (GateRule(metric="correctness.other", min=0.5),)
    config = replace(CONFIG, gates=gates)
    assert report_on(measured(baseline=table()), config=config).outcome == "fail"
    setting = replace(SETTING, elsewhere=frozenset({"correctness.other"}))
    report = report_on(measured(baseline=table()), config=config, setting=setting)
    assert (report.outcome, report.gates) == ("pass", ())


def test_a_quarantined_case_never_gates():
    held = (Quarantine(case="c000", owner="@me", until="2999-01-01"),)
    gates = (GateRule(metric=SUCCESS.name, min=1.0),)
    config = replace(CONFIG, gates=gates)
    assert report_on(measured(table(failed=1)), config=config).outcome == "fail"
    report = report_on(measured(table(failed=1)), config=replace(config, quarantine=held))
    assert report.outcome == "no_baseline"
    assert [change.case_id for change in report.cases.quarantined] == ["c000"]


def test_an_agent_that_was_not_there_is_an_error_not_a_failure():
    empty = build({"success": np.empty((0, 3))}, specs=(SUCCESS,))
    lost = measured(empty, baseline=table(), unreachable="refused: start it", not_run=60)
    report = report_on(lost)
    assert (report.outcome, report.exit_code) == ("error", 6)
    assert "start it" in report.reason
    assert report.cases.removed == ()
    assert report.suites["s"].success_rate_ci95 is None


def test_calls_and_costs_of_all_suites_are_added():
    short = Tally(trials=30, calls=31, usd=0.4, priced=20)
    short.unknown_models["m2"] = 10
    costs = np.full((20, 3), 0.02)
    costs[0, 0] = np.nan
    both = (
        measured(baseline=table(cost_usd=costs)),
        measured(name="t", tally=short, baseline=table(name="t", cost_usd=costs)),
    )
    report = report_on(*both)
    assert report.calls.planned == report.calls.cap == 120
    assert (report.calls.made, report.calls.saved) == (91, 29)
    assert report.cost.usd == pytest.approx(1.0)
    assert report.cost.baseline_usd == pytest.approx(0.02 * 90)
    assert (report.cost.unknown_models, report.cost.unknown_trials) == (("m2",), 10)


def test_more_calls_than_planned_save_nothing():
    assert report_on(measured(tally=Tally(trials=60, calls=70))).calls.saved == 0


def test_costs_that_nobody_knows_are_unknown():
    report = report_on(measured(tally=Tally(trials=60, calls=60), baseline=table()))
    assert report.cost.usd is None
    assert report.cost.baseline_usd is None
    assert report_on(measured(baseline=None)).cost.baseline_usd is None


def test_the_runs_baseline_is_that_of_the_first_suite_that_has_one():
    report = report_on(measured(), measured(name="t", baseline=table(name="t")))
    assert report.baseline.detail == "of t"
    assert report.suites["s"].baseline.detail == "of s"
    assert report_on(measured()).baseline.source == "none"
    assert report_on().baseline.source == "none"
