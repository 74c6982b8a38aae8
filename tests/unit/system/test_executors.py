import threading
import time
from itertools import pairwise

import pytest

from gate.system.executors import Later, run_threads


class Squares:
    def __init__(self, log=None, delay=0.0):
        self.closed = threading.Event()
        self.log = log if log is not None else []
        self.delay = delay

    def work(self, task):
        self.log.append(task)
        if self.delay:
            self.closed.wait(self.delay)
        return task * task

    def close(self):
        self.closed.set()


def test_every_task_gives_one_result():
    results = list(run_threads([iter(range(100))], Squares, concurrency=8))
    assert sorted(results) == [n * n for n in range(100)]


def test_results_come_in_order_of_completion():
    class Slow(Squares):
        def work(self, task):
            time.sleep(0.2 if task == 0 else 0.0)
            return task

    assert list(run_threads([iter(range(4))], Slow, concurrency=4))[-1] == 0


def test_reads_at_most_twice_the_concurrency_ahead():
    taken, done, most = [], [], []

    def tasks():
        for n in range(50):
            taken.append(n)
            most.append(len(taken) - len(done))
            yield n

    for result in run_threads([tasks()], Squares, concurrency=3):
        done.append(result)
    assert len(done) == 50
    assert max(most) <= 2 * 3 + 1


def test_no_more_threads_than_tasks_or_concurrency():
    workers = []

    def make():
        workers.append(Squares(delay=0.02))
        return workers[-1]

    list(run_threads([iter(range(3))], make, concurrency=64))
    assert len(workers) <= 3


def test_a_later_task_blocks_no_worker():
    """One worker, a task that asks to wait: the others are done meanwhile."""
    finished = []

    class Throttled(Squares):
        def work(self, task):
            name, tries = task
            if name == "slow" and tries == 0:
                return Later(task=("slow", 1), delay_s=0.15)
            return name

    order = [("slow", 0), ("a", 0), ("b", 0)]
    for name in run_threads([iter(order)], Throttled, concurrency=1):
        finished.append(name)
    assert finished == ["a", "b", "slow"]


def test_a_batch_is_asked_for_when_all_results_of_the_one_before_are_taken():
    made, seen = [], []

    def batches():
        for first in (0, 10, 20):
            made.append(list(seen))
            yield iter(range(first, first + 10))

    def worker():
        workers.append(1)
        return Squares(delay=0.001)

    workers = []
    for result in run_threads(batches(), worker, concurrency=4):
        seen.append(result)
    squares = [n * n for n in range(30)]
    assert [sorted(before) for before in made] == [[], squares[:10], squares[:20]]
    assert sorted(seen) == squares
    assert len(workers) <= 4  # those of the first batch live on


def test_stop_starts_nothing_more_and_keeps_what_is_finished():
    stop = threading.Event()
    log = []
    seen = []
    for result in run_threads(
        [iter(range(1000))], lambda: Squares(log, delay=0.01), concurrency=2, stopped=stop.is_set
    ):
        seen.append(result)
        if len(seen) == 5:
            stop.set()
    assert 5 <= len(seen) < 50
    assert len(log) <= len(seen) + 2


def test_stop_closes_workers_that_are_busy():
    stop = threading.Event()

    class Stuck(Squares):
        def work(self, task):
            stop.set()
            assert self.closed.wait(10)
            return "freed"

    start = time.monotonic()
    results = list(run_threads([iter([1, 2])], Stuck, concurrency=2, stopped=stop.is_set))
    assert time.monotonic() - start < 8
    assert results in ([], ["freed"], ["freed", "freed"])


def test_an_exception_of_a_worker_ends_the_run_with_it():
    class Broken(Squares):
        def work(self, task):
            raise ZeroDivisionError("at task 3")

    with pytest.raises(ZeroDivisionError, match="at task 3"):
        list(run_threads([iter([3])], Broken, concurrency=2))


def test_a_worker_that_cannot_be_made_ends_the_run():
    def make():
        raise RuntimeError("no connection")

    with pytest.raises(RuntimeError, match="no connection"):
        list(run_threads([iter([1, 2])], make, concurrency=1))


def test_pace_spreads_the_starts_evenly():
    started = []

    class Timed(Squares):
        def work(self, task):
            started.append(time.monotonic())
            return task

    list(run_threads([iter(range(5))], Timed, concurrency=5, per_minute=1200))
    gaps = [b - a for a, b in pairwise(started)]
    assert min(gaps) >= 0.03  # 50 ms apart, less the jitter of the threads
    assert started[-1] - started[0] >= 0.15


def test_no_task_no_thread():
    def make():
        raise AssertionError("no worker is needed")

    assert list(run_threads([iter([])], make, concurrency=4)) == []


def test_idle_is_called_while_nobody_answers_and_not_while_answers_come():
    calls = []
    slow = run_threads(
        [iter([1])], lambda: Squares(delay=0.3), concurrency=1, idle=lambda: calls.append(1)
    )
    assert list(slow) == [1]
    assert calls
    calls.clear()
    list(run_threads([iter(range(50))], Squares, concurrency=4, idle=lambda: calls.append(1)))
    assert not calls
