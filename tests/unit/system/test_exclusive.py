"""Who may ask a server beside whom, and that nobody waits for ever."""

import threading

import pytest

from gate.errors import InfraFailure
from gate.system.exclusive import ServerTurns, turns_of

SOON = 5.0  # seconds; only a broken test waits that long


class Asking(threading.Thread):
    """A request that lasts until it is told to end."""

    def __init__(self, turns, *, exclusive=False, until_queued=True):
        super().__init__(daemon=True)
        self._turns, self._exclusive = turns, exclusive
        self.queued, self.started, self.ended = (threading.Event() for _ in range(3))
        self.given_up, self.failure, self.turn = False, None, None
        self.start()
        if until_queued:
            assert self.queued.wait(SOON)
        else:
            assert self.started.wait(SOON)

    def _look(self):
        self.queued.set()  # the lock is held: whoever comes now comes after it
        return self.given_up

    def run(self):
        try:
            with self._turns.take_turn(exclusive=self._exclusive, given_up=self._look) as self.turn:
                self.started.set()
                assert self.ended.wait(SOON)
        except InfraFailure as failure:
            self.failure = failure

    def end(self):
        self.ended.set()
        self.join(SOON)


@pytest.fixture
def turns():
    return ServerTurns()


def running(turns, **kind):
    return Asking(turns, until_queued=False, **kind)


def test_requests_run_side_by_side_and_one_that_must_be_alone_waits_for_them(turns):
    first, second = running(turns), running(turns)
    alone = Asking(turns, exclusive=True)
    first.end()
    assert not alone.started.is_set()
    second.end()
    assert alone.started.wait(SOON)
    alone.end()


def test_one_that_must_be_alone_is_not_overtaken_by_others_that_come_later(turns):
    first = running(turns)
    alone = Asking(turns, exclusive=True)
    later = Asking(turns)
    assert not later.started.is_set()
    first.end()
    assert alone.started.wait(SOON)
    assert not later.started.is_set()
    alone.end()
    assert later.started.wait(SOON)
    later.end()


def test_all_that_came_meanwhile_start_together_before_the_next_one_that_must_be_alone(turns):
    alone = running(turns, exclusive=True)
    for _ in range(2):
        next_alone = Asking(turns, exclusive=True)
        others = [Asking(turns), Asking(turns)]
        alone.end()
        assert all(one.started.wait(SOON) for one in others)
        assert not next_alone.started.is_set()
        for one in others:
            one.end()
        assert next_alone.started.wait(SOON)
        alone = next_alone
    alone.end()


def test_a_request_that_fails_gives_its_turn_back(turns):
    with pytest.raises(ValueError, match="no"), turns.take_turn(exclusive=True, given_up=bool):
        raise ValueError("no")
    running(turns).end()


def test_a_request_knows_whether_another_ran_beside_it(turns):
    first = running(turns)
    assert first.turn.alone
    second = running(turns)
    second.end()
    first.end()
    third = running(turns, exclusive=True)
    third.end()
    assert [one.turn.alone for one in (first, second, third)] == [False, False, True]


def test_a_request_that_the_server_may_still_work_on_haunts_those_after_it_for_a_while():
    now = [100.0]
    turns = ServerTurns(seconds=lambda: now[0])
    turns.note_abandoned(30)
    turns.note_abandoned(10)
    now[0] = 129.0
    with turns.take_turn(exclusive=True, given_up=bool) as turn:
        assert turn.haunted
        assert not turn.alone
    now[0] = 130.0
    with turns.take_turn(exclusive=True, given_up=bool) as turn:
        assert turn.alone


def test_one_that_gives_up_waiting_ends_at_once_and_keeps_nobody_waiting(turns):
    first = running(turns)
    alone = Asking(turns, exclusive=True)
    behind = Asking(turns)
    alone.given_up = True
    turns.wake()
    alone.join(SOON)
    assert "being stopped" in str(alone.failure)
    assert behind.started.wait(SOON)
    for one in (first, behind):
        one.end()


def test_a_wait_that_an_interrupt_ends_keeps_nobody_waiting(turns):
    """Else the server would be given to one who is gone, and the run would never end."""

    def interrupted():
        raise KeyboardInterrupt

    first = running(turns)
    with pytest.raises(KeyboardInterrupt), turns.take_turn(exclusive=True, given_up=interrupted):
        pass
    first.end()
    running(turns).end()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://localhost:14000", "http://127.0.0.1:14000", True),
        ("http://LOCALHOST:14000", "http://[::1]:14000", True),
        ("https://a.example", "HTTPS://A.example:443", True),
        ("https://a.example", "https://a.example:444", False),
        ("http://127.0.0.1:1", "http://10.0.0.1:1", False),
    ],
)
def test_a_server_by_another_name_is_the_same_one(one, other, same):
    assert (turns_of(one) is turns_of(other)) is same


def test_whoever_asks_one_address_shares_its_turns():
    assert turns_of("http://127.0.0.1:1") is turns_of("http://127.0.0.1:1")
    assert turns_of("http://127.0.0.1:1") is not turns_of("http://127.0.0.1:2")


def test_one_that_is_alone_knows_how_many_ended_just_before(turns):
    asked = []
    for exclusive in (False, False, True, True):
        asked.append(running(turns, exclusive=exclusive))
        asked[-1].end()
    assert [one.turn.after for one in asked] == [0, 0, 2, 0]
