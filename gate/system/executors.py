"""Who runs the trials: worker threads or another pool, results in completion order, delayed tasks
that block no worker.

Threads, not asyncio: graders and python agents stay plain functions
(docs/decisions/0002-http-client.md).
"""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

POLL_S = 0.06  # how soon a stop is noticed; results wake the loop at once
STOP_S = 3.0  # how long workers may take to notice that their connection was closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Later(Generic[T]):
    """A task to be tried again after `delay_s` seconds; its worker goes on with other tasks
    meanwhile.
    """

    task: T
    delay_s: float


class Worker(Protocol[T, R_co]):
    """What one thread works with: made in that thread, never shared but for `close`."""

    def work(self, task: T) -> R_co | Later[T]: ...

    def close(self) -> None: ...


class Pool(Protocol[T, R_co]):
    """Where tasks are done, at most `concurrency` at once, for one thread that hands them in and
    takes the results.
    """

    @property
    def concurrency(self) -> int: ...

    @property
    def in_flight(self) -> int:
        """Tasks whose results were not taken yet."""
        ...

    def submit(self, task: T) -> None: ...

    def wait(self, timeout: float) -> Iterator[R_co | Later[T]]:
        """At least one result unless the time runs out (seconds), and whatever else is there
        already. Raises what a worker raised.
        """
        ...

    def close(self) -> None:
        """Drops what nobody has begun, and ends what is under way."""
        ...

    def leftovers(self) -> Iterator[R_co]:
        """What was finished while the pool was being closed."""
        ...


def run_threads(
    batches: Iterable[Iterator[T]],
    make_worker: Callable[[], Worker[T, R]],
    *,
    concurrency: int,
    per_minute: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
    idle: Callable[[], None] = lambda: None,
) -> Iterator[R]:
    """`run_tasks` with `concurrency` threads, which begin as tasks come in."""
    return run_tasks(
        batches,
        Threads(make_worker, concurrency),
        per_minute=per_minute,
        stopped=stopped,
        idle=idle,
    )


def run_tasks(
    batches: Iterable[Iterator[T]],
    pool: Pool[T, R],
    *,
    per_minute: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
    idle: Callable[[], None] = lambda: None,
) -> Iterator[R]:
    """Results in completion order; at most twice the pool's `concurrency` tasks are read ahead.

    A batch is asked for when every result of the one before it was taken, so that it may depend on
    them; the workers live on.
    `per_minute` bounds how many tasks are started a minute, evenly spaced. When `stopped` turns
    true (or the consumer
    closes the iterator) no task is started any more, the pool is closed, and what it
    finished is still yielded.
    An exception of a worker ends the iteration with that exception. `idle` is called
    whenever no result has come for 60 ms: time for other work.
    """
    pace = StartPace(per_minute)
    try:
        for tasks in batches:
            yield from _drive(pool, tasks, pace, stopped=stopped, idle=idle)
    finally:
        pool.close()
    yield from pool.leftovers()


def _drive(
    pool: Pool[T, R],
    tasks: Iterator[T],
    pace: StartPace,
    *,
    stopped: Callable[[], bool],
    idle: Callable[[], None],
) -> Iterator[R]:
    delayed: list[tuple[float, int, T]] = []
    order = itertools.count()
    held: list[T] = []  # at most one task that waits for its turn at the pace
    exhausted = False
    while not stopped():
        now = time.monotonic()
        while delayed and delayed[0][0] <= now and pace.ready(now):
            pool.submit(heapq.heappop(delayed)[2])
            pace.take(now)
        while not exhausted and pool.in_flight + len(delayed) < 2 * pool.concurrency:
            held = held or list(itertools.islice(tasks, 1))
            exhausted = not held
            if exhausted or not pace.ready(now):
                break
            pool.submit(held.pop())
            pace.take(now)
        if exhausted and not held and not delayed and not pool.in_flight:
            return
        pause = _pause(now, delayed, pace)
        silent = pause == POLL_S
        for result in pool.wait(pause):
            silent = False
            if isinstance(result, Later):
                due = time.monotonic() + result.delay_s
                heapq.heappush(delayed, (due, next(order), result.task))
            else:
                yield result
        if silent:
            idle()


def _pause(now: float, delayed: list[tuple[float, int, T]], pace: StartPace) -> float:
    due = delayed[0][0] - now if delayed else POLL_S
    return max(0.0005, min(POLL_S, due, pace.wait(now)))


class StartPace:
    """Starts at most `per_minute` tasks a minute, evenly spaced. Times in seconds."""

    def __init__(self, per_minute: float | None) -> None:
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    def ready(self, now: float) -> bool:
        return now >= self._next

    def take(self, now: float) -> None:
        self._next = max(self._next, now) + self._gap

    def wait(self, now: float) -> float:
        return self._next - now if self._next > now else POLL_S


class Threads(Generic[T, R]):
    """`concurrency` daemon threads between two queues; threads are started as tasks come in."""

    def __init__(self, make_worker: Callable[[], Worker[T, R]], concurrency: int) -> None:
        self._make_worker = make_worker
        self.concurrency = concurrency
        self._in: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[R | Later[T] | BaseException] = queue.SimpleQueue()
        self._workers: list[Worker[T, R]] = []
        self._threads: list[threading.Thread] = []
        self.in_flight = 0

    def submit(self, task: T) -> None:
        self.in_flight += 1
        self._in.put(task)
        if len(self._threads) < min(self.concurrency, self.in_flight):
            thread = threading.Thread(target=self._loop, daemon=True, name="gate-worker")
            thread.start()
            self._threads.append(thread)

    def wait(self, timeout: float) -> Iterator[R | Later[T]]:
        try:
            yield self._take(self._out.get(timeout=timeout))
            while True:
                yield self._take(self._out.get_nowait())
        except queue.Empty:
            return

    def leftovers(self) -> Iterator[R]:
        while True:
            try:
                result = self._out.get_nowait()
            except queue.Empty:
                return
            if not isinstance(result, (Later, BaseException)):
                yield result

    def close(self) -> None:
        """Waits a little for the threads."""
        while not self._in.empty():
            self._in.get()
        for _ in self._threads:
            self._in.put(None)
        for worker in list(self._workers):
            worker.close()
        deadline = time.monotonic() + STOP_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _take(self, result: R | Later[T] | BaseException) -> R | Later[T]:
        self.in_flight -= 1
        if isinstance(result, BaseException):
            raise result
        return result

    def _loop(self) -> None:
        try:
            worker = self._make_worker()
        except Exception as error:
            self._out.put(error)
            return
        self._workers.append(worker)
        while (task := self._in.get()) is not None:
            try:
                self._out.put(worker.work(task))
            except Exception as error:
                self._out.put(error)
