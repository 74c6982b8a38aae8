"""The pace in virtual time, against providers with limits."""

import math
import random

import pytest

from gate.system.pace import FIRST, RAMP_S, Pace, RateLimit
from tests.support.virtual_provider import Bucket, TellingBucket, play


def accept_all(now):
    return None, ()


# ------------------------------------------------------------------------------- without a limit


def test_nothing_above_the_most():
    assert play(accept_all, Pace(5), 100).at_once == 5
    assert play(accept_all, Pace(64), 1000, latency_s=0.2).at_once == 64


def test_few_are_asked_before_anybody_has_answered():
    pace = Pace(64)
    for _ in range(FIRST):
        assert pace.wait(0.0) == 0.0
        pace.start(0.0)
    assert pace.wait(0.0) == pytest.approx(RAMP_S)


@pytest.mark.parametrize(
    ("requests", "most", "latency_s", "longer"),
    [(1000, 64, 0.2, 1.03), (5000, 32, 0.001, 1.02), (300, 64, 5.0, 1.01), (60, 16, 5.0, 1.01)],
)
def test_starting_low_costs_an_agent_without_limits_next_to_nothing(
    requests, most, latency_s, longer
):
    at_once = play(accept_all, Pace(most, adaptive=False), requests, latency_s=latency_s)
    slowly = play(accept_all, Pace(most), requests, latency_s=latency_s)
    assert slowly.seconds <= longer * at_once.seconds


def test_no_more_at_once_where_latency_grows_with_them():
    """Four at a time are worked on, so more at once only wait."""

    def latency_of(busy):
        return 0.02 * max(4, busy) / 4

    slow = play(accept_all, Pace(64), 400, latency_of=latency_of)
    fixed = play(accept_all, Pace(64, adaptive=False), 400, latency_of=latency_of)
    assert (slow.at_once <= 40, fixed.at_once) == (True, 64)
    assert slow.seconds <= 1.02 * fixed.seconds


def test_a_few_quick_answers_at_first_do_not_keep_a_slow_agent_slow():
    """One more each round trip: nobody stays behind for ever."""
    answered = [0]

    def latency_of(busy):
        answered[0] += 1
        return 0.005 if answered[0] <= FIRST else 0.5

    assert play(accept_all, Pace(32), 1500, latency_of=latency_of).at_once == 32


def test_not_adaptive_is_as_many_at_once_as_there_may_be_whatever_is_refused():
    pace = Pace(16, adaptive=False)
    requests = [pace.start(0.0) for _ in range(16)]
    assert pace.wait(0.0) == math.inf
    for request in requests:
        pace.tell(0.0, request, [RateLimit(name="requests", limit=9, remaining=0, reset_s=9)])
        pace.refuse(0.1, request, 1.0)
    assert (pace.limit, pace.wait(0.1), pace.per_second) == (16, 0.0, None)


def test_starts_are_evenly_spaced_and_a_late_one_is_no_reason_for_two():
    pace = Pace(9, per_minute=60.0)
    started = play(accept_all, pace, 5, latency_s=0.01).accepted
    assert started == pytest.approx([0.0, 1.0, 2.0, 3.0, 4.0], abs=0.01)
    pace.start(9.0)
    assert pace.wait(9.0) == 1.0


# ------------------------------------------------------------------------- with a limit, not told


@pytest.mark.parametrize("most", [16, 64])
@pytest.mark.parametrize("latency_s", [0.002, 0.02, 0.1, 0.3])
def test_fifty_requests_a_second_are_nearly_used_up(most, latency_s):
    """What could have been accepted: the bucket, and what came back until the last start."""
    played = play(Bucket(50.0, 50.0), Pace(most), 1000, latency_s=latency_s)
    assert len(played.accepted) == 1000
    assert 0.95 * (50.0 + 50.0 * played.accepted[-1]) <= 1000
    assert len(played.refused) <= 180
    late = [when for when in played.refused if when > 5.0]
    assert len(late) <= 0.08 * 1000  # about one try in eight stages is too fast


def test_without_the_pace_far_more_are_refused():
    fixed = play(Bucket(50.0, 50.0), Pace(64, adaptive=False), 1000, latency_s=0.02)
    found = play(Bucket(50.0, 50.0), Pace(64), 1000, latency_s=0.02)
    assert len(fixed.refused) > 5 * len(found.refused)


def test_halved_when_three_of_fifteen_are_refused():
    pace = Pace(64)
    requests = [pace.start(0.0) for _ in range(FIRST)]
    for request in requests[:3]:
        assert pace.limit == FIRST
        pace.refuse(0.01, request, 1.0)
    assert pace.limit == FIRST // 2
    for request in requests[3:]:  # was under way already
        pace.refuse(0.01, request, 1.0)
    assert pace.limit == FIRST // 2


@pytest.mark.parametrize("share", [0.02, 0.1, 0.2])
def test_refusals_that_no_rate_explains_do_not_stop_the_run(share):
    """As from a provider that is overloaded by others: then fewer requests help nobody."""
    dice = random.Random(1)

    def moody(now):
        return (1.0 if dice.random() < share else None), ()

    played = play(moody, Pace(32), 5000, latency_s=0.05)
    possible = 5000 * 0.05 / 32 / (1.0 - share)
    assert played.seconds <= 1.5 * possible + 3.0


def test_a_limit_of_a_fixed_window_is_waited_out():
    """Nothing is accepted in the rest of each 10 seconds: Retry-After is waited for by all."""
    counted = {}

    def windowed(now):
        window = now // 10.0
        counted[window] = counted.get(window, 0) + 1
        return (None if counted[window] <= 300 else math.ceil(10.0 * (window + 1) - now)), ()

    played = play(windowed, Pace(32), 1500, latency_s=0.02)
    assert played.seconds <= 45.0  # 40 and a bit are possible
    assert len(played.refused) <= 5 * 80


def test_one_a_second():
    played = play(Bucket(1.0, 5.0), Pace(16), 100, latency_s=0.5)
    assert played.seconds <= 100.0
    assert len(played.refused) <= 60


# ----------------------------------------------------------------------------- with limits, told


@pytest.mark.parametrize("latency_s", [0.005, 0.1, 0.4])
@pytest.mark.parametrize("left", [20.0, 3000.0])
def test_a_told_limit_of_requests_is_kept_before_anything_is_refused(latency_s, left):
    provider = TellingBucket("requests", 50.0, 3000.0, left)
    played = play(provider, Pace(32), 1000 + int(left), latency_s=latency_s)
    assert len(played.accepted) >= 0.95 * min(
        left + 50.0 * played.accepted[-1], 32 * played.seconds / latency_s
    )
    assert len(played.refused) <= (32 if left == 20.0 else 0)  # before the first answer told
    assert all(when < 1.0 for when in played.refused)


@pytest.mark.parametrize("name", ["tokens", "input-tokens", "output-tokens"])
def test_a_told_limit_of_tokens_is_kept(name):
    provider = TellingBucket(name, 50_000.0, 3_000_000.0, 40_000.0, cost=1000.0)
    played = play(provider, Pace(32), 1000, latency_s=0.1)
    assert 0.95 * (40.0 + 50.0 * played.accepted[-1]) <= 1000
    assert len(played.refused) <= 10


def test_what_two_providers_tell_is_kept_apart_and_both_count():
    pace = Pace(8)
    request = pace.start(0.0)
    full = RateLimit(name="requests", limit=60, remaining=59, reset_s=1.0)
    empty = RateLimit(name="requests", limit=60, remaining=0, reset_s=60.0)
    pace.tell(0.1, request, [full], "")
    pace.tell(0.1, request, [empty], "control")
    assert pace.wait(0.1) == pytest.approx(2.0, abs=0.11)  # two are to be left
    assert pace.find_empty(0.1) == ("requests", pace.wait(0.1))


def test_an_older_reply_says_nothing_any_more():
    pace = Pace(8)
    older, newer = pace.start(0.0), pace.start(0.0)
    pace.tell(0.1, newer, [RateLimit(name="requests", limit=60, remaining=0, reset_s=60.0)])
    wait = pace.wait(0.1)
    pace.tell(0.2, older, [RateLimit(name="requests", limit=60, remaining=60, reset_s=0.0)])
    assert pace.wait(0.1) == wait > 0.0


def test_a_limit_of_which_nobody_says_when_it_is_back_stops_nobody():
    pace = Pace(8)
    pace.tell(0.1, pace.start(0.0), [RateLimit(name="requests", limit=60, remaining=0, reset_s=0)])
    assert pace.wait(0.1) == 0.0


def test_a_limit_that_is_back_in_years_stops_nobody_for_longer_than_a_minute():
    """Headers may be wrong, and a reset may be made up: then a request finds out."""
    pace, limit = Pace(8), RateLimit(name="requests", limit=60, remaining=0, reset_s=1e9)
    now = 0.0
    for _ in range(3):
        pace.tell(now + 1.0, pace.start(now), [limit])
        pace.end(now + 1.0, 1.0)
        assert pace.wait(now + 1.0) == pytest.approx(59.0)
        assert pace.find_empty(now + 1.0) == ("requests", pytest.approx(59.0))
        now += 60.0
        assert pace.wait(now) == 0.0


def test_what_would_have_to_be_waited_for_too_long_is_not_waited_for():
    """Then it is refused, and the attempt has failed: nobody waits for an account that is empty."""
    for patience_s, wait in ((300.0, 60.0), (100.0, 0.0)):
        pace = Pace(8, patience_s=patience_s)
        a_day = RateLimit(name="requests", limit=864, remaining=0, reset_s=86_400.0)
        pace.tell(0.0, pace.start(0.0), [a_day])
        assert pace.wait(0.0) == pytest.approx(wait)


@pytest.mark.parametrize(("patience_s", "is_held"), [(7200.0, True), (240.0, False)])
def test_who_is_refused_for_an_hour_is_held_only_where_somebody_would_wait_so_long(
    patience_s, is_held
):
    pace, now, waits = Pace(8, patience_s=patience_s), 0.0, []
    for _ in range(100):
        waits.append(pace.wait(now))
        now += waits[-1]
        request = pace.start(now)
        now += 0.05
        pace.refuse(now, request, 3600.0)
    assert (max(waits) > 3000.0) is is_held
    assert is_held or now < 100.0
