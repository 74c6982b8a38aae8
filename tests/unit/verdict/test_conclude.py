from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.tally import Tally
from gate.records import AcceptedChange, Budget, Calls, GateRule, Looks, Quarantine
from gate.records.baseline import BaselineRun
from gate.store.baseline.schema import AcceptanceNote
from gate.verdict.conclude import conclude, look
from gate.verdict.planning.plan import plan, suite_as_baseline
from tests.support.measured_suites import (
    CONFIG,
    SETTING,
    failed_trials,
    measured_suite,
    success_table,
)
from tests.support.verdict_tables import SUCCESS, build, passing


def report_on(*suites, config=CONFIG, setting=SETTING):
    return conclude(suites, config, setting, failed_trials)


def test_a_run_that_lost_nothing_passes():
    report = report_on(measured_suite(baseline=success_table()))
    assert (report.outcome, report.exit_code) == ("pass", 0)
    assert report.suites["s"].metrics[SUCCESS.name].value == 1.0
    suite = report.suites["s"]
    assert suite.success_rate_ci95 == pytest.approx((0.839, 1.0), abs=5e-4)
    assert (suite.success_rate_method, suite.success_rate_seed) == ("Wilson", None)
    assert report.session_id == SETTING.session_id
    assert (report.notes, report.loosened, report.comment_id) == (("a note",), ("a rule",), "mine")
    assert report.reproduce == "gate run --suite s --baseline auto"


def test_newly_failing_cases_come_with_codes_evidence_and_a_command():
    report = report_on(measured_suite(success_table(failed=8), baseline=success_table()))
    assert report.outcome == "fail"
    first = report.cases.newly_failing[0]
    assert (first.failures, first.reason) == (("a", "b", "c"), "round 1; no match")
    assert first.mode == "wrong_answer"
    assert report.reproduce == "gate run --suite s --case c000"


def test_the_command_names_another_config():
    report = report_on(
        measured_suite(baseline=success_table()), config=replace(CONFIG, file="ci/my gate.yml")
    )
    assert report.reproduce == "gate run --config 'ci/my gate.yml' --suite s --baseline auto"


def test_the_command_asks_whom_this_run_asked():
    asked = {"--base-url": "http://127.0.0.1:1", "--model": "a b"}
    report = report_on(
        measured_suite(baseline=success_table()), setting=replace(SETTING, asked_with=asked)
    )
    command = "gate run --base-url http://127.0.0.1:1 --model 'a b' --suite s --baseline auto"
    assert report.reproduce == command


def test_names_in_the_command_are_quoted():
    odd = "a suite; rm -rf"
    report = report_on(
        measured_suite(
            success_table(failed=8, name=odd), baseline=success_table(name=odd), name=odd
        )
    )
    assert "--suite 'a suite; rm -rf' --case c000" in report.reproduce


def test_evidence_is_looked_up_for_a_bounded_number_of_cases():
    asked = []

    def counted(suite, ids):
        asked.append(len(ids))
        return failed_trials(suite, ids)

    many = measured_suite(success_table(failed=300, cases=400), baseline=success_table(cases=400))
    report = conclude([many], CONFIG, SETTING, counted)
    assert len(report.cases.newly_failing) == 300
    assert asked == [200, 300, 50]  # reasons; kinds of answers; texts
    assert report.cases.newly_failing[-1].failures == ()


def test_cases_that_were_not_chosen_are_neither_removed_nor_missed():
    chosen = success_table(cases=10)
    whole = success_table(cases=20)
    left_out = frozenset(whole.cases) - frozenset(chosen.cases)
    report = report_on(measured_suite(chosen, baseline=whole, not_asked=left_out))
    assert report.outcome == "pass"
    assert report.cases.removed == ()
    assert report_on(measured_suite(chosen, baseline=whole)).outcome == "not_comparable"


def test_a_gate_on_a_suite_that_was_left_out_is_no_gate_here():
    gates = (GateRule(metric="correctness.other", min=0.5),)
    config = replace(CONFIG, gates=gates)
    assert report_on(measured_suite(baseline=success_table()), config=config).outcome == "fail"
    setting = replace(SETTING, elsewhere=frozenset({"correctness.other"}))
    report = report_on(measured_suite(baseline=success_table()), config=config, setting=setting)
    assert (report.outcome, report.gates) == ("pass", ())


def test_a_quarantined_case_never_gates():
    held = (Quarantine(case="c000", owner="@me", until="2999-01-01"),)
    gates = (GateRule(metric=SUCCESS.name, min=1.0),)
    config = replace(CONFIG, gates=gates)
    assert report_on(measured_suite(success_table(failed=1)), config=config).outcome == "fail"
    report = report_on(
        measured_suite(success_table(failed=1)), config=replace(config, quarantine=held)
    )
    assert report.outcome == "no_baseline"
    assert [change.case_id for change in report.cases.quarantined] == ["c000"]


def test_an_agent_that_was_not_there_is_an_error_not_a_failure():
    empty = build({"success": np.empty((0, 3))}, specs=(SUCCESS,))
    lost = measured_suite(
        empty, baseline=success_table(), unreachable="refused: start it", not_run=60
    )
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
        measured_suite(baseline=success_table(cost_usd=costs)),
        measured_suite(name="t", tally=short, baseline=success_table(name="t", cost_usd=costs)),
    )
    report = report_on(*both)
    assert report.calls.planned == report.calls.cap == 120
    assert (report.calls.made, report.calls.saved) == (91, 29)
    assert report.cost.usd == pytest.approx(1.0)
    assert report.cost.baseline_usd == pytest.approx(0.02 * 90)
    assert (report.cost.unknown_models, report.cost.unknown_trials) == (("m2",), 10)


LOOKS = Looks(calls=(12, 24, 60, 120))


def stopped(*, trials=24, **changes):
    """A suite with looks that made some trials of its first two rounds; 20 x 3 were planned."""
    asked = success_table(cases=min(trials, 20))
    one = measured_suite(asked, baseline=success_table(), **changes)
    tally = Tally(trials=trials, calls=trials + 1)
    return replace(one, meta=replace(one.meta, looks=LOOKS), tally=tally)


def test_what_the_verdict_spared_is_saved():
    report = report_on(stopped(ended="every blocking metric is settled"))
    assert report.calls == Calls(planned=60, cap=120, made=25, saved=35)
    suite = report.suites["s"]
    assert (suite.look, suite.looks, suite.ended) == (2, 4, "every blocking metric is settled")


def test_the_reason_ends_with_the_calls_of_its_suite_and_of_the_run():
    both = (stopped(), measured_suite(baseline=success_table(name="t"), name="t"))
    report = report_on(*both)
    assert report.reason.startswith("s: no regression seen; a drop of ")
    assert report.reason.endswith("; 85 of 120 planned calls made, 35 saved")
    assert report.suites["s"].reason.endswith("; 25 of 60 planned calls made, 35 saved")
    assert "calls" not in report.suites["t"].reason
    beside = stopped(control=Tally(trials=24, calls=24))
    assert report_on(beside).reason.endswith("; 49 of 120 planned calls made, 71 saved")


def test_what_a_budget_cut_is_not_saved():
    report = report_on(stopped(ended="the budget is used up", not_run=36))
    assert report.calls.saved == 0
    cut = stopped(trials=10, not_run=50)
    assert (
        report_on(measured_suite(baseline=success_table(name="t"), name="t"), cut).calls.saved == 0
    )


def test_beyond_the_plan_nothing_is_saved_and_nothing_counts_beyond_the_cap():
    assert report_on(stopped(trials=61)).calls.saved == 0
    assert stopped(trials=999).made == 120
    assert [stopped(trials=n).look for n in (0, 11, 12, 59, 60, 120)] == [0, 0, 1, 2, 3, 4]


def test_cases_that_an_early_end_spared_are_not_missed():
    spared = frozenset(success_table().cases) - frozenset(success_table(cases=12).cases)
    report = report_on(stopped(trials=12, not_asked=spared))
    assert report.cases.removed == ()
    assert report.suites["s"].outcome == "pass"
    cut = report_on(stopped(trials=12, not_run=48))
    assert cut.suites["s"].outcome == "inconclusive"
    assert "8 cases were never run" in cut.reason


def test_a_look_asks_what_the_verdict_would_say():
    settled = look([stopped()], CONFIG, SETTING)
    assert (settled.suites, settled.why) == (frozenset(), "every blocking metric is settled")
    worse = replace(stopped(), current=success_table(failed=15))
    found = look([worse], CONFIG, SETTING)
    assert found.suites == frozenset()
    assert "got worse" in found.why
    perhaps = replace(stopped(), current=success_table(failed=1))
    assert look([perhaps], CONFIG, SETTING).suites == {"s"}


def test_a_control_counts_in_calls_and_cost_and_is_no_stored_baseline():
    costs = np.full((20, 3), 0.02)
    beside = Tally(trials=48, calls=50, usd=0.5, priced=48)
    asked = measured_suite(baseline=success_table(cost_usd=costs), control=beside)
    report = report_on(replace(asked, new_cases=frozenset({"c000", "c001"})))
    assert report.calls.planned == report.calls.cap == 60 + 54
    assert report.calls.made == 60 + 50
    assert report.cost.usd == pytest.approx(0.6 + 0.5)
    assert (report.cost.control_usd, report.cost.baseline_usd) == (0.5, None)


def test_more_calls_than_planned_save_nothing():
    assert report_on(measured_suite(tally=Tally(trials=60, calls=70))).calls.saved == 0


def test_costs_that_nobody_knows_are_unknown():
    report = report_on(measured_suite(tally=Tally(trials=60, calls=60), baseline=success_table()))
    assert report.cost.usd is None
    assert report.cost.baseline_usd is None
    assert report_on(measured_suite(baseline=None)).cost.baseline_usd is None


def test_the_runs_baseline_is_that_of_the_first_suite_that_has_one():
    report = report_on(measured_suite(), measured_suite(name="t", baseline=success_table(name="t")))
    assert report.baseline.detail == "of t"
    assert report.suites["s"].baseline.detail == "of s"
    assert report_on(measured_suite()).baseline.source == "none"
    assert report_on().baseline.source == "none"


def ran(number, value, cases=20):
    return BaselineRun(
        session_id=f"s{number}",
        commit=None,
        created_at=f"2026-11-{number:02}",
        cases=cases,
        means={SUCCESS.name: value, "m.shown": 1.0},
    )


def test_what_blocks_has_its_history_in_whole_runs_of_the_baseline():
    runs = (ran(1, 0.8), ran(2, 0.1, cases=3), ran(3, None), ran(4, 0.9))
    one = measured_suite(success_table(failed=2), success_table(failed=2))
    one = replace(one, compared=replace(one.compared, history=runs))
    report = conclude([one], CONFIG, SETTING, failed_trials)
    assert report.suites["s"].history == {SUCCESS.name: (0.8, None, 0.9)}
    sampled = replace(one, meta=replace(one.meta, not_selected=5))
    assert conclude([sampled], CONFIG, SETTING, failed_trials).suites["s"].history == {}


def test_the_report_knows_the_budget_and_whether_the_own_rules_judged():
    config = replace(CONFIG, budget=Budget(usd=5.0))
    report = conclude([measured_suite()], config, replace(SETTING, unprotected=True), failed_trials)
    assert (report.cost.budget_usd, report.unprotected) == (5.0, True)


def test_a_change_that_the_baseline_has_taken_in_excuses_nothing_that_comes_later():
    """The nightly run at a merged commit finds the same comment again."""
    said = AcceptedChange(who="ann", when="2026-11-19T11:00:00Z", why="cheaper")
    setting = replace(SETTING, accepted=(said,))
    worse = measured_suite(success_table(failed=8), baseline=success_table())
    first = report_on(worse, setting=setting)
    assert (first.outcome, first.accepted) == ("pass", (said,))
    known = AcceptanceNote(who=said.who, when=said.when, why="cheaper", old_digest="d", metrics=())
    later = replace(worse, compared=replace(worse.compared, accepted=(known,)))
    second = report_on(later, setting=setting)
    assert (second.outcome, second.accepted) == ("fail", ())


def test_cases_that_flip_or_change_sides_have_their_history():
    was, now = passing(20, 6), passing(20, 3)
    was[1], now[0], now[2, 0], was[3] = 0.0, 0.0, 0.0, [1, 0, 1, 1, 1, 1]
    kept = [
        BaselineRun(session_id=str(n), commit=None, created_at="2026-01-01", kept=2)
        for n in range(3)
    ]
    one = measured_suite(success_table(success=now), success_table(success=was))
    one = replace(one, compared=replace(one.compared, runs=tuple(kept)))
    cases = conclude([one], CONFIG, SETTING, failed_trials).cases
    assert {c.case_id: c.history for c in cases.newly_failing} == {"c000": ((2, 2),) * 3}
    assert {c.case_id: c.history for c in cases.newly_passing} == {"c001": ((0, 2),) * 3}
    assert {c.case_id: c.history for c in cases.flaky} == {"c002": ((2, 2),) * 3}


def test_a_suite_says_how_many_of_its_cases_are_reliable():
    report = conclude([measured_suite(success_table(failed=4))], CONFIG, SETTING, failed_trials)
    found = report.suites["s"].reliability
    assert (found.rounds, found.reliable, found.flaky, found.consistently_failing) == (3, 16, 0, 4)


def test_a_first_run_says_what_the_next_one_could_catch_as_gate_plan_does():
    success = (np.arange(60).reshape(20, 3) % 7 > 0).astype(float)
    data = measured_suite(success_table(success=success))
    foresight = report_on(data).suites["s"].foresight
    subject = suite_as_baseline(data, CONFIG)
    (metric, *_) = plan([subject], CONFIG).suites[0].metrics
    assert (foresight.metric, foresight.least) == (metric.metric, metric.mde)
    ten = metric.targets[-1]
    assert (foresight.wanted, foresight.cases, foresight.guess) == (ten.change, ten.cases, "")
    compared = replace(data, compared=replace(data.compared, table=data.current))
    assert report_on(compared).suites["s"].foresight is None


def test_of_one_round_it_is_a_guess():
    one = build({"success": passing(20, 1, 3)}, suite="s", specs=(SUCCESS,))
    meta = replace(measured_suite().meta, rounds=1)
    foresight = report_on(measured_suite(one, meta=meta)).suites["s"].foresight
    assert foresight.guess == "from one round a case"


def test_what_another_tool_measured_is_not_foreseen_with_looks():
    data = measured_suite(success_table(success=(np.arange(60).reshape(20, 3) % 7 > 0) * 1.0))
    imported = replace(SETTING, provenance=replace(SETTING.provenance, event="import"))
    foresight = report_on(data, setting=imported).suites["s"].foresight
    (metric, *_) = plan([suite_as_baseline(data, CONFIG)], CONFIG).suites[0].metrics
    assert foresight.least == metric.mde_fixed


def test_nothing_is_foreseen_of_a_suite_of_which_nothing_passed():
    assert report_on(measured_suite(success_table(failed=20))).suites["s"].foresight is None
