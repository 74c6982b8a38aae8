"""What asking models came to, on one try and on a whole trial."""

from gate.agents.judges.totals import GIVEN_UP, GraderReplies, judging, sum_attempts
from gate.records import Attempt, Judging, Reply, Usage

GIVEN = Reply(data={"x": 1}, usage=Usage(input_tokens=100, output_tokens=20), cost_usd=0.5, calls=2)
CACHED = Reply(data={"x": 1}, cost_usd=0.0)
FAILED = Reply(data=None, failure="it answered in prose", calls=2)


def attempt(n, found):
    return Attempt(n=n, status="completed", latency_ms=1.0, judging=found)


def test_nobody_was_asked():
    assert judging([]) == Judging()


def test_calls_tokens_and_money_of_all_votes():
    found = judging([GraderReplies(role="judge", scored=True, replies=[GIVEN, CACHED, FAILED])])
    assert (found.calls, found.cached, found.usd) == (4, 1, 0.5)
    assert (found.input_tokens, found.output_tokens) == (100, 20)


def test_a_vote_of_unknown_cost_is_counted_and_not_free():
    assert (
        judging([GraderReplies(role="judge", scored=False, replies=[FAILED, GIVEN])]).unknown == 1
    )


def test_coverage_is_of_gradings_by_judges():
    asked = [
        GraderReplies(role="judge", scored=True, replies=[GIVEN]),
        GraderReplies(role="judge", scored=False, replies=[FAILED]),
        GraderReplies(role="verifier", scored=True, replies=[GIVEN]),
    ]
    found = judging(asked)
    assert (found.asked, found.scored) == (2, 1)


def test_each_failure_is_told_once_and_only_a_few():
    votes = [Reply(data=None, failure=f"failure {n % 5}") for n in range(10)]
    found = judging([GraderReplies(role="judge", scored=False, replies=votes)])
    assert found.failures == ("failure 0", "failure 1", "failure 2")


def test_a_stop_and_a_model_out_of_reach_are_counted_among_any_number_of_failures():
    votes = [Reply(data=None, failure=f"failure {n}") for n in range(5)]
    votes += [Reply(data=None, failure="x", cause="stopped")]
    votes += [Reply(data=None, failure="y", cause="unreachable")] * 2
    found = judging([GraderReplies(role="judge", scored=False, replies=votes)])
    assert (found.stopped, found.unreachable) == (1, 2)


def test_a_failure_that_quotes_a_stop_is_none():
    """A judge that an answer makes fail must not get the answer out of the count."""
    quoted = Reply(data=None, failure=f"the judge failed: ValueError: the judge {GIVEN_UP}")
    assert judging([GraderReplies(role="judge", scored=False, replies=[quoted])]).stopped == 0


def test_a_trial_pays_for_all_its_tries_and_counts_the_one_that_counts():
    first = attempt(1, Judging(asked=1, scored=0, calls=2, usd=0.5, unknown=1, input_tokens=7))
    last = attempt(2, Judging(asked=1, scored=1, calls=1, usd=0.25, cached=1, output_tokens=3))
    assert sum_attempts([first, last], last) == Judging(
        asked=1,
        scored=1,
        calls=3,
        usd=0.75,
        unknown=1,
        cached=1,
        input_tokens=7,
        output_tokens=3,
    )


def test_list_prices_of_all_tries_are_named_once():
    listed = Reply(data={"x": 1}, cost_usd=0.5, calls=1, listed="gpt-4o")
    found = judging([GraderReplies(role="judge", scored=True, replies=[listed, GIVEN, listed])])
    other = Judging(calls=1, usd=0.1, listed=("o4-mini",))
    total = sum_attempts([attempt(1, other), second := attempt(2, found)], second)
    assert total.listed == ("gpt-4o", "o4-mini")
