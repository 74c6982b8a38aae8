"""Trials made by the workers of a cluster, where a run otherwise has its threads."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import cast
from uuid import uuid4

from gate.errors import UsageError
from gate.records import Health, Trial
from gate.run.cluster import on_worker
from gate.run.cluster.connect import NOBODY_S, Cluster, Future, PoolLost, connect, refuse_open_ways
from gate.run.cluster.kit import RunKit, make_kit
from gate.run.cluster.on_worker import Admission, Done, Made, NoDesk
from gate.run.setup import Setup
from gate.run.trial_worker import Task, Unmade
from gate.system.executors import STOP_S, Later
from gate.system.worker_process import TRIES
from gate.text.shortening import shorten
from gate.user_code.hashes import Sources, merge_sources

_LOOK_S = 1.0  # how often the scheduler is asked which workers there are
_MOST_OF_A_PACKET = 32  # trials
_PACKETS_A_SECOND = 50  # of the whole run: each costs Dask some milliseconds


@dataclass(slots=True)
class _Seat:
    """A worker that makes trials: at most `share` at once; `sent`: those without a result."""

    share: int
    sent: int = 0


@dataclass(frozen=True, slots=True)
class _Packet:
    """Tasks on their way, the worker that they were sent to, and how many went away with them."""

    future: Future
    tasks: Sequence[Task]
    address: str
    lost: int


@contextmanager
def open_pool(setup: Setup) -> Iterator[ClusterPool]:
    """The workers of --scheduler, each admitted. Raises UsageError where one does not fit or
    something cannot be sent, InfrastructureError.
    """
    options = setup.place.options
    scheduler = options.scheduler or ""
    kit = make_kit(setup, uuid4().hex)
    with connect(scheduler) as cluster:
        if options.send_secrets:
            refuse_open_ways([scheduler, *cluster.list_workers()])
        agents = [setup.agent, *filter(None, [setup.control_agent])]
        at_once = min(agent.concurrency for agent in agents)
        pool = ClusterPool(cluster, kit, at_once)
        try:
            pool.admit_all()
            yield pool
        finally:
            pool.close()


class ClusterPool:
    """A Pool (gate/system/executors.py) of a cluster's workers. Tasks travel in packets, each to
    one worker, and to another one where that goes away.
    """

    def __init__(self, cluster: Cluster, kit: RunKit, concurrency: int) -> None:
        self._cluster, self._kit = cluster, kit
        self.concurrency = concurrency
        self._seats: dict[str, _Seat] = {}  # by address
        self._free: list[int] = []  # shares of workers that went away
        self._unfit: set[str] = set()
        self._waiting: list[Task] = []
        self._again: list[_Packet] = []  # whose worker went away
        self._packets: dict[str, _Packet] = {}  # by the key of the future
        self._ready: SimpleQueue[Future] = SimpleQueue()
        self._rest: list[Trial | Unmade] = []
        self._sources: Sources = {}
        self._looked = self._manned = time.monotonic()
        self._closed = False
        self._answers, self._answered_s = 0, 0.0  # how long they took in total
        self.in_flight = 0
        self.health = Health(ok=True, latency_ms=0.0)

    def admit_all(self) -> None:
        """Shows the kit to as many workers as there can be requests at once. Raises UsageError
        that names each that does not fit.
        """
        chosen = self._cluster.list_workers()[: self.concurrency]
        least, more = divmod(self.concurrency, len(chosen))
        shares = {address: least + (nth < more) for nth, address in enumerate(chosen)}
        faults = [f"worker {address}: {fault}" for address, fault in self._admit(shares).items()]
        if faults:
            raise UsageError(f"--executor dask: {'; '.join(faults)}")

    def submit(self, task: Task) -> None:
        self._waiting.append(replace(task, graders={}))
        self.in_flight += 1

    def wait(self, timeout: float) -> Iterator[Trial | Unmade | Later[Task]]:
        self._look()
        self._send()
        for future in self._take_ready(timeout):
            for made in self._results_of(future):
                self.in_flight -= 1
                self._note_time(made)
                yield made

    def close(self) -> None:
        """Ends what is under way, and waits a little for what is finished of it."""
        if self._closed:
            return
        self._closed = True
        with suppress(Exception):  # why it is closed is told, and not what comes of that
            self._end_desks()
            deadline = time.monotonic() + STOP_S
            while self._packets and (left := deadline - time.monotonic()) > 0.0:
                self._cluster.check_open()
                for future in self._take_ready(min(left, 0.2)):
                    made = self._results_of(future)
                    self._rest += [one for one in made if not isinstance(one, Later)]
            self._cluster.cancel([packet.future for packet in self._packets.values()])

    def leftovers(self) -> Iterator[Trial | Unmade]:
        yield from self._rest

    def sources(self) -> Sources:
        """What judging code of the user's was loaded from on the workers so far."""
        return self._sources

    def _admit(self, shares: Mapping[str, int]) -> dict[str, str]:
        """The workers of these addresses take part from now on, but for those that it gives: why
        not.
        """
        faults = {}
        for share in sorted(set(shares.values()), reverse=True):
            asked = [address for address in shares if shares[address] == share]
            told = self._cluster.call(on_worker.admit, self._kit, share, at=asked)
            for address in asked:
                fault = self._take_seat(address, share, told.get(address))
                if fault:
                    faults[address] = fault
        return faults

    def _take_seat(self, address: str, share: int, told: object) -> str:
        if not isinstance(told, Admission):
            why = "it is gone" if told is None else f"{type(told).__name__}: {told}"
            return f"it cannot run Agent Gate: {shorten(why, 200)}"
        if told.fault:
            return told.fault
        if not told.health.ok and self.health.ok:
            self.health = replace(told.health, error=f"{told.health.error} (asked from {address})")
        elif not self._seats:
            self.health = told.health
        self._seats[address] = _Seat(share)
        return ""

    def _look(self) -> None:
        """Who has gone, and who takes the place: as many requests at once as before."""
        self._cluster.check_open()
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        there = self._cluster.list_workers()
        for address in self._seats.keys() - set(there):
            self._leave(address)
        for address in there:
            if self._free and address not in self._seats and address not in self._unfit:
                share = self._free.pop()
                if self._admit({address: share}):
                    self._unfit.add(address)
                    self._free.append(share)
        if self._seats:
            self._manned = now
        elif now - self._manned > NOBODY_S:
            raise self._cluster.nobody()

    def _leave(self, address: str) -> None:
        """Its share is free, its packets are for others; it may be admitted again. Dask does not
        send them to whoever comes later.
        """
        seat = self._seats.pop(address, None)
        if seat is not None:
            self._free.append(seat.share)
        gone = [packet for packet in self._packets.values() if packet.address == address]
        for packet in gone:
            del self._packets[packet.future.key]
            if packet.lost + 1 == TRIES:
                raise PoolLost(f"the same trials ended {TRIES} workers (out of memory?)")
            self._again.append(replace(packet, lost=packet.lost + 1))
        self._cluster.cancel([packet.future for packet in gone])

    def _send(self) -> None:
        """Each packet goes to the worker that has the least to do for its share."""
        while self._seats and (self._again or self._waiting):
            address, seat = min(self._seats.items(), key=lambda one: one[1].sent / one[1].share)
            if self._again:
                again = self._again.pop()
                tasks, lost = again.tasks, again.lost
            else:
                size = self._size(seat.share)
                tasks, self._waiting = self._waiting[:size], self._waiting[size:]
                lost = 0
            future = self._cluster.submit(
                on_worker.work, self._kit.run, pickle.dumps(tasks), at=address
            )
            seat.sent += len(tasks)
            self._packets[future.key] = _Packet(future, tasks, address, lost)
            future.add_done_callback(self._ready.put)

    def _size(self, share: int) -> int:
        """Trials of the next packet. The smaller it is, the less waits for its slowest trial; but
        so many answers a second as the agent can give must not be so many packets.
        """
        if not self._answers:
            return max(1, min(_MOST_OF_A_PACKET, share // 4))
        per_second = self.concurrency * self._answers / max(self._answered_s, 1e-3)
        wanted = math.ceil(per_second / _PACKETS_A_SECOND)
        return max(1, min(wanted, _MOST_OF_A_PACKET, share // 2))

    def _note_time(self, made: Made) -> None:
        if isinstance(made, Trial) and made.attempt.latency_ms is not None:
            self._answers += 1
            self._answered_s += made.attempt.latency_ms / 1e3

    def _take_ready(self, timeout: float) -> list[Future]:
        futures = []
        with suppress(Empty):
            futures.append(self._ready.get(timeout=timeout))
            while True:
                futures.append(self._ready.get_nowait())
        return futures

    def _results_of(self, future: Future) -> Sequence[Made]:
        """What became of a packet; nothing where it is to be sent again, or was."""
        packet = self._packets.get(future.key)
        done = self._cluster.result_of(future) if packet else None
        if packet is None:
            return ()
        if done is None:  # its worker goes away in this moment, or is slow
            future.add_done_callback(self._ready.put)
            return ()
        if isinstance(done, NoDesk):  # the worker began anew
            self._leave(packet.address)
            return ()
        del self._packets[future.key]
        self._seats[packet.address].sent -= len(packet.tasks)
        if isinstance(done, Exception):
            raise done
        told = cast("Done", done)
        self._sources = merge_sources(self._sources, told.sources)
        if told.broken:
            raise PoolLost(f"{packet.address}: {told.broken}")
        return told.results

    def _end_desks(self) -> None:
        """A worker that hangs holds nobody up."""

        def ask() -> None:
            with suppress(PoolLost):
                self._cluster.call(on_worker.end, self._kit.run, at=[*self._seats])

        asking = Thread(target=ask, daemon=True)
        asking.start()
        asking.join(STOP_S)
