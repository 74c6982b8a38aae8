"""Plain numbers before any rate, and that they are those of what was made."""

from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.tally import Tally
from gate.records import GateRule
from gate.report.console import render_console
from gate.report.formats.comment import Comment, step_summary
from gate.report.formats.html import Html
from gate.report.formats.markdown import Markdown
from gate.report.wording.method import provenance
from gate.report.wording.patterns import reliability
from gate.report.wording.plain_counts import describe_weighting, passing, size
from gate.text.spans import plain
from gate.verdict.conclude import conclude
from tests.support.measured_suites import CONFIG, SETTING, failed_trials, measured_suite
from tests.support.verdict_tables import SUCCESS, build

NAN = float("nan")


def told(success, *, cases=None, rounds=3, baseline=None, name="s", gates=(), **more):
    table = build({"success": np.array(success, dtype=float)}, suite=name, specs=(SUCCESS,))
    one = measured_suite(table, name=name, baseline=baseline, **more)
    trials = int((~np.isnan(table.columns["success"])).sum())
    meta = replace(one.meta, cases=cases or len(success), rounds=rounds)
    tally = Tally(trials=trials, calls=trials)
    one = replace(one, meta=meta, tally=tally)
    return conclude([one], replace(CONFIG, gates=gates), SETTING, failed_trials)


def of_one_round(*passed):
    return [[p, NAN, NAN] for p in passed]


def test_all_cases_of_all_rounds():
    found = told([[1, 1, 1]] * 18 + [[1, 0, 1]] * 2 + [[0, 0, 0]] * 4)
    said = (
        "18 of 24 cases pass every round, 2 are flaky, 4 fail every round: agent.success_rate "
        "0.81 (each case by its share of passed rounds)."
    )
    assert plain(passing(found)) == said
    assert size(found.suites["s"]) == "24 cases x 3 rounds"


def test_one_round_needs_no_word_of_rounds_and_the_rate_is_told_where_no_table_has_it():
    found = told([[1]] * 18 + [[0]] * 6, rounds=1)
    assert plain(passing(found)) == "18 of 24 cases pass, 6 fail: agent.success_rate 0.75."
    judged = told([[1]] * 18 + [[0]] * 6, rounds=1, gates=(GateRule(metric=SUCCESS.name, min=0.5),))
    assert plain(passing(judged)) == "18 of 24 cases pass, 6 fail."


def test_a_run_that_ended_early_says_what_was_made():
    found = told(of_one_round(*[1] * 10, *[0] * 6), cases=55)
    suite = found.suites["s"]
    assert plain(passing(found)).startswith("10 of 16 cases pass, 6 fail, 39 not asked")
    assert size(suite) == "16 of 165 planned trials, 16 of 55 cases"
    assert "55 cases x 3" not in "\n".join(plain(value) for _, value in provenance(found))
    more = told([[1, 1, 1, 1]] * 20, rounds=3)
    assert size(more.suites["s"]) == "20 cases x 3 rounds planned, 80 trials made"


def test_the_parts_add_up_to_the_cases_of_the_suite():
    rows = [[1, 1, 1], [0, 0, 0], [1, 0, NAN], [NAN, NAN, NAN], [1, NAN, NAN]]
    counts = told(rows, cases=9).suites["s"].counts
    assert (counts.asked, counts.passing, counts.flaky, counts.failing) == (5, 2, 1, 1)
    assert "1 without a verdict, 4 not asked" in plain(passing(told(rows, cases=9)))


def test_what_cases_asked_twice_did_is_said_of_them_alone():
    """24 cases of which 6 fail, half of them asked once: `10 of 12` would be of whom?"""
    rows = [[1, 1]] * 10 + [[0, 0]] * 2 + [[1, NAN]] * 8 + [[0, NAN]] * 4
    found = told(rows)
    assert plain(passing(found)).startswith("18 of 24 cases pass every round, 6 fail every round")
    said = (
        "Of 12 cases asked twice or more 10 passed every round, 0 are flaky, 2 failed every round."
    )
    assert plain(reliability(found.suites["s"].reliability)) == said
    shown = render_console(found, color=False, unicode=True, width=200)
    assert f"Reliability: {said}" in shown
    whole = told([[1, 1]] * 10 + [[0, 0]] * 2)
    assert "Reliability" not in render_console(whole, color=False, unicode=True, width=200)


def test_a_figure_that_is_weighted_by_rounds_says_what_all_cases_alike_have():
    was = build({"success": np.ones((24, 6))}, specs=(SUCCESS,))
    rows = [[1, 1]] * 10 + [[0, 0]] * 2 + [[1, NAN]] * 8 + [[0, NAN]] * 4
    found = told(rows, baseline=was)
    (row,) = found.comparisons
    assert row.current != pytest.approx(0.75, abs=0.005)
    assert plain(describe_weighting(found, [("s", SUCCESS.name)])).endswith(f"{SUCCESS.name} 0.75.")
    for text in shown(found):
        assert "with equal weights over all cases" in text
    same = told([[1, 1, 1]] * 18 + [[0, 0, 0]] * 6, baseline=was)
    assert describe_weighting(same, [("s", SUCCESS.name)]) == ()
    assert all("with equal weights over all cases" not in text for text in shown(same))


def shown(report):
    nothing = lambda: iter(())  # noqa: E731
    for reporter in (Comment(), Markdown(), Html()):
        yield reporter.render(report, nothing)
    yield render_console(report, color=False, unicode=True, width=200)
    yield step_summary(report, nothing)


ROWS = [[1, 1, 1]] * 18 + [[0, 0, 0]] * 6


@pytest.mark.parametrize(
    ("baseline", "why"),
    [
        (None, "no baseline to compare"),
        (np.ones((24, 3)), "allowed"),
        (np.array(ROWS, dtype=float), "would have been caught"),
        (np.ones((40, 3)), "were removed or changed"),
    ],
    ids=["no_baseline", "fail", "pass", "not_comparable"],
)
def test_the_counts_stand_first_wherever_a_verdict_is_read(baseline, why):
    was = None if baseline is None else build({"success": baseline}, specs=(SUCCESS,))
    for text in shown(told(ROWS, baseline=was)):
        assert text.index("18 of 24 cases") < text.index(why)
