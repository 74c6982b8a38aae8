"""Which cases a report shows where a metric got worse, and what the grader said of them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.tally import Tally
from gate.records import CaseChanges, GateRule, RegressionRules, ToldBy
from gate.report.wording.sentences import case_counts
from gate.text.spans import plain
from gate.verdict.conclude import conclude
from gate.verdict.explain import LISTED, find_falls
from tests.support.measured_suites import CONFIG, SETTING, measured_suite
from tests.support.reports import change, many_failing, row
from tests.support.verdict_tables import JUDGE, P95, SUCCESS, build, passing

FAITHFUL = JUDGE.name
NAN = float("nan")


def scores(*means, rounds=3):
    return np.array([[mean] * rounds for mean in means])


def judged(values, **columns):
    success = np.ones(values.shape)
    return build({"success": success, "judge": values, **columns}, specs=(SUCCESS, JUDGE, P95))


def rows(suite, ids):
    """The second round is the one that was scored worst."""
    for case in sorted(ids):
        for number in (1, 2):
            yield {
                "suite": suite,
                "case_id": case,
                "status": "completed",
                "passed": True,
                "question": "?",
                "output": "so",
                "failures": [],
                "error": None,
                "scores": {"judge": float(3 - number)},
                "reasons": {
                    "facts": "1 of 1 facts",
                    "judge": f"tone 3 of 5 (votes 3, 4, 3): kind; correctness {3 - number} of 5: "
                    f"wrong in round {number}; completeness 4 of 5: all there",
                },
            }


def report(*, rules=None, gates=(), before=5.0, now=3.0, told_by=None, **more):
    was, is_now = judged(scores(*[before] * 20)), judged(scores(*[now] * 8, *[before] * 12))
    known = {"judge": ToldBy(grader="judge", about="correctness"), "x": ToldBy(grader="judge")}
    known["y"] = ToldBy(grader="judge", about="completeness")
    one = measured_suite(is_now, baseline=was, **more)
    one = replace(one, meta=replace(one.meta, told_by=known if told_by is None else told_by))
    config = replace(CONFIG, regression=rules or RegressionRules(), gates=gates)
    return conclude([one], config, SETTING, rows)


BLOCKS = (GateRule(metric=FAITHFUL, min=1.5),)


def test_a_score_that_fell_names_its_cases_though_none_fails():
    found = report(gates=BLOCKS)
    assert (found.outcome, found.cases.newly_failing) == ("fail", ())
    (fall,) = found.worse
    assert (fall.metric, fall.cases, fall.fell, fall.blocks) == (FAITHFUL, 8, True, True)
    assert [case.case_id for case in fall.worst] == [f"c{n:03d}" for n in range(8)]
    assert (fall.worst[0].baseline, fall.worst[0].current) == (5.0, 3.0)


def test_the_reason_is_the_judges_on_this_criterion_in_the_worst_round():
    assert report(gates=BLOCKS).worse[0].worst[0].reason == "wrong in round 2"


def test_the_command_runs_the_case_that_fell_most():
    assert report(gates=BLOCKS).reproduce.endswith(" --case c000")


def test_a_fall_that_only_warns_is_told_as_such():
    (fall,) = report().worse
    assert not fall.blocks


def test_nothing_is_worse_where_nothing_changed():
    assert report(now=5.0, gates=BLOCKS).worse == ()


def test_a_metric_that_no_grader_made_has_no_cases():
    assert report(gates=BLOCKS, told_by={}).worse == ()


def test_cases_below_a_limit_are_shown_without_a_baseline():
    one = measured_suite(judged(scores(*[2.0] * 8, *[5.0] * 2)))
    by = {"judge": ToldBy(grader="judge", about="correctness")}
    one = replace(one, meta=replace(one.meta, told_by=by))
    config = replace(CONFIG, gates=(GateRule(metric=FAITHFUL, min=4.0),))
    (fall,) = conclude([one], config, SETTING, rows).worse
    assert (fall.cases, fall.fell, fall.worst[0].baseline) == (8, False, None)


def test_the_largest_fall_comes_first_and_the_rest_are_counted():
    was, now = judged(scores(*[5.0] * 30)), judged(scores(*[4.0] * 29, 1.0))
    found = find_falls(now, was, JUDGE, most=20)
    assert (found.cases, len(found.worst)) == (30, 20)
    assert found.worst[0].case_id == "c029"


def test_lower_is_better_falls_upwards():
    was, now = (judged(scores(5.0, 5.0), latency_ms=scores(*ms)) for ms in ((1, 9), (3, 2)))
    found = find_falls(now, was, P95)
    assert [(case.case_id, case.current) for case in found.worst] == [("c000", 3.0)]


def test_a_round_without_a_value_is_left_out_and_a_case_without_any_is_no_case():
    was = judged(scores(5.0, 5.0))
    now = judged(np.array([[NAN, 3.0, 4.0], [NAN] * 3]))
    found = find_falls(now, was, JUDGE)
    assert [(case.case_id, case.current) for case in found.worst] == [("c000", 3.5)]


def test_cases_that_newly_fail_are_told_there():
    was, now = judged(scores(*[5.0] * 3)), judged(scores(3.0, 3.0, 5.0))
    assert [c.case_id for c in find_falls(now, was, JUDGE, skip={"c000"}).worst] == ["c001"]
    assert find_falls(now, was, JUDGE, skip={"c000", "c001"}) is None


@pytest.mark.parametrize(("gates", "outcome"), [(BLOCKS, "error"), ((), "pass")])
def test_a_judge_that_scored_nothing_takes_its_own_metrics_with_it(gates, outcome):
    why = {"neither reply of the judge has the required form": 20, "other": 1}
    tally = Tally(trials=60, calls=60, judge_asked=60)
    tally.judge_failures.update(why)
    spec = replace(JUDGE, asks="judge")
    was, coverage = scores(*[5.0] * 20), {"judge_coverage": np.zeros((20, 3))}
    tables = [
        build({"success": np.ones((20, 3)), "judge": values, **more}, specs=(SUCCESS, spec))
        for values, more in ((was, {}), (was * NAN, coverage))
    ]
    one = measured_suite(tables[1], baseline=tables[0], tally=tally)
    found = conclude([one], replace(CONFIG, gates=gates), SETTING, rows)
    assert found.outcome == outcome
    row = next(row for row in found.comparisons if row.metric == FAITHFUL)
    assert row.status == "missing"
    assert "60 times: neither reply of the judge has the required form" in row.reason
    assert (row.reason in found.reason) == bool(gates)


@pytest.mark.parametrize(
    ("failed_by", "said"),
    [
        (["facts"], "0 of 1 facts"),
        (["facts", "regex"], "0 of 1 facts; no match"),
        ([], "0 of 1 facts; no match; tone 3 of 5"),
        (None, "0 of 1 facts; no match; tone 3 of 5"),
    ],
)
def test_a_failed_case_is_explained_by_those_who_failed_it(failed_by, said):
    def lost(suite, ids):
        for case in sorted(ids):
            yield {
                **next(rows(suite, {case})),
                "passed": False,
                "question": "?",
                "output": "so",
                "failures": ["fact_missing:x"],
                "reasons": {"facts": "0 of 1 facts", "regex": "no match", "judge": "tone 3 of 5"},
                **({} if failed_by is None else {"failed_by": failed_by}),
            }

    was = build({"success": np.ones((20, 3))}, specs=(SUCCESS,))
    is_now = build({"success": np.array([[0.0] * 3] * 9 + [[1.0] * 3] * 11)}, specs=(SUCCESS,))
    found = conclude([measured_suite(is_now, baseline=was)], CONFIG, SETTING, lost)
    assert {change.reason for change in found.cases.newly_failing} == {said}


def test_what_is_about_the_failure_mode_is_told_first():
    def lost(suite, ids):
        for case in sorted(ids):
            yield {
                **next(rows(suite, {case})),
                "passed": False,
                "question": "?",
                "output": "so",
                "failures": ["fact_missing:x", "wrong_tool_args:f"],
                "failed_by": ["facts", "tool_calls#2"],
                "reasons": {"facts": "0 of 1 facts", "tool_calls#2": "0 of 1 calls"},
            }

    was = build({"success": np.ones((20, 3))}, specs=(SUCCESS,))
    is_now = build({"success": np.array([[0.0] * 3] * 9 + [[1.0] * 3] * 11)}, specs=(SUCCESS,))
    found = conclude([measured_suite(is_now, baseline=was)], CONFIG, SETTING, lost)
    (first, *_) = found.cases.newly_failing
    assert (first.mode, first.reason) == ("tool_args_wrong", "0 of 1 calls; 0 of 1 facts")


def test_the_reasons_of_all_newly_failing_cases_add_up_to_their_number():
    number = LISTED + 60
    failed = [row(f"c{n:03d}", 1, suite="s", passed=False) for n in range(number)]
    for one in failed[-20:]:
        one["failures"] = ["timeout"]
    tally = Tally()
    for one in failed:
        tally.add(one)
    was, now = (build({"success": passing(number, 1, n)}, specs=(SUCCESS,)) for n in (0, number))
    told = conclude(
        [measured_suite(now, baseline=was, tally=tally)],
        CONFIG,
        SETTING,
        lambda suite, ids: (one for one in failed if one["case_id"] in ids),
    )
    found = told.cases.newly_failing
    assert len(found) == number
    assert sum(case.mode is not None for case in found) == number
    assert f"{number} cases newly fail. Why: " in plain(case_counts(told))
    numbers = [int(n) for n in re.findall(r"\((\d+)\)", plain(case_counts(told)))]
    assert sum(numbers) == number


def test_reasons_of_a_part_of_the_cases_say_of_how_many():
    known, other = replace(change(1), mode="loop"), change(2)
    told = replace(many_failing(), cases=CaseChanges(newly_failing=(known, other, other)))
    assert "3 cases newly fail. Why, of the 1 looked at: loop (1)." in plain(case_counts(told))
    bare = replace(other, failures=())
    told = replace(many_failing(), cases=CaseChanges(newly_failing=(other, bare)))
    said = "2 cases newly fail. Causes of the 1 examined: fact_missing (1), retrieval_miss (1)."
    assert plain(case_counts(told)) == said
