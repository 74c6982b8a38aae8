"""From a session's rows and a judge's rubric to what is shown and asked."""

from types import SimpleNamespace

import pytest

from gate.commands.label_review.checking import check_ratings
from gate.commands.label_review.criteria import criteria_of
from gate.commands.label_review.manifest import Manifest
from gate.commands.label_review.merging import merge
from gate.commands.label_review.raw_answer import Spoken, Stated
from gate.commands.label_review.sample import choose_suite, draw, period_of, trials_of
from gate.errors import Place, UsageError
from gate.graders.judge import Judge
from gate.graders.rubrics.built_in import BUILT_IN, rubrics_of
from gate.graders.rubrics.rubric import Criterion, Rubric
from gate.records import MetricSpec, Provenance
from gate.store.session import Meta, SuiteMeta


def suite(*specs):
    return SuiteMeta(
        dataset="d",
        dataset_digest="dd",
        rounds=2,
        cases=4,
        specs={spec.name: spec for spec in specs},
        graders={spec.column: f"of {spec.column}" for spec in specs},
    )


def meta(**suites):
    return Meta(
        session_id="s1",
        created_at="2026-11-19T12:00:00Z",
        provenance=Provenance(commit="c0ffee", agent="a"),
        suites=suites,
    )


def row(case, number=1, *, score=3.0, doubt=None, answer="an answer"):
    return {
        "suite": "s",
        "case_id": case,
        "case_digest": "d",
        "round": number,
        "status": "completed",
        "output": answer,
        "scores": {"correctness.factual_correctness": score},
        "uncertain": {"judge": doubt},
    }


ANSWER = Judge(rubric="answer").metrics()
TASK = Judge(rubric="task").metrics()


def drawn(rows, size=20, specs=ANSWER) -> Manifest:
    found = suite(*specs)
    asked = criteria_of(found, [BUILT_IN["answer" if specs is ANSWER else "task"]])
    return draw(
        meta(s=found), lambda: iter(rows), suite="s", period="p", asked=asked, seen={}, size=size
    )


def test_the_judge_s_doubts_make_the_strata():
    rows = [row(f"c{n}", doubt=1.0 if n < 6 else 0.0) for n in range(12)]
    found = drawn(rows, size=6)
    assert {name: one.shown for name, one in found.strata.items()} == {"sure": 2, "uncertain": 4}
    doubts = {one.stratum: one.uncertainty for one in found.cases}
    assert doubts == {"sure": 0.0, "uncertain": 1.0}


def test_rows_of_before_uncertainty_was_kept_make_one_stratum():
    rows = [{k: v for k, v in row(f"c{n}").items() if k != "uncertain"} for n in range(4)]
    assert set(drawn(rows).strata) == {"all"}


def test_an_answer_that_the_judge_could_not_score_is_not_shown():
    found = drawn([row("a"), row("b", score=None), row("c", 1, score=None), row("c", 2)])
    assert {(one.case_id, one.round) for one in found.cases} == {("a", 1), ("c", 2)}
    assert found.left_out == {"no judgement": 1}


def test_the_order_of_the_form_does_not_tell_the_strata():
    rows = [row(f"c{n:02}", doubt=1.0 if n < 10 else 0.0) for n in range(20)]
    order = [one.stratum for one in drawn(rows).cases]
    assert order not in (sorted(order), sorted(order, reverse=True))


def test_the_trials_of_another_session_are_refused():
    found = drawn([row("a"), row("b")])
    with pytest.raises(UsageError, match="1 answers of the sample are missing from this session"):
        trials_of(found, [row("a"), row("b", answer="another one")])


def test_nothing_to_show_says_why():
    with pytest.raises(UsageError, match="no case has an answer to review"):
        drawn([row("a", answer="")])


@pytest.mark.parametrize(
    ("made", "week"),
    [("2026-11-19T12:00:00Z", "2026-W47"), ("2027-01-02T00:00:00Z", "2026-W53")],
)
def test_the_period_is_the_iso_week_of_the_session(made, week):
    assert period_of(made) == week


def test_a_session_of_another_clock_needs_a_period():
    with pytest.raises(UsageError, match="--period"):
        period_of("yesterday")


def test_the_suite_with_a_judge_is_meant_where_there_is_one():
    plain = suite(MetricSpec(name="agent.success_rate", column="success"))
    assert choose_suite(meta(a=plain, b=suite(*ANSWER)), None) == "b"
    assert choose_suite(meta(a=plain), None) == "a"
    with pytest.raises(UsageError, match="choose it with --suite: a, b"):
        choose_suite(meta(a=plain, b=plain), None)


# ---------------------------------------------------------------------------------------- criteria


def test_people_are_asked_what_the_judge_is_asked():
    asked = criteria_of(suite(*ANSWER), [BUILT_IN["answer"]])
    titles = ["Factual correctness", "Reference coverage", "Faithfulness"]
    assert [one.title for one in asked.criteria] == titles
    assert {one.judge for one in asked.criteria} == {
        "of correctness.factual_correctness",
        "of correctness.reference_coverage",
        "of correctness.faithfulness",
    }
    assert asked.about["answer"].startswith("An answer to a question")


def test_without_a_rubric_the_metrics_are_asked_by_name():
    asked = criteria_of(suite(*ANSWER), [])
    assert [(one.name, one.low, one.high) for one in asked.criteria] == [
        (spec.name, 1, 5) for spec in ANSWER
    ]


def test_without_a_judge_the_three_of_the_answer_rubric_are_asked():
    asked = criteria_of(suite(), [])
    assert [one.metric for one in asked.criteria] == [spec.name for spec in ANSWER]
    assert {one.judge for one in asked.criteria} == {""}


def test_a_share_alone_cannot_be_rated():
    with pytest.raises(UsageError, match=r"correctness\.judge_score is rated in whole numbers"):
        criteria_of(suite(*TASK), [])


def test_comparisons_of_two_answers_are_not_reviewed():
    pair = Rubric(
        name="pair", about="which", criteria={"better": Criterion()}, compare_with="other"
    )
    assert criteria_of(suite(*ANSWER), [BUILT_IN["answer"], pair]).criteria == (
        criteria_of(suite(*ANSWER), [BUILT_IN["answer"]]).criteria
    )


def test_a_gate_yml_with_another_scale_than_the_session_s_is_refused():
    wider = Rubric(
        name="own", about="?", criteria={"factual_correctness": Criterion(scale=(0, 10))}
    )
    with pytest.raises(UsageError, match=r"is 0 to 10 in gate\.yml and was 1 to 5 in the session"):
        criteria_of(suite(*ANSWER), [wider])


def test_rubrics_are_those_of_the_graders_that_ask_a_judge():
    other = SimpleNamespace(role="verifier", rubric="answer")
    found = rubrics_of([Judge(rubric="task"), other, SimpleNamespace()])
    assert [one.name for one in found] == ["task"]


# ------------------------------------------------------------------------------------------ points


def points(found, **ratings):
    stated = tuple(Stated(name=f"task.{name}", value=value) for name, value in ratings.items())
    spoken = Spoken(
        place=Place("f"),
        period="p",
        sample=found.digest,
        reviewer="Ada",
        item=1,
        answer_digest=found.cases[0].answer_digest,
        ratings=stated,
    )
    return check_ratings([spoken], {"p": found}.get, "2026-11-20T00:00:00Z")


def task():
    rows = [{**row("a"), "scores": {"correctness.judge_score": 0.5}}]
    return drawn(rows, specs=TASK)


def test_points_become_the_share_that_the_judge_gives():
    merged = merge((), points(task(), accuracy=4, completeness=2, conciseness=1), replace=False)
    (label,) = merged.rows
    assert label.metric == "correctness.judge_score"
    assert (label.human, label.judge) == (pytest.approx(0.7), 0.5)


def test_a_share_of_some_points_only_is_no_label():
    found = points(task(), accuracy=4)
    assert found.given == ()
    assert "rate task.completeness, task.conciseness too" in str(found.problems[0])
