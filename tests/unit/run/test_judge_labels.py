"""What labels mean for a run: which metrics are corrected, which may not gate, what is told."""

from dataclasses import dataclass, replace

import pytest

from gate.analysis.labels import LabelContext
from gate.graders.exact_match import ExactMatch
from gate.graders.judge import Judge
from gate.records import MetricSpec, PluginSpec
from gate.run.judge_labels import (
    JudgedSuite,
    file_of,
    least_of,
    list_deciders,
    review_labels,
    review_plans,
)
from gate.suites.config.load import defaults
from gate.suites.protection.rules import Rules, RulesBase
from tests.support.labelled import DIGEST, FILE, METRIC, SPEC, label, labels, lines, source
from tests.support.verdict_tables import RECALL, SUCCESS

SPECS = {spec.name: spec for spec in (SPEC, SUCCESS, RECALL)}
SUITE = JudgedSuite(known=LabelContext(specs=SPECS, graders={METRIC: DIGEST}), limits={METRIC: 3.0})


def looked_at(rows, least=None, suite=SUITE):
    return review_labels(lambda: source(lines(rows)), {"s": suite}, least)


def test_where_no_judge_is_asked_the_file_is_not_read():
    def never():
        raise AssertionError("read")

    plain = JudgedSuite(known=LabelContext(specs={SUCCESS.name: SUCCESS}, graders={}))
    assert review_labels(never, {"s": plain}, 0.6).notes == ()


PLAIN = JudgedSuite(known=LabelContext(specs={SUCCESS.name: SUCCESS}, graders={}))


def test_labels_that_are_there_are_shown_without_a_judge_and_decide_nothing():
    none = [replace(one, judge=None, judge_digest="none") for one in labels(20)]
    ben = [replace(one, reviewer="Ben") for one in none]
    find = lambda: source(lines([*none, *ben]))  # noqa: E731
    found = review_labels(find, {"s": PLAIN}, 0.6, there=True)
    (said,) = found.people["s"]
    assert (said.metric, said.labels, said.answers, said.reviewers) == (METRIC, 40, 20, 2)
    assert said.mean == pytest.approx(2.5)
    assert said.ci95[0] < 2.5 < said.ci95[1]
    assert said.agreement.value == pytest.approx(1.0)
    assert (found.notes, found.advisory, found.agreements, found.labels) == ((), {}, (), {})


def test_what_people_said_counts_each_label_beside_whatever_judge():
    old = [replace(one, judge_digest="old", human=5.0) for one in labels(5)]
    (said,) = looked_at([*labels(20), *old]).people["s"]
    assert (said.labels, said.reviewers, said.agreement.reason) == (
        *(25, 1),
        "no answer has two ratings",
    )


def test_few_labels_have_a_mean_without_an_interval():
    (said,) = looked_at(labels(3)).people["s"]
    assert (said.mean, said.ci95) == (2.0, None)


def test_the_mean_of_people_goes_by_what_each_case_stands_for():
    rows = [label("c1", human=1.0, weight=3.0), label("c2", human=5.0, weight=1.0)]
    (said,) = looked_at(rows).people["s"]
    assert said.mean == pytest.approx(2.0)


def test_labels_of_a_suite_that_is_not_of_this_run_are_no_fault():
    find = lambda: source(lines([label(suite="t"), label(suite="gone")]))  # noqa: E731
    found = review_labels(find, {"s": PLAIN}, None, there=True, left_out=frozenset({"t"}))
    (note,) = found.notes
    assert "1 row is out of date" in note
    assert "'gone'" in note


@dataclass
class Counting:
    """A base that has labels, and counts how often it is read."""

    reads: int = 0

    def read(self, path, ref):
        self.reads += 1
        return lines(labels(5)).encode()


@pytest.mark.parametrize(
    ("judge", "file", "reads"),
    [
        (None, False, 0),
        (None, True, 1),
        (PluginSpec(name="openai", options={"model": "m"}), False, 0),
        (PluginSpec(name="openai", options={"labels": "people.jsonl"}), False, 1),
    ],
)
def test_without_a_judges_word_the_base_is_read_only_where_there_should_be_labels(
    tmp_path, judge, file, reads
):
    if file:
        (tmp_path / "reviews").mkdir()
        (tmp_path / "reviews/labels.jsonl").touch()
    forge = Counting()
    config = replace(defaults(), judge=judge)
    base = RulesBase(sha="0" * 40, name="main", forge=forge)
    rules = Rules(config=config, own=config, root=tmp_path, base=base)
    review_plans(rules, config, ())
    assert forge.reads == reads


def test_without_a_file_nothing_is_said_unless_agreement_is_asked_for():
    assert review_labels(lambda: None, {"s": SUITE}, None).notes == ()
    found = review_labels(lambda: None, {"s": SUITE}, 0.6)
    assert found.notes == (
        "s: `correctness.factual_correctness` does not gate: judge.min_agreement 0.60 has not "
        "been shown (no person has rated answers that this judge scored)",
    )
    assert set(found.advisory["s"]) == {METRIC}


def test_agreement_bias_and_confusion_are_of_the_answers():
    (found,) = looked_at(labels(20)).agreements
    assert (found.labels, found.answers, found.cases, found.reviewers) == (20, 20, 20, ("Ann",))
    assert found.bias.value == pytest.approx(18 / 20)
    assert found.bias.low < found.bias.value < found.bias.high
    assert found.alpha_people.reason == "no answer has two ratings"
    # People: 1 to 4 in turn, 3 passes. The judge gives one more: the twos pass, but for one.
    assert found.confusion == (10, 0, 4, 6)


def test_reviewers_of_one_answer_speak_by_their_median():
    three = [
        replace(one, human=human, reviewer=name)
        for one in labels(20)
        for name, human in (("Ann", one.human), ("Ben", one.human), ("Cleo", 5.0))
    ]
    (alone,), (together,) = looked_at(labels(20)).agreements, looked_at(three).agreements
    assert together.kappa == alone.kappa
    assert (together.labels, together.answers, len(together.reviewers)) == (60, 20, 3)
    assert together.alpha_people.value is not None


@pytest.mark.parametrize(("least", "may"), [(0.2, True), (0.75, False), (0.99, False)])
def test_the_lower_bound_decides_whether_a_judge_gates(least, may):
    found = looked_at(labels(20), least)
    kappa = found.agreements[0].kappa
    assert 0.2 < kappa.low < 0.75 < kappa.high
    assert (METRIC not in found.advisory["s"]) is may
    assert may == (found.notes == ())


def test_few_labels_do_not_make_a_judge_gate_however_well_they_agree():
    found = looked_at(labels(4, bias=0.0), 0.1)
    assert "4 labels: needs 5 rated cases, has 4" in found.advisory["s"][METRIC]


def test_labels_beside_another_judge_say_nothing_and_that_is_told():
    found = looked_at([replace(one, judge_digest="old") for one in labels(20)])
    assert found.agreements == ()
    assert found.labels["s"] == {}
    (note,) = found.notes
    assert note.startswith(
        "s: 20 labels on `correctness.factual_correctness` were made for another"
    )


def test_labels_beside_another_judge_are_counted_where_others_are_of_this_one():
    more = [replace(one, judge_digest="old", reviewer="Ben") for one in labels(3)]
    found = looked_at([*labels(20), *more])
    assert (found.agreements[0].labels, found.agreements[0].other_judge) == (20, 3)
    assert found.notes == ()


def test_rows_that_are_left_out_are_told():
    rows = [*labels(20), label(human=9.0, reviewer="Ben"), label(suite="gone")]
    wrong, stale = looked_at(rows).notes
    assert wrong.startswith(f"{FILE}: 1 row is wrong and left out: line 21: human: 9")
    assert stale.startswith(f"{FILE}: 1 row is out of date and left out: line 22: suite")


def test_success_that_only_such_judges_decide_does_not_gate_either():
    suite = replace(SUITE, deciders=((METRIC,),))
    found = looked_at([], 0.6, suite)
    assert set(found.advisory["s"]) == {METRIC, SUCCESS.name}
    assert "only judges that may not gate" in found.advisory["s"][SUCCESS.name]


def test_success_that_another_grader_decides_too_still_gates_and_that_is_told():
    suite = replace(SUITE, deciders=((METRIC,), ()))
    found = looked_at([], 0.6, suite)
    assert set(found.advisory["s"]) == {METRIC}
    assert "`agent.success_rate` still gates" in found.notes[-1]


def test_a_judge_that_people_agree_with_may_decide():
    suite = replace(SUITE, deciders=((METRIC,), ()))
    assert looked_at(labels(20), 0.2, suite).notes == ()


def test_a_verifiers_opinion_is_no_judges():
    verified = replace(SPEC, asks="verifier")
    suite = JudgedSuite(known=LabelContext(specs={METRIC: verified}, graders={METRIC: DIGEST}))
    assert looked_at(labels(20), 0.6, suite).advisory == {}


def test_limits_and_deciders_come_from_the_graders():
    task = Judge(rubric="task", least_total=7)
    answer = Judge(rubric="answer", least={"faithfulness": 4})
    specs = {spec.name: spec for one in (task, answer) for spec in one.metrics()}
    found = list_deciders([task, answer, ExactMatch(), Judge(rubric="quality")], specs, {})
    assert found.limits["correctness.faithfulness"] == 4
    (total,) = (spec.name for spec in task.metrics() if spec.name in found.limits)
    assert found.limits[total] == pytest.approx(0.7)
    assert [bool(metrics) for metrics in found.deciders] == [True, True, False]


def test_a_users_grader_with_a_rubric_of_its_own_kind_has_no_limits():
    class Own:
        rubric = 3
        role = "judge"

        def metrics(self):
            return (MetricSpec(name="a.b", column="b", asks="judge"),)

    found = list_deciders([Own()], {}, {})
    assert (found.limits, found.deciders) == ({}, (("a.b",),))


def test_the_keys_of_the_judge_say_where_labels_are_and_what_is_asked():
    options = {"labels": "people.jsonl", "min_agreement": 0.7}
    assert file_of(PluginSpec(name="openai", options=options)) == "people.jsonl"
    assert least_of(PluginSpec(name="openai", options=options)) == 0.7
    assert file_of(None) == file_of(PluginSpec(name="openai")) == FILE
    assert least_of(None) is least_of(PluginSpec(name="openai")) is None
