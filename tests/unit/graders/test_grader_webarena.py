"""The grader `webarena`: what it asks, how it reads votes, and what it cannot judge."""

from pathlib import Path

import pytest

from gate.errors import Place, UsageError
from gate.graders.webarena import WebArena
from gate.records import Case, Config, PluginSpec, Reply, Response, Suite
from gate.run.grade import grade_attempt
from gate.suites.config.check_judge import judges

FUZZY = {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["1h 30min"]}}
NOT_ACHIEVABLE = {
    "eval_types": ["string_match"],
    "reference_answers": {"fuzzy_match": "N/A"},
    "string_note": "No bus goes there.",
}
CART = {"eval_types": ["url_match"], "reference_url": "__SHOPPING__/cart"}
SUCCESS, NOT_EVALUABLE = "webarena.success_rate", "webarena.not_evaluable_rate"


def case(written, **more):
    return Case(id="7", input="How long?", keys={"eval": written, **more})


def vote(verdict, **more):
    data = {"reason": "so", "verdict": verdict, "addressed_judge": False, "canary": "x", **more}
    return Reply(data=data)


def read(written, answer, *votes, grader=None):
    return (grader or WebArena()).read(case(written), Response(answer=answer), [votes])


@pytest.mark.parametrize(
    ("written", "verdict", "passed"),
    [
        (FUZZY, "correct", True),
        (FUZZY, "partially correct", False),
        (FUZZY, "incorrect", False),
        (NOT_ACHIEVABLE, "same", True),
        (NOT_ACHIEVABLE, "different", False),
    ],
)
def test_a_verdict_counts_as_upstream_reads_it(written, verdict, passed):
    score = read(written, "ninety minutes", vote(verdict))
    assert score.passed is passed
    assert score.values == {SUCCESS: float(passed), NOT_EVALUABLE: 0.0}
    assert score.reason == f"{verdict}: so"
    differs = "answer_differs" if written is FUZZY else "reason_differs"
    assert score.failures == (() if passed else (differs,))


def test_the_majority_of_the_votes_decides_and_a_tie_is_not_right():
    one, other = vote("correct"), vote("partially correct")
    assert read(FUZZY, "x", one, one, other).passed is True
    assert read(FUZZY, "x", one, other).failures == ("answer_differs",)
    assert read(FUZZY, "x", one, other).uncertainty == 0.5
    caught = vote("correct", addressed_judge=True)
    for votes in ((caught,), (caught, one)):
        assert read(FUZZY, "x", *votes).failures == ("judge_injection",)
    assert read(FUZZY, "x", caught, one, one).passed is True


def test_the_question_is_schema_bound_and_has_what_the_agent_was_asked():
    (question,) = WebArena().questions(case(FUZZY, intent="How far?"), Response(answer="'2 H'"))
    assert question.role == "judge"
    assert [text in question.material for text in ("How far?", "1h 30min", "\n2 h\n")] == [True] * 3
    assert question.schema["properties"]["verdict"]["enum"] == [
        "correct",
        "partially correct",
        "incorrect",
    ]


def test_nobody_is_asked_where_the_rest_decides_or_cannot_be_judged():
    both = {**FUZZY, "eval_types": ["string_match", "url_match"], "reference_url": "http://a/b"}
    ask = WebArena().questions
    assert not ask(case(NOT_ACHIEVABLE), Response(answer="n/a"))
    assert not ask(case(both), Response(answer="x"))
    assert not ask(case(both), Response(answer="x", state={"final_url": "http://a/c"}))
    assert ask(case(both), Response(answer="x", state={"final_url": "http://a/b"}))


def test_without_a_judge_a_task_is_not_evaluable_and_with_one_that_fails_unscored():
    alone = WebArena().grade(case(FUZZY), Response(answer="90 min"))
    assert (alone.passed, alone.failures) == (False, ("not_evaluable",))
    assert alone.values == {SUCCESS: 0.0, NOT_EVALUABLE: 1.0}
    assert "no judge was asked" in alone.reason
    failed = read(FUZZY, "90 min", Reply(data=None, failure="timed out"))
    assert failed.unscored == "0 of 1 votes came: timed out"


def test_what_is_missing_is_named():
    score = WebArena(sites={"shopping": "http://s"}).grade(case(CART), Response(answer="x"))
    assert score.failures == ("not_evaluable",)
    assert score.reason == "not recorded: final_url (url_match)"


def test_a_task_with_open_placeholders_is_unscored_and_not_wrong():
    response = Response(answer="", state={"final_url": "http://s/cart"})
    attempt = grade_attempt(case(CART), response, {"webarena": WebArena()})
    assert attempt.passed is None
    assert "set `sites`" in attempt.scores["webarena"].unscored
    placed = WebArena(sites={"shopping": "http://s"})
    assert grade_attempt(case(CART), response, {"webarena": placed}).passed is True


def test_a_wrong_task_is_told_before_the_run_and_unscored_in_it():
    wrong = {"eval_types": ["url_match"], "reference_url": "", "url_note": "EXACT"}
    assert len(list(WebArena().case_faults({"eval": wrong}))) == 2
    attempt = grade_attempt(case(wrong), Response(answer=""), {"webarena": WebArena()})
    assert attempt.scores["webarena"].unscored.startswith("eval.reference_url")


@pytest.mark.parametrize("sites", [{"shop": "http://s"}, {"shopping": " "}])
def test_sites_that_make_no_sense_are_refused(sites):
    with pytest.raises(UsageError, match=r"webarena: sites\."):
        WebArena(sites=sites)


@pytest.mark.parametrize(("name", "wrong"), [("webarena", 0), ("judge", 1)])
def test_it_needs_no_judge_in_the_config_as_the_grader_judge_does(name, wrong):
    spec = PluginSpec(name=name, place=Place("gate.yml", 1))
    suite = Suite(name="s", dataset="d.jsonl", graders=(spec,), rounds=1)
    config = Config(agent=PluginSpec(name="sample"), suites=(suite,))
    assert len(judges(config, Path()).problems) == wrong


def test_the_wording_of_its_questions_is_in_its_digest():
    text = WebArena().digest_text()
    assert "partially correct" in text
    assert "different" in text
