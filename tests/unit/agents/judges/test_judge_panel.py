"""Asking a judge: votes, tries, deadlines, money, one call for equal questions, an end at once."""

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Lock, Thread

import pytest

from gate.agents.judges.judge_panel import Panel
from gate.agents.judges.totals import GraderReplies, judging
from gate.agents.judges.vote import Patience
from gate.errors import AgentFailure, InfraFailure
from gate.graders.judge import Judge
from gate.plugins import World
from gate.records import Case, Price, Suite
from gate.records.codec import to_json
from gate.run.grade import grade_attempt
from gate.run.trial_worker import Task, TrialWorker
from gate.store.event_log import is_unanswered
from tests.support.limited_server import Bucket
from tests.support.scripted_judge import CASE, GOOD, QUESTION, Scripted, Still, answer, model, panel

JUDGED = Case(id="c-1", input="?", keys={"input": "?", "expected_answer": "!", "context": "."})


def asked(judges, case=CASE, question=QUESTION):
    ((reply,),) = judges.ask(case, [question])
    return reply


def messages(agent, nth):
    return [(m["role"], m["content"]) for m in agent.asked[nth].input]


def test_each_question_gets_its_votes_in_order():
    agent = Scripted(lambda case, nth: f'{{"score": {len(case.input[1]["content"])}}}')
    questions = [replace(QUESTION, material=text) for text in ("1", "333", "55555")]
    replies = panel(agent, votes=3).ask(CASE, questions)
    assert [[reply.data["score"] for reply in votes] for votes in replies] == [
        [1] * 3,
        [3] * 3,
        [5] * 3,
    ]
    assert len(agent.asked) == 9
    assert messages(agent, 0)[0] == ("system", "Judge it.")


def test_equal_answers_of_several_rounds_have_votes_of_their_own_on_request(tmp_path):
    def scores(**options):
        agent = Scripted(lambda case, nth: f'{{"score": {nth % 5 + 1}}}')
        judges = panel(agent, votes=2, cache=tmp_path / f"{len(options)}.jsonl", **options)
        found = [[r.data["score"] for r in judges.ask(CASE, [QUESTION])[0]] for _ in range(2)]
        return [sorted(votes) for votes in found], len(agent.asked)

    assert scores() == ([[1, 2], [1, 2]], 2)
    assert scores(each=True) == ([[1, 2], [3, 4]], 4)
    assert scores(each=True) == ([[1, 2], [3, 4]], 0), "kept for the first and the second time"


def test_without_a_model_there_are_no_votes():
    nobody = Panel()
    assert nobody.ask(CASE, [QUESTION, QUESTION]) == [(), ()]
    assert (nobody.has("judge"), nobody.describe("judge"), nobody.concurrency) == (False, "", 0)
    assert nobody.unreachable() == ""


def test_the_judge_verifies_with_one_vote_where_there_is_no_verifier():
    judge, verifier = (Scripted(lambda case, nth: GOOD) for _ in range(2))
    question = replace(QUESTION, role="verifier")
    assert len(panel(judge, votes=3).ask(CASE, [question])[0]) == 1
    both = Panel([model(judge, votes=3), model(verifier, section="verifier")])
    assert len(both.ask(CASE, [question])[0]) == 1
    assert (len(judge.asked), len(verifier.asked)) == (1, 1)


def test_two_threads_with_the_same_question_make_one_call():
    at_once, replies = Barrier(2), []
    busy = Event()

    def script(case, nth):
        busy.wait(5)
        return GOOD

    agent = Scripted(script)
    judges = panel(agent)

    def ask():
        at_once.wait(5)
        replies.append(asked(judges))

    threads = [Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    busy.set()
    for thread in threads:
        thread.join(5)
    assert len(agent.asked) == 1
    assert sorted((r.calls, r.cost_usd, r.data["score"]) for r in replies) == [
        (0, 0.0, 4),
        (1, 1.0, 4),
    ]


def test_another_case_or_wording_is_another_question_though_the_prompt_is_the_same():
    agent = Scripted(lambda case, nth: GOOD)
    judges = panel(agent)
    for case, question in (
        (CASE, QUESTION),
        (CASE, QUESTION),
        (replace(CASE, id="c-2"), QUESTION),
        (CASE, replace(QUESTION, name="other")),
        (CASE, replace(QUESTION, schema={"type": "object"})),
    ):
        asked(judges, case, question)
    assert len(agent.asked) == 4


def test_a_failed_vote_is_not_remembered():
    agent = Scripted(lambda case, nth: AgentFailure("400", final=True) if nth == 0 else GOOD)
    judges = panel(agent)
    assert asked(judges).failure == "the judge failed: 400"
    assert asked(judges).data == {"score": 4}


def test_a_judge_that_could_not_be_reached_once_is_asked_again():
    class Late(Scripted):
        def connect(self, world):
            if not self.seconds:
                self.seconds.append(0.0)
                raise OSError("no more files")
            return super().connect(world)

    judges = panel(Late(lambda case, nth: GOOD))
    assert asked(judges).failure == "the judge could not be asked: no more files"
    assert asked(judges).data == {"score": 4}


def test_nobody_answers_three_times_with_growing_pauses():
    still = Still()
    agent = Scripted(lambda case, nth: InfraFailure("refused"))
    reply = asked(panel(agent, patience=still.patience))
    assert (reply.data, reply.failure) == (None, "the judge could not be asked: refused")
    assert (reply.calls, reply.cost_usd) == (3, 0.0)
    assert still.pauses == [0.25, 0.5]


def test_an_answer_that_broke_off_is_tried_again_and_may_have_to_be_paid():
    agent = Scripted(lambda case, nth: AgentFailure("cut off") if nth == 0 else GOOD)
    reply = asked(panel(agent))
    assert (reply.data, reply.calls, reply.cost_usd) == ({"score": 4}, 2, None)


def test_a_refused_request_is_not_repeated():
    agent = Scripted(lambda case, nth: AgentFailure("answered 400", final=True))
    reply = asked(panel(agent))
    assert reply.failure == "the judge failed: answered 400"
    assert (reply.calls, reply.cost_usd) == (1, 0.0)


def test_retry_after_is_waited_out_and_is_no_try():
    still = Still()
    busy = [InfraFailure("429", retry_after=10.0)] * 4
    agent = Scripted(lambda case, nth: busy[nth] if nth < 4 else GOOD)
    reply = asked(panel(agent, patience=still.patience))
    assert (reply.data, reply.calls) == ({"score": 4}, 5)
    assert still.pauses == [10.0] * 4
    assert agent.seconds == [60, 50, 40, 30, 20]


def test_the_deadline_bounds_the_waiting():
    still = Still()
    agent = Scripted(lambda case, nth: InfraFailure("answered 429", retry_after=25.0))
    reply = asked(panel(agent, patience=still.patience))
    assert reply.failure == "the judge could not be asked: answered 429"
    assert (still.pauses, reply.calls) == ([25.0, 25.0], 3)


def test_the_deadline_is_one_for_the_first_reply_and_its_repair():
    still = Still()

    def script(case, nth):
        still.now += 61
        return "prose"

    reply = asked(panel(Scripted(script), patience=still.patience))
    assert reply.failure == "the judge did not answer within 60 s"
    assert reply.calls == 1


@pytest.mark.parametrize("wrong", ["prose", '{"score": 6}', "I cannot help with that.", "", "{}"])
def test_a_reply_that_does_not_fit_is_mended_once(wrong):
    agent = Scripted(lambda case, nth: GOOD if nth else wrong)
    reply = asked(panel(agent))
    assert (reply.data, reply.calls, reply.cost_usd) == ({"score": 4}, 2, 2.0)
    assert reply.usage.input_tokens == 2
    own, again = messages(agent, 1)[2:]
    assert messages(agent, 1)[:2] == messages(agent, 0)
    assert own == ("assistant", wrong or "(nothing)")
    assert again[0] == "user"


def test_the_repair_says_what_was_wrong():
    agent = Scripted(lambda case, nth: '{"score": 6, "canary": "x"}')
    question = replace(QUESTION, canary="secret-bird")
    reply = asked(panel(agent), question=question)
    told = messages(agent, 1)[3][1]
    assert "- score: 6 must be at most 5\n- canary: not the one that the" in told
    assert "secret-bird" not in told
    assert len(agent.asked) == 2
    assert reply.failure == (
        "neither reply of the judge has the required form: score: 6 must be at most 5; "
        "canary: not the one that the instructions give"
    )


def test_a_reply_that_was_cut_short_says_which_option_to_raise():
    agent = Scripted(lambda case, nth: answer('{"score"', finish_reason="length"))
    assert asked(panel(agent)).failure.endswith("raise judge.options.max_tokens")


def test_a_protocol_of_one_text_gets_the_repair_in_one_text():
    agent = Scripted(lambda case, nth: GOOD if nth else 'no "score" {')
    assert asked(panel(agent, one_text=True)).data == {"score": 4}
    assert [role for role, _ in messages(agent, 1)] == ["system", "user"]
    told = agent.asked[1].keys["material"]
    assert told == agent.asked[1].question
    assert told.startswith(
        "the answer\n\nYour reply was, as a JSON string:\n" + r'"no \"score\" {"'
    )


def test_a_long_reply_goes_back_in_part():
    agent = Scripted(lambda case, nth: GOOD if nth else "x" * 1_000_000)
    asked(panel(agent))
    assert len(messages(agent, 1)[2][1]) < 5000


def test_whatever_breaks_in_a_protocol_is_a_failed_vote():
    agent = Scripted(lambda case, nth: KeyError("choices"))
    assert asked(panel(agent)).failure == "the judge failed: KeyError: 'choices'"
    broken = replace(QUESTION, schema={"type": "no such type"})
    assert asked(panel(Scripted(lambda case, nth: GOOD)), question=broken).data is None


def test_when_the_budget_is_spent_further_votes_fail():
    judges = panel(Scripted(lambda case, nth: GOOD, concurrency=1), usd=2.5, votes=5)
    (votes,) = judges.ask(CASE, [QUESTION])
    assert [reply.cost_usd for reply in votes] == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert [reply.failure for reply in votes[2:]] == [
        "",
        *["the judge's budget of 2.50 USD is used up"] * 2,
    ]
    assert judges.notes() == ()


def test_votes_under_way_count_with_the_mean_cost_so_far():
    """3 USD are spent; three more votes of a mean of 1 are under way when the fourth asks."""
    full = Barrier(4)

    def script(case, nth):
        if nth >= 3:
            full.wait(5)
        return GOOD

    agent = Scripted(script, concurrency=4)
    judges = panel(agent, usd=6.0)
    for n in range(3):
        asked(judges, replace(CASE, id=f"first-{n}"))
    threads = [Thread(target=asked, args=(judges, replace(CASE, id=f"{n}"))) for n in range(3)]
    for thread in threads:
        thread.start()
    while len(agent.asked) < 6:
        time.sleep(0.01)
    late = asked(judges, replace(CASE, id="late"))
    full.wait(5)
    for thread in threads:
        thread.join(5)
    assert late.failure == "the judge's budget of 6.00 USD is used up"
    assert len(agent.asked) == 6


def test_unknown_costs_are_not_0_and_a_note_says_what_they_do_to_the_budget():
    judges = panel(Scripted(lambda case, nth: answer(GOOD, tokens=None)), usd=1.0, votes=2)
    (votes,) = judges.ask(CASE, [QUESTION])
    assert [reply.cost_usd for reply in votes] == [None, None]
    assert judges.notes() == (
        "judge.budget_usd cannot be enforced: the cost of 2 votes is unknown, because token "
        "counts or the model's price are missing - add the price under pricing",
    )
    assert panel(Scripted(lambda case, nth: GOOD), prices={}).notes() == ()


def test_the_price_may_stand_under_the_name_that_gate_yml_has():
    reply = replace(answer(GOOD), model="a name of the gateway's own")
    found = asked(panel(Scripted(lambda case, nth: reply)))
    assert (found.cost_usd, found.model) == (1.0, "a name of the gateway's own")
    other = {"a name of the gateway's own": Price(input=2e6, output=0.0)}
    assert asked(panel(Scripted(lambda case, nth: reply), prices=other)).cost_usd == 2.0


def test_no_more_are_asked_at_once_than_the_judge_may_be():
    busy, most, lock = 0, 0, Lock()

    def script(case, nth):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.02)
        with lock:
            busy -= 1
        return GOOD

    judges = panel(Scripted(script, concurrency=3), votes=12)
    threads = [Thread(target=asked_all, args=(judges, f"{n}")) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == 3


def asked_all(judges, case):
    assert len(judges.ask(replace(CASE, id=case), [QUESTION])[0]) == 12


def test_requests_are_spaced_evenly_over_all_threads():
    still = Still()
    agent = Scripted(lambda case, nth: GOOD, requests_per_minute=30, concurrency=1)
    panel(agent, votes=4, patience=still.patience).ask(CASE, [QUESTION])
    assert still.pauses == [2.0, 2.0, 2.0]


def hanging():
    return Scripted(lambda case, nth: Event().wait(30) and GOOD, concurrency=2)


def test_close_ends_what_hangs_at_once_and_what_is_asked_later():
    judges = panel(hanging(), votes=4)
    replies = []
    thread = Thread(target=lambda: replies.extend(judges.ask(CASE, [QUESTION])[0]))
    thread.start()
    time.sleep(0.1)
    start = time.monotonic()
    judges.close()
    thread.join(20)
    assert time.monotonic() - start < 20
    assert {r.failure for r in replies} == {"the judge was cancelled: the run is being stopped"}
    assert len(replies) == 4
    later, *_ = judges.ask(replace(CASE, id="later"), [QUESTION])[0]
    assert later.failure == "the judge was not asked: the run is being stopped"


def test_whoever_waits_notices_that_the_run_is_being_stopped():
    stopped = Event()
    judges = panel(hanging(), cancelled=stopped.is_set)
    thread = Thread(target=asked, args=(judges,))
    thread.start()
    stopped.set()
    thread.join(3)
    assert not thread.is_alive()


def test_an_answer_that_nobody_judged_for_a_stop_is_asked_again_by_a_resumed_run():
    stopped = Event()
    judges = panel(hanging(), cancelled=stopped.is_set)
    suite = Suite(name="a", dataset="a.jsonl", graders=(), max_attempts=1)
    agent = Scripted(lambda case, nth: "an answer")
    worker = TrialWorker(agent, World(env={}, root=Path()), partial(grade_attempt, ask=judges.ask))
    stopped.set()
    trial = worker.work(Task(suite=suite, graders={"judge": Judge()}, case=JUDGED, round=1))
    assert trial.attempt.status == "infra_error"
    assert trial.attempt.error == "the answer was not judged: the run is being stopped"


@pytest.mark.parametrize("role", ["judge", "verifier"])
def test_a_vote_that_nobody_answered_is_asked_for_again_on_resume(role):
    down = Scripted(lambda case, nth: InfraFailure("refused"))
    reply = asked(panel(down, section=role), question=replace(QUESTION, role=role))
    told = to_json(judging([GraderReplies(role="judge", scored=False, replies=[reply])]))
    assert is_unanswered({"status": "completed", "judging": told})


def test_a_vote_that_the_model_failed_is_not():
    prose = Scripted(lambda case, nth: "I would say four of five.")
    told = to_json(
        judging([GraderReplies(role="judge", scored=False, replies=[asked(panel(prose))])])
    )
    assert not is_unanswered({"status": "completed", "judging": told})


@pytest.mark.parametrize("adaptive", [True, False])
def test_a_judge_is_asked_at_the_rate_that_it_accepts(adaptive):
    """Of 100 votes 20 are accepted at once, then 100 a second."""
    bucket, lock, refused = Bucket(per_s=100, size=20, left=20), Lock(), []

    def script(case, nth):
        with lock:
            if bucket.take():
                return GOOD
            refused.append(nth)
        return InfraFailure("429", retry_after=0.1)

    agent = Scripted(script, concurrency=16)
    agent.adaptive = adaptive
    (votes,) = panel(agent, votes=100, patience=Patience()).ask(CASE, [QUESTION])
    assert [reply.failure for reply in votes] == [""] * 100
    assert (len(refused) <= 50) is adaptive
