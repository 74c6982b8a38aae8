"""Tasks done by several threads at once, with results in the order of the tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from queue import LifoQueue
from typing import Protocol, TypeVar

T_contra = TypeVar("T_contra", contravariant=True)
T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

POLL_S = 0.06  # how soon a stop is noticed
_AHEAD = 2  # tasks a worker that may wait to be done, or for an earlier one to be taken


class OrderedWorker(Protocol[T_contra, R_co]):
    """What one thread at a time works with. `close` ends the work that is under way."""

    def work(self, task: T_contra) -> R_co: ...

    def close(self) -> None: ...


def map_in_order(
    workers: Sequence[OrderedWorker[T, R]],
    tasks: Iterable[T],
    *,
    stopped: Callable[[], bool] = lambda: False,
    idle: Callable[[], None] = lambda: None,
) -> Iterator[R]:
    """The results in the order of the tasks, which are read at most three a worker ahead of the
    result that is taken. When `stopped` turns true, no result comes any more, and what is under way
    is dropped. `idle` is called whenever no result has come for 60 ms. An exception of a worker
    ends the iteration with that exception. Closes the workers.
    """
    free: LifoQueue[OrderedWorker[T, R]] = LifoQueue()  # so that few tasks need few workers
    for worker in workers:
        free.put(worker)

    def work(task: T) -> R:
        worker = free.get()
        try:
            return worker.work(task)
        finally:
            free.put(worker)

    waiting, pending = iter(tasks), deque[Future[R]]()
    most = len(workers) * (1 + _AHEAD)
    threads = ThreadPoolExecutor(len(workers), thread_name_prefix="gate-worker")
    try:
        while not stopped():
            for task in islice(waiting, most - len(pending)):
                pending.append(threads.submit(work, task))
            if not pending:
                return
            if not pending[0].done() and not wait([pending[0]], POLL_S).done:
                idle()
                continue
            yield pending.popleft().result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()
