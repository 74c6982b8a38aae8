"""Rows, sentences and spans that all reports share."""

from dataclasses import replace

import pytest

from gate.analysis.severity import by_severity
from gate.records import CaseChanges, Cost, NoiseOdds, Policy
from gate.report.formats.comment import render_limited
from gate.report.wording import case_totals, headline, sentences
from gate.report.wording.checks import list_blocking, list_checks, list_warnings
from gate.report.wording.cost import spending
from gate.report.wording.method import method, provenance
from gate.report.wording.next_step import next_step
from gate.text import spans
from tests.support.reports import (
    BASE,
    P95,
    RECALL,
    SUCCESS,
    agent_down,
    baseline,
    change,
    comparison,
    gate,
    latency,
    no_baseline,
    not_comparable,
    passing,
    regression,
    row,
    stopped_early,
    suite,
)


def only(report, metric):
    (found,) = [check for check in list_checks(report) if check.metric == metric]
    return found


def one(**changes):
    return passing(gates=(), comparisons=(comparison(**changes),))


@pytest.mark.parametrize(
    ("status", "level", "sign", "verdict"),
    [
        ("regression", "block", "bad", "regression"),
        ("regression", "warn", "warn", "regression (warn only)"),
        ("suspected", "block", "unsure", "suspected"),
        ("suspected", "warn", "noted", "suspected (warn only)"),
        ("inconclusive", "block", "unsure", "too few data"),
        ("not_comparable", "block", "refused", "not comparable"),
        ("missing", "block", "bad", "too many unscored"),  # there is a value of the others
        ("new", "block", "new", "new"),
        ("accepted", "block", "accepted", "accepted"),
        ("improvement", "block", "good", "improved"),
        ("within_tolerance", "block", "good", "worse, within tolerance"),
        ("no_regression", "block", "good", ""),
    ],
)
def test_every_status_has_its_sign_and_words(status, level, sign, verdict):
    found = only(one(status=status, level=level), SUCCESS)
    assert (found.sign, found.verdict) == (sign, verdict)


def test_a_metric_that_is_gone_is_called_so():
    gone = one(status="missing", current=None)
    assert only(gone, SUCCESS).verdict == "not measured any more"
    gone, unscored = (one(status="missing", current=v, level="warn") for v in (None, 0.9))
    assert "No longer measured: " in spans.plain(sentences.warn_only(list_checks(gone)))
    assert "Too many unscored: " in spans.plain(sentences.warn_only(list_checks(unscored)))


@pytest.mark.parametrize("missing", ["fail", "warn", "pass"])
def test_a_metric_that_is_gone_stands_in_the_comment_whatever_its_policy(missing):
    gone = one(status="missing", current=None, level="warn")
    report = replace(gone, policy=Policy(missing_metric=missing))
    assert f"⚠️ No longer measured: `{SUCCESS}`." in render_limited(report, lambda: iter(()), 9_000)
    assert [check.sign for check in list_warnings(report)] == ["warn"]


def test_a_judge_that_is_out_has_not_made_its_metrics_go():
    out = one(status="missing", current=None, level="warn", reason="judge unreachable: timed out")
    told = spans.plain(sentences.warn_only(list_checks(out)))
    assert told == f"Judge unreachable: {SUCCESS}."


@pytest.mark.parametrize(
    ("changes", "sign", "verdict"),
    [
        ({"value": 0.88, "status": "fail"}, "bad", "below min"),
        ({"value": 0.2, "min": None, "max": 0.1, "status": "fail"}, "bad", "above max"),
        ({"value": 0.92, "status": "fail", "rule": "proven"}, "bad", "not proven within limit"),
        ({"value": None, "status": "missing"}, "bad", "not measured"),
        ({"status": "inconclusive"}, "unsure", "limit: too few data"),
        ({"status": "inconclusive", "wants": "agent"}, "unsure", "limit: not judged"),
        ({"status": "inconclusive", "wants": "answers"}, "unsure", "limit: answers are missing"),
        (
            {"status": "inconclusive", "wants": "trials", "value": 0.5},
            "unsure",
            "below min, limit: not settled",
        ),
        ({"status": "accepted", "target": None}, "accepted", "accepted"),
        ({"proved": False, "target": None, "rule": "convicted"}, "good", "limit not proved"),
        ({"proved": False, "target": None, "rule": "point"}, "good", ""),
        ({"status": "warn", "target": None, "value": 0.5}, "warn", "below min, not certain"),
        ({"proved": False, "target": None, "value": 0.5}, "warn", "below min, not certain"),
        ({"status": "inconclusive", "value": 0.5}, "unsure", "below min, limit: too few data"),
        (
            {"status": "inconclusive", "value": 0.5, "level": "warn"},
            "warn",
            "below min, limit: too few data (warn only)",
        ),
        ({}, "good", "target 0.95 not yet"),
        ({"value": 0.96, "target_met": True}, "good", "target 0.95"),
        ({"status": "fail", "level": "warn", "value": 0.5}, "warn", "below min (warn only)"),
    ],
)
def test_every_gate_has_its_sign_and_words(changes, sign, verdict):
    report = passing(gates=(gate(**changes),), comparisons=())
    found = only(report, "correctness.fact_accuracy")
    assert (found.sign, found.verdict) == (sign, verdict)


def test_what_limit_and_comparison_both_say_is_said_once():
    unsure = (gate(metric=SUCCESS, value=None, status="inconclusive"),)
    found = only(replace(one(status="inconclusive"), gates=unsure), SUCCESS)
    assert found.verdict == "too few data"


def test_safety_and_success_stand_before_metrics_of_the_same_verdict():
    names = ("agent.avg_steps", SUCCESS, "agent.safety_violations_per_100")
    report = passing(gates=tuple(gate(metric=name) for name in names), comparisons=())
    assert [check.metric for check in list_checks(report)] == [*reversed(names[1:]), names[0]]


def test_a_missing_metric_follows_its_policy():
    missing = (gate(value=None, status="missing"),)
    lenient = Policy(missing_metric="warn")
    report = passing(gates=missing, comparisons=(), policy=lenient)
    assert only(report, "correctness.fact_accuracy").sign == "warn"
    assert only(replace(one(status="missing"), policy=lenient), SUCCESS).sign == "warn"


def test_gate_and_comparison_of_a_metric_are_one_row():
    found = only(regression(), RECALL)
    assert (found.baseline, found.current) == ("0.93", "0.84")
    assert found.change == "−9.1 pt (−13.2 … −5.0)"
    assert found.limit == "min 0.82 · drop ≤ 2 pt"
    assert found.icon == "❌"


def test_a_blocking_limit_keeps_its_row_when_the_comparison_only_warns():
    slow = latency(status="regression", current=2700.0, delta=0.17)
    limit = gate(P95, value=2700.0, min=None, max=5000.0, target=None, unit="ms", direction="lower")
    report = passing(comparisons=(slow,), gates=(limit,))
    (found,) = list_blocking(report)
    assert (found.sign, found.verdict) == ("warn", "regression (warn only)")
    assert found.limit == "max 5,000 ms · rise ≤ 10 %"
    assert [check.metric for check in list_warnings(regression())] == [P95]


def test_what_only_warns_is_one_line():
    limit = gate("m", value=0.5, status="fail", level="warn", target=None)
    slow = latency(status="regression", delta=0.2)
    report = passing(comparisons=(slow,), gates=(limit,))
    assert spans.plain(sentences.warn_only(list_warnings(report))) == (
        f"Also worse, not blocking: m 0.50 (below min), {P95} +20 %."
    )
    gone = latency(status="missing", delta=None, current=None)
    report = passing(comparisons=(gone,), gates=(limit,))
    assert spans.plain(sentences.warn_only(list_warnings(report))) == (
        f"Also worse, not blocking: m 0.50 (below min). No longer measured: {P95}."
    )
    twice = [
        comparison(name, level="warn", status="regression", delta=delta)
        for name, delta in (("agent.pass^2", -0.5), ("agent.loop_rate", -0.1))
    ]
    line = spans.plain(
        sentences.warn_only(list_warnings(passing(comparisons=tuple(twice), gates=())))
    )
    assert line == "Also worse, not blocking: agent.loop_rate −10.0 pt, agent.pass^2 −50.0 pt."
    many = tuple(comparison(f"m{n}", level="warn", status="regression") for n in range(9))
    line = spans.plain(sentences.warn_only(list_warnings(passing(comparisons=many, gates=()))))
    assert line.endswith(", m4 −0.2 pt, and 4 more.")
    assert sentences.warn_only(()) == ()


def test_the_comparison_line_tells_source_age_and_pairs():
    (line,) = sentences.comparisons(passing())
    assert spans.plain(line) == (
        "Head 4f1c9d2 against the baseline at a81e03c (12 rounds of 4 runs, the newest 2 days old) "
        "· 200 cases paired · same agent, judge and settings"
    )
    assert f"[`a81e03c`](https://github.com/acme/assistant/commit/{BASE})" in spans.markdown(line)


def test_the_age_of_a_baseline_says_of_what_it_is():
    """A file may be a day old and hold what was measured half a year ago."""
    one = baseline(age_days=194.2, runs=1, rounds=3)
    report = passing(suites={"analytics": suite(baseline=one)}, baseline=one)
    (line,) = sentences.comparisons(report)
    assert "(3 rounds, 194 days old) · " in spans.plain(line)


def test_a_baseline_that_could_not_be_used_is_not_called_compared():
    (line,) = sentences.comparisons(agent_down())
    assert "no case paired" in spans.plain(line)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {},
            "would catch a drop of 6.4 pt or more in # 8 times in 10. 330 cases would catch 5 pt "
            "(gate plan).",
        ),
        ({"cases": None}, "would catch a drop of 6.4 pt or more in # 8 times in 10."),
        (
            {"least": None, "cases": None},
            "is too small to catch any drop in # reliably (8 times in 10).",
        ),
        (
            {"guess": "from one round", "cases": None},
            "would catch a drop of 6.4 pt or more in # 8 times in 10 (a guess, from one round).",
        ),
        (
            {"direction": "lower", "relative": True},
            "would catch a rise of 6.4 % or more in # 8 times in 10. 330 cases would catch 5 % "
            "(gate plan).",
        ),
    ],
)
def test_a_first_run_says_what_the_next_one_would_catch(changes, told):
    first = no_baseline()
    suite = first.suites["analytics"]
    suites = {"analytics": replace(suite, foresight=replace(suite.foresight, **changes))}
    (line,) = sentences.foreseen(replace(first, suites=suites))
    shown = spans.plain(line).replace(SUCCESS, "#")
    assert shown == f"The next run, compared with this one, {told}"


def test_a_line_of_several_suites_begins_with_its_suite():
    first = no_baseline()
    (mine,) = first.suites.values()
    two = {"b": replace(mine, name="b"), "c": replace(mine, name="c", foresight=None)}
    (line,) = sentences.foreseen(replace(first, suites=two))
    assert spans.plain(line).startswith("b: The next run")


def test_counts_are_silent_when_nothing_was_compared():
    assert sentences.case_counts(no_baseline()) == ()
    none = passing(cases=CaseChanges())
    assert spans.plain(sentences.case_counts(none)) == "No case newly fails."


def test_the_worst_case_comes_first():
    half = change(1, case_id="half", current_passed=2, current_rounds=4)
    unsure = change(1, case_id="b", current_passed=0, p_value=0.2)
    sure = change(1, case_id="c", current_passed=0, p_value=0.01)
    new = change(1, case_id="new", baseline_passed=None, baseline_rounds=None, current_passed=0)
    ordered = by_severity((new, half, unsure, sure))
    assert [c.case_id for c in ordered] == ["c", "b", "half", "new"]


@pytest.mark.parametrize(
    ("report", "step"),
    [
        (regression(), "if intended, comment /gate accept REASON"),
        (
            regression(provenance=replace(regression().provenance, mode="branch")),
            "if intended, run gate baseline accept --reason TEXT on the base branch",
        ),
        (no_baseline(), "create a baseline: run the workflow that measures it on the base branch"),
        (
            no_baseline(
                provenance=replace(no_baseline().provenance, run_url=None, commit=None),
                next_command="gate baseline save --config a.yml out/session-1",
            ),
            "create a baseline: run gate baseline save --config a.yml out/session-1",
        ),
        (
            not_comparable(),
            "start a new baseline with gate baseline accept --reason TEXT on the base branch",
        ),
        (agent_down(), "continue where it stopped: run the job again"),
        (
            agent_down(provenance=replace(agent_down().provenance, run_url=None)),
            "continue where it stopped: gate run --resume with the options of this run",
        ),
        (
            agent_down(
                provenance=replace(agent_down().provenance, run_url=None),
                next_command="gate run --config a.yml --resume results/session-1",
            ),
            "continue where it stopped: gate run --config a.yml --resume results/session-1",
        ),
    ],
)
def test_there_is_a_next_step(report, step):
    assert step in spans.plain(next_step(report))


@pytest.mark.parametrize(
    ("report", "command"),
    [
        (no_baseline(), "gate baseline save"),
        (agent_down(), "gate run --resume"),
        (
            passing(
                outcome="inconclusive",
                suites={"s": suite(outcome="inconclusive", look=4, looks=10)},
            ),
            "gate run --resume",
        ),
    ],
)
def test_a_laptop_has_a_command_for_the_next_step(report, command):
    laptop = replace(report, provenance=replace(report.provenance, mode="laptop", run_url=None))
    assert f"`{command}`" in spans.markdown(next_step(laptop))


def edited_grader(**more):
    """A pull request that edits its own grader."""
    why = "its grader was edited: graders/mine.py"
    rows = [comparison(name, status="not_comparable", reason=why) for name in (SUCCESS, RECALL)]
    reason = f"{SUCCESS} cannot be compared: {why}"
    suites = {"analytics": suite(outcome="not_comparable", reason=reason)}
    report = passing(outcome="not_comparable", comparisons=tuple(rows), suites=suites)
    return replace(report, **more)


def test_an_edited_grader_is_accepted_by_the_names_of_all_its_metrics():
    assert f"`/gate accept {SUCCESS} {RECALL} REASON`" in spans.markdown(next_step(edited_grader()))


def test_a_suite_that_cannot_be_compared_as_a_whole_needs_a_new_baseline():
    (why,) = {row.reason for row in edited_grader().comparisons}
    whole = {"analytics": suite(outcome="not_comparable", reason=why)}
    on_main = replace(edited_grader().provenance, mode="push")
    for report in (edited_grader(suites=whole), edited_grader(provenance=on_main)):
        assert "`gate baseline accept --reason TEXT`" in spans.markdown(next_step(report))


def test_what_the_policy_lets_through_is_not_said_to_block_when_another_suite_does():
    told = spans.plain(headline.because(replace(no_baseline(), exit_code=1)))
    assert told.endswith("allows this (no_baseline: warn), but something else blocks the run.")


def test_a_limit_that_is_kept_and_not_proved_is_not_called_broken():
    kept = gate(rule="proven", status="fail", proved=False)
    release = replace(passing().provenance, mode="release")
    report = passing(outcome="fail", gates=(kept,), provenance=release)
    assert headline.headline(report) == "Fail: analytics not proven to be within the limits"
    assert "without rule: proven no proof is required" in spans.plain(next_step(report))
    broken = replace(report, gates=(kept, gate(RECALL, value=0.5, status="fail")))
    assert headline.headline(broken) == "Fail: analytics outside the limits"
    assert "rule: proven" not in spans.plain(next_step(broken))


def test_a_laptop_accepts_with_a_command():
    laptop = replace(regression().provenance, mode="laptop", run_url=None)
    report = regression(provenance=laptop)
    assert "run gate baseline accept" in spans.plain(next_step(report))
    assert sentences.run_link(report) == ()
    (line,) = sentences.comparisons(report)
    assert "](" not in spans.markdown(line)


def fresh(detail):
    """A regression against a control that was asked in the same run."""
    info = baseline(source="control", detail=detail, runs=1, rounds=3, age_days=None)
    cost = Cost(usd=0.9, control_usd=0.4)
    return regression(baseline=info, suites={"analytics": suite(baseline=info)}, cost=cost)


def test_a_control_that_was_asked_in_the_same_run_is_named():
    report = fresh("openai m at http://control")
    (line,) = sentences.comparisons(report)
    shown = spans.plain(line)
    assert " against the control at " in shown
    assert "(asked in the same run, 3 rounds)" in shown
    source = dict(provenance(report))["baseline"]
    assert spans.plain(source) == "control: openai m at http://control"
    assert "($0.40 of it for the control)" in spans.plain(spending(report))
    assert "gate baseline accept" not in spans.plain(next_step(report))


def test_what_a_control_is_called_stays_text():
    (line,) = sentences.comparisons(fresh("<img src=x> [a](http://b) @team"))
    shown = spans.markdown(line)
    assert "<img" not in shown
    assert "[a](" not in shown
    assert "@team" not in shown


def told(report):
    return "\n".join(spans.plain(line) for line in method(report))


def test_the_method_names_test_level_and_what_could_be_seen():
    text = told(passing(alpha=0.005))
    assert (
        "how often that alone makes a change as large (case-stratified shuffle test, exact" in text
    )
    assert (
        "the chance that a run blocks is at most 0.5 %, over all 2 blocking comparisons (Holm)."
        in text
    )
    assert "200 paired cases, p = 0.44 (adjusted: p = 1); a drop of 3.1 pt or more" in text
    blind = told(passing(comparisons=(comparison(mde=1.2),)))
    assert "the chance that a run blocks is at most 1 %.\n" in blind
    assert "no drop would have been caught 8 times in 10" in blind
    assert "point: the measured value decides about a limit" in text


def test_the_method_of_a_run_of_a_fixed_size_speaks_of_no_looks():
    assert "look" not in told(passing()).lower()


def test_the_method_tells_how_often_the_run_was_looked_at_and_why_it_ended():
    text = told(stopped_early())
    assert "Looked 2 times of at most 10; ended: every blocking metric of it is settled." in text
    assert "at most 1 %, over all 2 blocking comparisons (Holm) and all looks." in text
    assert "stopping early does not raise that 1 %" in text
    looked = suite("b", look=1, looks=5, ended="`a` of {b} got worse")
    both = told(passing(suites={"{a}": suite("{a}", look=2, looks=10), "b": looked}))
    assert (
        "{a}: looked 2 times of at most 10.\nb: looked 1 time of at most 5; ended: a of {b}" in both
    )


def test_what_the_end_of_the_run_left_open_is_marked():
    report = regression()
    assert (only(report, SUCCESS).icon, only(report, SUCCESS).verdict) == ("⏸️", "not settled")
    assert only(report, RECALL).verdict == "regression"
    assert told(report).count("; the run ended before this was settled.") == 2
    warned_of = passing(comparisons=(comparison(level="warn", settled=False),), gates=())
    assert only(warned_of, SUCCESS).icon == "✅"


def test_the_method_names_the_pooled_runs_and_what_was_left_out():
    text = told(stopped_early())
    assert (
        "Baseline: 6 rounds of a case, from the newest 2 runs that agree with each other." in text
    )
    assert "Run 20260111-040000-0b1c2d3e (commit 77e0a1b, 2026-01-11) and 3 older runs" in text
    assert "agent.success_rate by ±0.8 pt (6 runs)." in text
    shown = [spans.plain(line) for line in sentences.cautions(stopped_early())]
    assert not [line for line in shown if "left out" in line]
    other = {"{a}": suite("{a}"), "b": suite("b", baseline=baseline(runs=2))}
    assert "Baseline of {a}: 12 rounds of a case, from the newest 4 runs" in told(
        passing(suites=other)
    )


def test_the_method_says_that_a_control_ran_beside():
    assert "Baseline: the control agent, asked in the same run" in told(fresh("openai m"))


def test_an_early_end_tells_how_many_cases_were_asked():
    cut = suite(cases=300, trials=200, look=2, looks=10)
    (line,) = sentences.comparisons(passing(suites={"analytics": cut}))
    assert "200 of 300 cases asked · " in spans.plain(line)


@pytest.mark.parametrize(
    ("look", "looks", "step"),
    [
        (
            0,
            0,
            "run more rounds (gate run --rounds N) or add cases; gate plan shows how many",
        ),
        (10, 10, "run more rounds (regression.max_rounds) or add cases; gate plan"),
        (4, 10, "run the job again: it adds trials to this session"),
    ],
)
def test_what_would_settle_it(look, looks, step):
    left = suite(outcome="inconclusive", look=look, looks=looks)
    report = passing(outcome="inconclusive", suites={"analytics": left})
    assert step in spans.plain(next_step(report))


def test_a_suite_among_several_is_told_in_short():
    long = suite(reason="`m` fell by 9.1 points (0.93 -> 0.84; allowed -2.0); 3 of 9 calls made")
    assert spans.plain(headline.in_short(long)) == "m fell by 9.1 points"
    assert spans.plain(headline.in_short(suite(reason="no regression seen; a drop"))) == (
        "no regression seen"
    )
    assert spans.plain(headline.why(long)).endswith("allowed −2.0); 3 of 9 calls made")


def test_provenance_leaves_out_what_is_empty():
    names = [name for name, _ in provenance(passing())]
    assert names[:3] == ["session", "created", "commit"]
    bare = passing(provenance=type(passing().provenance)())
    assert "commit" not in [name for name, _ in provenance(bare)]


def test_suites_with_one_baseline_share_a_line():
    both = {"a": suite("a"), "b": suite("b"), "c": suite("c", baseline=baseline(commit="1" * 40))}
    first, second = sentences.comparisons(passing(suites=both))
    assert spans.plain(first).startswith("a and b: Not compared with")
    assert spans.plain(second).startswith("c: Not compared with the baseline at 1111111")


def test_suites_whose_files_come_from_one_run_share_a_line():
    names = ("a", "b")
    both = {
        name: suite(name, baseline=baseline(detail=f"baselines/{name}.json at a81e03c"))
        for name in names
    }
    rows = tuple(comparison(suite=name) for name in names)
    (line,) = sentences.comparisons(passing(suites=both, comparisons=rows))
    assert spans.plain(line).startswith(
        "Head 4f1c9d2 against the baseline at a81e03c (12 rounds of 4 runs"
    )


def test_a_template_needs_as_many_values_as_places():
    with pytest.raises(ValueError, match="2 values"):
        spans.say("{}", "a", "b")


def test_prose_marks_code_and_nothing_else():
    assert spans.markdown(spans.prose("`a*b` fell *much* to `c")) == "`a*b` fell \\*much\\* to \\`c"
    assert spans.plain(spans.prose("`a` fell")) == "a fell"
    assert spans.plain(spans.prose("-1 (-2 to -3) in `x -4` at 2026-01-02 -> -5")) == (
        "-1 (−2 to −3) in x -4 at 2026-01-02 → −5"
    )


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://a.b/c)d", "https://a.b/ c", "http://", "", None, "x"]
)
def test_an_odd_address_is_no_link(url):
    assert spans.link(spans.Span("run"), url).url == ""


def test_a_casebook_keeps_failed_calls_apart():
    rows = (
        row("a", 1), row("a", 2, passed=False),
        row("a", 3, passed=None, status="infra_error", failures=[], latency_ms=None),
        row("b", 1, passed=False, status="agent_error", latency_ms=5.0),
    )  # fmt: skip
    book = case_totals.read_totals(rows)["analytics"]
    assert (book.latency.n, book.failed_calls) == (2, 2)
    assert book.latency.mean == 818.0
    assert book.tokens.mean == 1800
    assert (book.cases["a"].passed, book.cases["a"].judged, book.cases["a"].infra) == (1, 2, 1)
    assert [case.case_id for case in book.worst(5)] == ["b", "a"]
    assert case_totals.RunningMoments().std is None


def test_a_change_by_logarithms_is_explained_once():
    typical = latency("operational.mean_latency_ms", method="shuffle test of logarithms")
    assert told(passing(comparisons=(comparison(), typical, typical))).count("geometric") == 1
    assert "geometric" not in told(passing(comparisons=(comparison(),)))


def test_provenance_tells_how_many_calls_were_under_way_and_who_judged():
    """More at once is slower for each, so a latency means little without it."""
    made = replace(
        passing().provenance, concurrency=16, judge="openai j-1", verifier="anthropic v-2"
    )
    rows = {name: spans.plain(line) for name, line in provenance(passing(provenance=made))}
    assert rows["asked at once"] == "up to 16 calls"
    assert (rows["judge"], rows["verifier"]) == ("openai j-1", "anthropic v-2")


# ------------------------------------------------------------------------------------------- noise


def with_odds(*odds):
    limits = (gate(metric=f"a.m{n}", noise_odds=one) for n, one in enumerate(odds))
    return passing(gates=tuple(limits), comparisons=())


def test_a_limit_says_how_often_noise_alone_breaks_it_and_the_method_what_that_is():
    report = with_odds(NoiseOdds(chance=0.123), NoiseOdds(chance=0.0004))
    assert [check.limit for check in list_checks(report)] == [
        "min 0.90 (noise 12 %)",
        "min 0.90",
    ]
    lines = [spans.plain(line) for line in method(report)]
    (line,) = [line for line in lines if "noise" in line]
    assert "an agent like the baseline's would break it in 12 % of runs" in line
    assert "if no figure is shown, the share is below 1 %" in line


def test_noise_below_one_percent_is_told_in_the_method_alone():
    """Beside each limit it made the rows of a comment three lines high and said nothing."""
    report = with_odds(NoiseOdds(chance=0.0099), NoiseOdds(chance=0.0))
    assert {check.limit for check in list_checks(report)} == {"min 0.90"}
    (line,) = [line for line in map(spans.plain, method(report)) if "by chance alone" in line]
    assert "in fewer than 1 % of runs of this size" in line
    (check,) = list_checks(with_odds(NoiseOdds(chance=0.01)))
    assert check.limit == "min 0.90 (noise 1 %)"


def test_odds_that_are_unknown_say_why_once_and_stand_in_no_row():
    report = with_odds(*[NoiseOdds(why="there is no baseline")] * 5)
    assert {check.limit for check in list_checks(report)} == {"min 0.90"}
    (line,) = [line for line in map(spans.plain, method(report)) if "noise" in line]
    assert line == (
        "How often noise alone would break these 5 limits is unknown: there is no baseline."
    )


def test_odds_from_one_round_are_called_a_guess():
    why = "from one stored round a case"
    report = with_odds(NoiseOdds(chance=0.2, why=why))
    line = [spans.plain(line) for line in method(report)][1]
    assert line == f"How often noise alone would break the limit of a.m0 is a first guess: {why}."


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"runs": 1}, "one run: if it was lucky, an unchanged agent is blocked more often; 4 more"),
        ({"runs": 2}, "two runs: if they were lucky, an unchanged agent is blocked more often; 3"),
        ({"runs": 3}, ""),
        ({"runs": 1, "source": "control"}, ""),
        ({"runs": 1, "source": "session"}, ""),
    ],
)
def test_a_baseline_of_few_runs_may_be_a_lucky_one(origin: dict[str, object], told: str) -> None:
    report = stopped_early()
    suites = {
        name: replace(suite, baseline=replace(suite.baseline, **origin))  # type: ignore[arg-type]
        for name, suite in report.suites.items()
    }
    shown = [spans.plain(line) for line in sentences.cautions(replace(report, suites=suites))]
    luck = [line for line in shown if "lucky" in line]
    assert [line.startswith(f"The baseline is {told}") for line in luck] == [True] * bool(told)
