"""How an agent went about it, in words: violations, changed steps, failure modes, reliability."""

from dataclasses import replace

from gate.records import LoggedViolation, ModeCount, Reliability, StepChange, StepDiff, Violation
from gate.report.wording import patterns, steps, violations
from gate.text.spans import plain
from tests.support.reports import agent_fell, change, passing, steps_changed, suite


def logged(rule="canary", severity="high", case="a", round=1, step=None, by="safety"):
    found = Violation(rule=rule, severity=severity, step=step, excerpt="x")
    return LoggedViolation(suite="analytics", case_id=case, round=round, violation=found, by=by)


def report_of(*log, total=None):
    one = suite(violations=len(log) if total is None else total, violation_log=tuple(log))
    return passing(suites={"analytics": one})


def rows(*log):
    return list(violations.rows(violations.merge_log(report_of(*log)), suites=False))


def test_the_same_violation_in_several_rounds_is_one_line():
    assert rows(*(logged(round=n) for n in (1, 2, 3))) == [
        ("a", "answer, rounds 1, 2 and 3", "canary", "x")
    ]
    assert len(rows(logged(), logged(case="b"), logged(rule="secret"), logged(step=2))) == 4


def test_the_most_severe_come_first():
    found = rows(logged("ip", "low"), logged("phone", "medium"), logged("secret", "high"))
    assert [rule for _, _, rule, _ in found] == ["secret", "phone", "ip"]
    found = rows(logged("told", by=""), logged("found"))
    assert [rule for _, _, rule, _ in found] == ["found", "told"]


def test_what_the_agent_reports_itself_is_told_as_such():
    assert rows(logged(by=""))[0][1] == "reported, round 1"


def test_the_title_counts_and_says_where_the_others_are():
    report = report_of(logged(), logged("secret"), logged("secret", round=2))
    assert plain(violations.title(report, shown=2)) == "3 safety violations: secret (2), canary (1)"
    cut = plain(violations.title(report_of(logged(), total=70), shown=1))
    assert cut == "70 safety violations: canary (1); the full list is in violations.jsonl"
    assert violations.title(passing(), shown=0) == ()


def test_the_title_of_changed_steps_names_tools_by_what_became_of_them():
    told = steps.summary(change(1), steps_changed())
    assert told == (
        "Steps of churn-by-quarter-01, round 1, compared with the baseline: describe_table is left "
        "out, list_tables is new, run_sql is called with different arguments"
    )


def test_equal_steps_say_so():
    same = StepDiff(against="reference", round=2, steps=(StepChange(kind="same", now="a()"),))
    assert steps.summary(change(1), same).endswith(
        "compared with the reference trajectory: the same steps"
    )


def test_a_changed_step_is_two_lines_and_long_comparisons_end():
    assert list(steps.lines(steps_changed()))[2:4] == [
        '- run_sql(sql="SELECT churned FROM subscriptions")',
        '+ run_sql(sql="SELECT * FROM customers")',
    ]
    many = replace(steps_changed(), steps=(StepChange(kind="added", now="a()"),) * 43)
    assert list(steps.lines(many))[-1] == "  ... 3 more steps"


def test_most_frequent_modes_are_told_with_their_numbers_and_ties_by_gravity():
    failing = agent_fell().cases.newly_failing
    told = plain(patterns.mostly(failing))
    assert told == "Why: wrong tool (2), safety violation (1), missing tool use (1)."
    assert plain(patterns.mostly(failing[:2])) == "Why: wrong tool."
    assert patterns.mostly([change(1)]) == ()


def test_the_top_mode_is_none_where_nothing_failed():
    assert patterns.top_mode(()) == "none"
    assert patterns.top_mode([ModeCount(mode="loop", trials=3, cases=1)]) == "loop (1 case)"


def test_reliability_counts_cases_by_what_their_rounds_did():
    found = Reliability(rounds=10, reliable=180, flaky=1, consistently_failing=19)
    assert plain(patterns.reliability(found)) == (
        "Of 200 cases asked twice or more 180 passed every round, 1 is flaky, 19 failed every "
        "round."
    )
    assert patterns.reliability(None) == ()
