import threading
import time
from threading import Event

import pytest

from gate.errors import AgentFailure, InfraFailure
from gate.system.pace import Pace, RateLimit
from gate.system.slots import Slots


def in_threads(number, function):
    threads = [threading.Thread(target=function, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    return threads


def test_no_more_at_once_than_the_pace_says_and_everybody_has_a_turn():
    slots = Slots(Pace(4, adaptive=False))
    lock, busy, most, turns = threading.Lock(), 0, 0, 0

    def ask():
        nonlocal busy, most, turns
        slot = slots.slot()
        for _ in range(5):
            with slot as is_free:
                assert is_free
                with lock:
                    busy += 1
                    most = max(most, busy)
                time.sleep(0.002)
                with lock:
                    busy -= 1
                    turns += 1

    for thread in in_threads(12, ask):
        thread.join(10)
    assert (most, turns) == (4, 60)


def test_who_waits_leaves_when_it_is_closed_and_so_does_who_comes():
    slots = Slots(Pace(1, adaptive=False))
    found = []

    def ask():
        with slots.slot() as is_free:
            found.append(is_free)

    with slots.slot() as is_free:
        assert is_free
        threads = in_threads(3, ask)
        time.sleep(0.05)
        assert found == []
        slots.slot().close()
        for thread in threads:
            thread.join(5)
    ask()
    assert found == [False] * 4


def test_what_happened_to_a_request_reaches_the_pace():
    now = [0.0]
    pace = Pace(8)
    slots = Slots(pace, seconds=lambda: now[0])
    slot = slots.slot()
    with pytest.raises(InfraFailure), slot:
        raise InfraFailure("429", retry_after=1.0)
    with pytest.raises(InfraFailure), slot:
        raise InfraFailure("529", is_refusal=True)
    with pytest.raises(InfraFailure), slot:
        raise InfraFailure("502")
    with pytest.raises(AgentFailure), slot:
        raise AgentFailure("500")
    assert (pace.refused, pace.started, pace.running) == (2, 4, 0)


def test_waiting_is_left_to_the_pause_that_is_handed_in():
    now, pauses = [0.0], []

    def pause(changed: Event, seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    slot = Slots(Pace(1, per_minute=30), seconds=lambda: now[0], pause=pause).slot()
    for _ in range(3):
        with slot:
            pass
    assert pauses == [2.0, 2.0]


def test_it_says_what_the_provider_allows():
    now = [0.0]
    slots = Slots(Pace(8), seconds=lambda: now[0])
    slot = slots.slot()
    with slot:
        pass
    assert slots.describe() == ""
    with pytest.raises(InfraFailure), slot:
        raise InfraFailure("429", retry_after=1.0)
    assert slots.describe() == "refused by the provider: 1; now 8 calls at once"
    with slot:
        slot.hear((RateLimit(name="tokens", limit=600.0, remaining=500.0, reset_s=10.0),))
    now[0] = 0.5
    with slot:
        slot.hear((RateLimit(name="tokens", limit=600.0, remaining=10.0, reset_s=59.0),))
    assert slots.describe() == "waiting 59 s for the provider's limit of tokens"
