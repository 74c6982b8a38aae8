import os
import signal
import threading

import pytest

from gate.errors import Interrupted
from gate.system.signals import Stop

posix = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture
def stop():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    made = Stop()
    made.install()
    yield made
    for number, handler in before.items():
        signal.signal(number, handler)


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_while_deferred_the_first_signal_is_only_noted(stop, number, code):
    with stop.defer():
        signal.raise_signal(number)
        assert stop.is_requested()
    error = stop.error("saved")
    assert (str(error), error.exit_code) == ("saved", code)


@posix
def test_a_second_signal_ends_at_once(stop):
    with stop.defer():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGINT)


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_outside_a_run_a_signal_ends_the_command(stop, number, code):
    with stop.defer():
        pass
    with pytest.raises(Interrupted, match="interrupted") as caught:
        signal.raise_signal(number)
    assert caught.value.exit_code == code


def test_nothing_is_requested_before_a_signal():
    stop = Stop()
    assert not stop.is_requested()
    assert stop.error("x").exit_code == 130


def test_a_thread_may_ask(stop):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(stop.is_requested()))
    thread.start()
    thread.join()
    assert seen == [False]
