"""Rubrics: the built-in ones keep to the rules, a wrong one of a user is told with its place."""

import textwrap
from datetime import date
from pathlib import Path

import pytest

from gate.errors import InvalidInput, UsageError
from gate.graders.judge import Judge
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.rubric import Criterion, Rubric
from gate.suites.config.load import load


def rubric(**more):
    given = {"name": "own", "about": "x", "criteria": {"fit": Criterion()}, **more}
    return Rubric(**given)


@pytest.mark.parametrize("name", BUILT_IN)
def test_each_built_in_rubric_describes_both_ends_of_every_scale(name):
    for one in BUILT_IN[name].criteria.values():
        assert one.about
        assert {str(one.low), str(one.high)} <= set(one.levels)


def test_the_answer_rubric_names_the_faults_that_fluent_answers_hide():
    about = BUILT_IN["answer"].about
    assert all(word in about for word in ("causal", "over-extrapolation", "misattribution"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"name": "a b"}, "rubric 'a b': name: must be 1 to 60 letters"),
        ({"about": " "}, "about: is empty - say what is judged"),
        ({"criteria": {}}, "criteria: there are none - name at least one"),
        ({"criteria": {"Fit": Criterion()}}, "criteria.Fit: a criterion is called"),
        ({"criteria": {"canary": Criterion()}}, "criteria.canary: a criterion is called"),
        ({"criteria": {"fit": Criterion(scale=(5, 1))}}, "criteria.fit.scale: must be two"),
        ({"criteria": {"fit": Criterion(scale=(3, 3))}}, "criteria.fit.scale: must be two"),
        ({"criteria": {"fit": Criterion(scale=(-1, 3))}}, "criteria.fit.scale: must be two"),
        ({"criteria": {"fit": Criterion(scale=(0, 101))}}, "criteria.fit.scale: must be two"),
        ({"criteria": {"fit": Criterion(levels={"6": "x"})}}, "fit.levels: '6' is not a whole"),
        ({"criteria": {"fit": Criterion(levels={"good": "x"})}}, "fit.levels: 'good' is not"),
        ({"criteria": {"fit": Criterion(metric="style.fit")}}, "fit.metric: 'style.fit' is not"),
        ({"total": "judge_score"}, "total: 'judge_score' is not dimension.name"),
        (
            {"criteria": {"fit": Criterion(metric="agent.x")}, "total": "agent.x"},
            "total: agent.x is the metric of criteria.fit.metric already",
        ),
        ({"shows": ("question",)}, "shows: nothing of the agent's is shown"),
        ({"shows": ("answer", "answer")}, "shows: names something twice"),
        ({"needs": ("steps",)}, "needs: 'steps' is no key of the case"),
        ({"least": {"fti": 2}}, "least.fti: no such criterion - there are fit"),
        ({"least": {"fit": 1}}, "least.fit: 1 must be above 1, which is always met"),
        ({"least": {"fit": 6}}, "least.fit: 6 must be above 1, which is always met, and at most 5"),
        ({"least_total": 6}, "least_total: 6 must be above 1"),
        ({"compare_with": "answer"}, "compare_with: 'answer' is no key of the case"),
        ({"compare_with": "other", "shows": ("steps",)}, "shows: a comparison needs answer"),
        ({"compare_with": "o", "shows": ("answer", "o")}, "shows: 'o' is compared with"),
        ({"compare_with": "o", "total": "agent.x"}, "total: a comparison has no points"),
        ({"compare_with": "o", "least_total": 2}, "least_total: a comparison has no points"),
        (
            {"compare_with": "o", "criteria": {"fit": Criterion(scale=(1, 5))}},
            "criteria.fit: a comparison has no scale",
        ),
    ],
)
def test_a_rubric_that_makes_no_sense_is_refused_with_its_key(more, message):
    with pytest.raises(UsageError) as caught:
        rubric(**more)
    assert message in str(caught.value)


def test_an_unknown_rubric_is_refused_with_the_nearest_name():
    with pytest.raises(UsageError, match=r"no built-in rubric is called 'anser'.*'answer'"):
        Judge(rubric="anser")


def test_limits_of_the_options_are_checked_against_the_rubric():
    with pytest.raises(UsageError, match=r"judge by 'task': least\.acuracy: no such criterion"):
        Judge(rubric="task", least={"acuracy": 1})
    with pytest.raises(UsageError, match="least_total: 11 must be above 0"):
        Judge(rubric="task", least_total=11)


def test_criteria_of_a_rubric_with_a_total_have_no_metric_unless_they_name_one():
    two = {"fit": Criterion(), "tone": Criterion(metric="response_quality.tone")}
    judge = Judge(rubric=rubric(criteria=two, total="correctness.judge_score"))
    assert [spec.name for spec in judge.metrics()] == [
        "response_quality.tone",
        "correctness.judge_score",
    ]


# ------------------------------------------------------------------------------------- gate.yml


def told(rubric_text):
    """What is wrong with a gate.yml whose judge has this rubric, from line 6."""
    head = "suites:\n- name: a\n  dataset: a.jsonl\n  graders:\n  - judge:\n      rubric:"
    text = head + textwrap.indent(textwrap.dedent(rubric_text), " " * 8).rstrip() + "\n"
    text += "judge: {type: openai, base_url: http://127.0.0.1:1, model: m}\n"
    content = text.encode()
    with pytest.raises(InvalidInput) as caught:
        load(lambda path: content, "gate.yml", env={}, root=Path(), today=date(2026, 11, 21))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            " anser",
            "gate.yml:5: suites[0].graders[0]: rubric: no built-in rubric is called 'anser'",
        ),
        ("\nname: own\nabout: x\ncriteria: {}\n", "gate.yml:5: suites[0].graders[0]: rubric 'own'"),
        ("\nname: own\nabuot: x\ncriteria: {}\n", "gate.yml:8: "),
        ("\nname: own\nabout: x\ncriteria: {fit: {scale: [1, x]}}\n", "gate.yml:9: "),
        ("\nname: own\nabout: x\ncriteria: {fit: {scale: [1, 2, 3]}}\n", "gate.yml:9: "),
        ("\nname: own\nabout: x\ndimension: style\n", "gate.yml:9: "),
        ("\nabout: x\ncriteria: {fit: {}}\n", "'name' is missing"),
        (" 7", "gate.yml:6: "),
    ],
)
def test_a_wrong_rubric_is_told_with_its_line(written, message):
    assert [line for line in told(written) if message in line]
