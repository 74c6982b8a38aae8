from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gate.errors import GraderFailure, UsageError
from gate.plugins import GRADERS, build
from gate.records import Case, Judging, MetricSpec, PluginSpec, Question, Reply, Response, Score
from gate.run.grade import (
    ask_nobody,
    gives_no_verdict,
    grade_attempt,
    make_graders,
    values_of_failed_trial,
)

CASE = Case(id="a", input="?", keys={})
ANSWER = Response(answer="yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """Returns a score, or raises."""

    result: object
    decides: bool = True

    keys = {}  # noqa: RUF012
    needs = ()

    def metrics(self):
        return (
            MetricSpec(name="x.a", column="x.a"),
            MetricSpec(name="x.b", column="x.b", on_agent_error=None),
        )

    def grade(self, case, response):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


YES, NO, MUTE = Score(passed=True), Score(passed=False), Score()
LOST = Score(unscored="no idea")


def graded(*results, decides=True):
    graders = {f"g{i}": Scripted(result=r, decides=decides) for i, r in enumerate(results)}
    return grade_attempt(CASE, ANSWER, graders)


@pytest.mark.parametrize(
    ("results", "passed"),
    [
        ([YES, YES], True),
        ([YES, NO], False),
        ([YES, MUTE], True),
        ([MUTE], None),
        ([], None),
        ([YES, LOST], None),
        ([NO, LOST], False),
        ([LOST], None),
    ],
)
def test_passed(results, passed):
    assert graded(*results).passed is passed


def test_a_grader_without_an_opinion_may_stay_unscored():
    graders = {"a": Scripted(result=YES), "b": Scripted(result=LOST, decides=False)}
    assert grade_attempt(CASE, ANSWER, graders).passed is True


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (GraderFailure("no key"), "no key"),
        (ValueError("boom"), "ValueError: boom"),
        (RecursionError(), "RecursionError: "),
        (None, "the grader returned NoneType, not a Score"),
        (0.5, "the grader returned float, not a Score"),
        (Score(values={"x.a": float("nan")}), "the grader returned nan for x.a"),
        (Score(values={"x.a": "high"}), "ValueError: could not convert string to float: 'high'"),
    ],
)
def test_a_broken_grader_leaves_the_answer_unscored(result, why):
    score = graded(result).scores["g0"]
    assert score.unscored == why
    assert score.values == {}
    assert score.passed is None


def test_numbers_and_truths_of_numpy_become_plain():
    score = graded(Score(values={"x.a": np.float32(0.5), "x.b": 1}, passed=np.bool_(True)))
    plain = score.scores["g0"]
    assert [type(value) for value in plain.values.values()] == [float, float]
    assert score.passed is True


def test_failure_codes_of_all_graders_each_once():
    first = Score(passed=False, failures=("a", "b"))
    assert graded(first, Score(passed=False, failures=("b", "c"))).failures == ("a", "b", "c")


def test_the_attempt_holds_the_answer():
    attempt = graded(YES)
    assert (attempt.status, attempt.response, attempt.error) == ("completed", ANSWER, None)


def test_values_of_a_failed_trial():
    assert values_of_failed_trial({"g": Scripted(result=YES)}) == {"x.a": 0.0, "x.b": None}


@pytest.mark.parametrize(
    ("score", "open_"),
    [
        (Score(passed=False), False),
        (Score(passed=True), False),
        (Score(unscored="it cannot read nothing"), False),
        (Score(values={"x.a": 1.0}), True),
    ],
)
def test_whether_any_grader_says_pass_or_fail_of_a_case(score, open_):
    case = Case(id="a", input="?", keys={})
    assert gives_no_verdict({"g": Scripted(result=score)}, case) is open_
    assert gives_no_verdict({}, case)


def test_values_of_a_failed_trial_leave_out_what_does_not_apply_to_the_case():
    graders = {"facts": build(GRADERS, PluginSpec(name="facts"), Path())}
    with_facts = Case(id="a", input="?", keys={"expected_facts": ["x"]})
    without = Case(id="b", input="?", keys={"expected_facts": None})
    assert values_of_failed_trial(graders, with_facts) == {"correctness.fact_accuracy": 0.0}
    assert values_of_failed_trial(graders, without) == {"correctness.fact_accuracy": None}


def test_two_graders_of_one_name(tmp_path):
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True, slots=True, kw_only=True)\n"
        "class Facts:\n"
        "    keys = {}\n    needs = ()\n"
        "    def metrics(self): return ()\n"
        "    def grade(self, case, response): return None\n"
    )
    specs = [
        PluginSpec(name="contains", options={"text": "a"}),
        PluginSpec(name="facts"),
        PluginSpec(name="contains", options={"text": "b"}),
        PluginSpec(name="./own.py:Facts"),
    ]
    graders = make_graders(specs, tmp_path)
    assert list(graders) == ["contains", "facts", "contains#2", "Facts"]
    assert graders["contains#2"].text == "b"


def test_an_unknown_grader_is_named():
    with pytest.raises(UsageError, match="did you mean 'contains'"):
        make_graders([PluginSpec(name="contain")], Path())


# ------------------------------------------------------------------- graders that ask a model

QUESTION = Question(role="judge", name="q", instructions="", material="yes", schema={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Gives the first vote's number; without a vote the answer is unscored."""

    role: str = "judge"
    questions_: tuple = (QUESTION,)
    broken: bool = False
    decides: bool = False

    keys = {}  # noqa: RUF012
    needs = ()

    def metrics(self):
        return (MetricSpec(name="x.a", column="x.a", asks="judge"),)

    def grade(self, case, response):
        return self.read(case, response, ())

    def questions(self, case, response):
        return self.questions_

    def read(self, case, response, replies):
        if self.broken:
            raise ValueError("boom")
        votes = [reply.data for given in replies for reply in given if reply.data]
        if not votes:
            return Score(unscored="no vote")
        return Score(values={"x.a": votes[0]["n"]}, uncertainty=0.5)


class Model:
    def __init__(self, *replies):
        self.replies = replies
        self.asked = []

    def __call__(self, case, questions):
        self.asked.append((case.id, tuple(questions)))
        return [self.replies for _ in questions]


VOTE = Reply(data={"n": 0.75}, calls=1, cost_usd=0.5)


def judged(grader, model=ask_nobody):
    return grade_attempt(CASE, ANSWER, {"j": grader}, model)


def test_a_grader_that_asks_reads_the_votes():
    model = Model(VOTE)
    attempt = judged(Asking(), model)
    assert model.asked == [("a", (QUESTION,))]
    assert attempt.scores["j"] == Score(values={"x.a": 0.75}, uncertainty=0.5)
    assert attempt.judging == Judging(asked=1, scored=1, calls=1, usd=0.5)


def test_where_there_is_no_model_the_answer_is_unscored_and_counted():
    attempt = judged(Asking())
    assert attempt.scores["j"].unscored == "no vote"
    assert attempt.judging == Judging(asked=1)


def test_nothing_to_ask_is_no_gap_in_the_coverage():
    model = Model(VOTE)
    assert judged(Asking(questions_=()), model).judging == Judging()
    assert model.asked == []


def test_a_grader_that_fails_on_the_replies_has_cost_them_all_the_same():
    attempt = judged(Asking(broken=True), Model(VOTE))
    assert attempt.scores["j"].unscored == "ValueError: boom"
    assert attempt.judging == Judging(asked=1, calls=1, usd=0.5)
