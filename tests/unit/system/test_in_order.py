"""Several workers, results in the order of the tasks."""

import threading
import time

import pytest

from gate.system.in_order import map_in_order


class Worker:
    def __init__(self, work):
        self.work, self.closed = work, False

    def close(self):
        self.closed = True


def test_results_come_in_the_order_of_the_tasks():
    def work(n):
        time.sleep(0.002 * (5 - n % 5))
        return n * n

    workers = [Worker(work) for _ in range(4)]
    assert list(map_in_order(workers, range(40))) == [n * n for n in range(40)]
    assert all(worker.closed for worker in workers)


def test_tasks_are_read_only_so_far_ahead():
    read = []

    def tasks():
        for n in range(100):
            read.append(n)
            yield n

    results = map_in_order([Worker(abs), Worker(abs)], tasks())
    for taken in range(1, 50):
        next(results)
        assert len(read) <= taken + 5
    results.close()


def test_one_worker_is_one_threads_at_a_time():
    busy = threading.Lock()

    def work(n):
        assert busy.acquire(blocking=False)
        time.sleep(0.001)
        busy.release()
        return n

    assert list(map_in_order([Worker(work)], range(20))) == list(range(20))


def test_a_stop_drops_what_is_under_way():
    stop, release = threading.Event(), threading.Event()

    def work(n):
        if n > 2:
            release.wait(10)
        return n

    worker = Worker(work)
    worker.close = release.set
    results = map_in_order([worker], range(10), stopped=stop.is_set)
    found = [next(results) for _ in range(3)]
    stop.set()
    begun = time.monotonic()
    assert found + list(results) == [0, 1, 2]
    assert time.monotonic() - begun < 5


def test_an_error_of_a_worker_is_raised_in_its_place():
    def work(n):
        if n == 3:
            raise TimeoutError("late")
        return n

    found = []
    worker = Worker(work)
    with pytest.raises(TimeoutError, match="late"):
        found.extend(map_in_order([worker], range(10)))
    assert worker.closed


def test_idle_is_called_while_nothing_comes():
    called = []
    worker = Worker(lambda n: time.sleep(0.2))
    list(map_in_order([worker], range(1), idle=lambda: called.append(1)))
    assert called
