"""Rows, sentences and spans that all reports share."""

from dataclasses import replace

import pytest

from gate.records import CaseChanges, Policy
from gate.wording import casebook, headline, sentences, spans
from gate.wording.checks import blocking, checks, warned
from gate.wording.method import method, provenance
from tests.reports import (
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
    several_suites,
    suite,
)


def only(report, metric):
    (found,) = [check for check in checks(report) if check.metric == metric]
    return found


def one(**changes):
    return passing(gates=(), comparisons=(comparison(**changes),))


@pytest.mark.parametrize(
    ("status", "level", "sign", "verdict"),
    [
        ("regression", "block", "bad", "regression"),
        ("regression", "warn", "warn", "regression (warn only)"),
        ("suspected", "block", "unsure", "suspected"),
        ("suspected", "warn", "good", "suspected (warn only)"),
        ("inconclusive", "block", "unsure", "too few data"),
        ("not_comparable", "block", "refused", "not comparable"),
        ("missing", "block", "bad", "not measured any more"),
        ("new", "block", "new", "new"),
        ("accepted", "block", "good", "accepted"),
        ("improvement", "block", "good", "improved"),
        ("within_tolerance", "block", "good", "worse, within tolerance"),
        ("no_regression", "block", "good", ""),
    ],
)
def test_every_status_has_its_sign_and_words(status, level, sign, verdict):
    found = only(one(status=status, level=level), SUCCESS)
    assert (found.sign, found.verdict) == (sign, verdict)


@pytest.mark.parametrize(
    ("changes", "sign", "verdict"),
    [
        ({"value": 0.88, "status": "fail"}, "bad", "below min"),
        ({"value": 0.2, "min": None, "max": 0.1, "status": "fail"}, "bad", "above max"),
        ({"value": 0.92, "status": "fail", "rule": "proven"}, "bad", "not proved within limit"),
        ({"value": None, "status": "missing"}, "bad", "not measured"),
        ({"status": "inconclusive"}, "unsure", "limit: too few data"),
        ({"status": "accepted", "target": None}, "good", "accepted"),
        ({"proved": False, "target": None}, "good", "limit not proved"),
        ({}, "good", "target 0.95 not yet"),
        ({"value": 0.96, "target_met": True}, "good", "target 0.95"),
        ({"status": "fail", "level": "warn", "value": 0.5}, "warn", "below min (warn only)"),
    ],
)
def test_every_gate_has_its_sign_and_words(changes, sign, verdict):
    report = passing(gates=(gate(**changes),), comparisons=())
    found = only(report, "correctness.fact_accuracy")
    assert (found.sign, found.verdict) == (sign, verdict)


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
    slow = latency(status="regression", delta=0.2)
    limit = gate(P95, value=2700.0, min=None, max=5000.0, target=None, unit="ms", direction="lower")
    report = passing(comparisons=(slow,), gates=(limit,))
    (found,) = blocking(report)
    assert (found.sign, found.verdict) == ("warn", "regression (warn only)")
    assert found.limit == "max 5,000 ms · rise ≤ 10 %"
    assert [check.metric for check in warned(regression())] == [P95]


def test_what_only_warns_is_one_line():
    limit = gate("m", value=0.5, status="fail", level="warn", target=None)
    slow = latency(status="regression", delta=0.2)
    report = passing(comparisons=(slow,), gates=(limit,))
    assert spans.plain(sentences.warn_only(warned(report))) == (
        f"Worse, but not blocking: m – (below min), {P95} +20 %."
    )
    many = tuple(comparison(f"m{n}", level="warn", status="regression") for n in range(9))
    line = spans.plain(sentences.warn_only(warned(passing(comparisons=many, gates=()))))
    assert line.endswith(", m4 −0.2 pt, and 4 more.")
    assert sentences.warn_only(()) == ()


def test_the_comparison_line_tells_source_age_and_pairs():
    (line,) = sentences.comparisons(passing())
    assert spans.plain(line) == (
        "Compared with the baseline at a81e03c (repo, baselines/analytics.json), 12 rounds of "
        "4 runs from 2 days ago · 200 cases paired, 0 added, 0 removed · same agent, judge and "
        "settings."
    )
    assert f"[`a81e03c`](https://github.com/acme/assistant/commit/{BASE})" in spans.markdown(line)


def test_a_baseline_that_could_not_be_used_is_not_called_compared():
    (line,) = sentences.comparisons(agent_down())
    assert "no case paired" in spans.plain(line)


def test_counts_are_silent_when_nothing_was_compared():
    assert sentences.case_counts(no_baseline()) == ()
    none = passing(cases=CaseChanges())
    assert spans.plain(sentences.case_counts(none)) == "No case newly fails."


def test_the_worst_case_comes_first():
    half = change(1, case_id="half", current_passed=2, current_rounds=4)
    unsure = change(1, case_id="b", current_passed=0, p_value=0.2)
    sure = change(1, case_id="c", current_passed=0, p_value=0.01)
    new = change(1, case_id="new", baseline_passed=None, baseline_rounds=None, current_passed=0)
    ordered = sentences.by_severity((new, half, unsure, sure))
    assert [c.case_id for c in ordered] == ["c", "b", "half", "new"]


@pytest.mark.parametrize(
    ("report", "step"),
    [
        (
            regression(),
            "if this is intended, run gate baseline accept --reason TEXT on the base branch",
        ),
        (no_baseline(), "make a baseline: run gate baseline save SESSION on the base branch"),
        (
            not_comparable(),
            "start a new baseline with gate baseline accept --reason TEXT on the base branch",
        ),
        (agent_down(), "then go on where it stopped: gate run --resume SESSION"),
    ],
)
def test_there_is_a_next_step(report, step):
    assert step in spans.plain(sentences.next_step(report))


def test_a_laptop_accepts_with_a_command():
    laptop = replace(regression().provenance, mode="laptop", run_url=None)
    report = regression(provenance=laptop)
    assert "run gate baseline accept" in spans.plain(sentences.next_step(report))
    assert sentences.run_link(report) == ()
    (line,) = sentences.comparisons(report)
    assert "](" not in spans.markdown(line)


@pytest.mark.parametrize(
    ("made", "planned", "shown"),
    [
        (600, 600, "600 calls"),
        (431, 609, "431 of 609 planned calls"),
        (70, 60, "70 calls, 60 planned"),
    ],
)
def test_calls_are_told_against_the_plan(made, planned, shown):
    calls = replace(passing().calls, made=made, planned=planned)
    assert shown in spans.plain(sentences.spending(passing(calls=calls)))


@pytest.mark.parametrize(
    ("p_value", "often"), [(0.0003, "0.03 %"), (0.01, "1 %"), (1e-9, "less than 0.01 %")]
)
def test_a_regression_tells_how_often_chance_does_this(p_value, often):
    fell = comparison(RECALL, status="regression", p_value=p_value)
    report = regression(comparisons=(fell,))
    assert spans.plain(headline.surprise(report)) == (
        f"If nothing had changed, a drop this large would show {often} of the time."
    )
    assert headline.surprise(passing()) == ()
    assert headline.surprise(regression(reason="something else")) == ()
    assert headline.surprise(several_suites()) != ()
    assert headline.surprise(several_suites(reason="tool: `retrieval.recall@5` fell")) == ()


def test_the_method_names_test_level_and_what_could_be_seen():
    text = "\n".join(spans.plain(line) for line in method(passing(alpha=0.005)))
    assert "case-stratified shuffle test" in text
    assert "a chance of at most 0.5 %, all 2 blocking comparisons together (Holm)" in text
    assert "200 paired cases, adjusted p = 1; a drop of 3.1 pt or more" in text
    blind = "\n".join(
        spans.plain(line) for line in method(passing(comparisons=(comparison(mde=1.2),)))
    )
    assert "no drop would have been caught 8 times in 10" in blind
    assert "convicted: a limit is broken when the whole interval is beyond it" in text


def test_provenance_leaves_out_what_is_empty():
    names = [name for name, _ in provenance(passing())]
    assert names[:3] == ["session", "created", "commit"]
    bare = passing(provenance=type(passing().provenance)())
    assert "commit" not in [name for name, _ in provenance(bare)]


def test_suites_with_one_baseline_share_a_line():
    both = {"a": suite("a"), "b": suite("b"), "c": suite("c", baseline=baseline(commit="1" * 40))}
    first, second = sentences.comparisons(passing(suites=both))
    assert spans.plain(first).startswith("a and b: Compared with")
    assert spans.plain(second).startswith("c: Compared with the baseline at 1111111")


def test_a_template_needs_as_many_values_as_places():
    with pytest.raises(ValueError, match="2 values"):
        spans.say("{}", "a", "b")


def test_prose_marks_code_and_nothing_else():
    assert spans.markdown(spans.prose("`a*b` fell *much* to `c")) == "`a*b` fell \\*much\\* to \\`c"
    assert spans.plain(spans.prose("`a` fell")) == "a fell"


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
    book = casebook.read(rows)["analytics"]
    assert (book.latency.n, book.failed_calls) == (2, 2)
    assert book.latency.mean == 818.0
    assert book.tokens.mean == 1800
    assert (book.cases["a"].passed, book.cases["a"].judged, book.cases["a"].infra) == (1, 2, 1)
    assert [case.case_id for case in book.worst(5)] == ["b", "a"]
    assert casebook.Spread().std is None
