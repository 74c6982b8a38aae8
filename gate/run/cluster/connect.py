"""The connection to a Dask cluster: its scheduler, and the workers that fit this process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib import import_module
from ipaddress import ip_address
from threading import Event
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from gate.errors import InfrastructureError, UsageError
from gate.records import CheckedJson
from gate.run.cluster.kit import SEND_SECRETS
from gate.system.shortage import Shortage
from gate.text.figures import join_words
from gate.text.shortening import shorten

T = TypeVar("T")
WORKERS_S = 30.0  # for a first worker to come
NOBODY_S = 30.0  # for a worker to come once all have gone
_LOOK_S = 1.0  # how often who waits looks for what is wrong
_FETCH_S = 2.0  # for a result that is there
_PACKAGES = ("agent-gate", "dask", "distributed", "cloudpickle", "msgpack")
_EXTRA = "pip install 'agent-gate[dask] @ git+https://github.com/agent-gate/agent-gate'"


class PoolLost(Shortage):
    """Nobody is left who does the work, and why."""


class Future(Protocol):
    """Dask's: a call on a worker. `status`: pending, finished, error, cancelled or lost."""

    key: str
    status: str

    def result(self, *, timeout: float) -> object: ...
    def exception(self, *, timeout: float) -> Exception: ...
    def add_done_callback(self, done: Callable[[Future], object], /) -> object: ...


class Client(Protocol):
    """Dask's: what is used of it here."""

    status: str

    def nthreads(self) -> Mapping[str, int]: ...
    def run(
        self, function: Callable[..., object], *given: object, workers: list[str], on_error: str
    ) -> Mapping[str, object]: ...
    def submit(
        self,
        function: Callable[..., object],
        *given: object,
        workers: list[str] | None,
        pure: bool,
    ) -> Future: ...
    def cancel(self, futures: list[Future]) -> object: ...


class Cluster:
    """An open connection. Its methods raise PoolLost."""

    def __init__(self, client: Client, address: str) -> None:
        self._client, self.address = client, address

    @property
    def is_open(self) -> bool:
        return self._client.status == "running"

    def count_threads(self) -> int:
        """Calls that all workers take at once."""
        return sum(self._tried(self._client.nthreads).values())

    def list_workers(self) -> list[str]:
        """The addresses of the workers that the scheduler knows."""
        return sorted(self._tried(self._client.nthreads))

    def call(
        self, function: Callable[..., object], *given: object, at: Sequence[str]
    ) -> Mapping[str, object]:
        """Calls the function in the processes of these workers at once, whatever else they do:
        address -> what it returned, or the exception. Those that went away are missing.
        """
        return self._tried(
            lambda: self._client.run(function, *given, workers=[*at], on_error="return")
        )

    def submit(
        self, function: Callable[..., object], *given: object, at: str | None = None
    ) -> Future:
        """The future of a call on this worker, and on no other; or on any, and then on another one
        where that goes away.
        """
        workers = [at] if at else None
        return self._tried(
            lambda: self._client.submit(function, *given, workers=workers, pure=False)
        )

    def wait_for(self, future: Future) -> object:
        """What the call returned; raises what it raised. From any thread."""
        since, ready = time.monotonic(), Event()
        while True:
            ready.clear()
            future.add_done_callback(lambda _: ready.set())
            while not ready.wait(_LOOK_S):
                self.check_open()
                if self.list_workers():
                    since = time.monotonic()
                elif time.monotonic() - since > NOBODY_S:
                    raise self.nobody()
            done = self.result_of(future)
            if isinstance(done, Exception):
                raise done
            if done is not None:
                return done

    def nobody(self) -> PoolLost:
        return PoolLost(f"no worker of {self.address} is left")

    def result_of(self, future: Future) -> object:
        """What the call returned or raised; None where it has to be waited for again. Raises
        PoolLost where workers died of it.
        """
        try:
            if future.status != "error":
                return future.result(timeout=_FETCH_S)
            error = future.exception(timeout=_FETCH_S)
        except (OSError, TimeoutError, CancelledError):
            self.check_open()
            return None
        if type(error).__name__ == "KilledWorker":
            raise PoolLost(f"the same work ended several workers of {self.address} (memory?)")
        return error

    def cancel(self, futures: Sequence[Future]) -> None:
        self._tried(lambda: self._client.cancel([*futures]))

    def lost(self) -> PoolLost:
        return PoolLost(f"the Dask scheduler at {self.address} is gone")

    def check_open(self) -> None:
        if not self.is_open:
            raise self.lost()

    def _tried(self, ask: Callable[[], T]) -> T:
        self.check_open()
        try:
            return ask()
        except (OSError, TimeoutError) as error:  # Dask's CommClosedError is an OSError
            raise self.lost() from error


@contextmanager
def connect(address: str, patience_s: float = 10.0) -> Iterator[Cluster]:
    """Connects, and checks the versions of the scheduler and all workers. `patience_s`: for the
    scheduler to answer. Raises UsageError, InfrastructureError.
    """
    try:
        config, distributed = import_module("dask.config"), import_module("distributed")
    except ImportError as error:
        raise UsageError(f"--executor dask needs Dask: {_EXTRA}") from error
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is wrong is told by us
    with config.set({"distributed.comm.timeouts.connect": f"{patience_s:g}s"}):
        try:
            client = distributed.Client(
                address, timeout=patience_s, set_as_default=False, name="agent-gate"
            )
        except (OSError, TimeoutError) as error:
            raise InfrastructureError(
                f"--scheduler {address}: no Dask scheduler answers there; start one with `dask "
                "scheduler`, or correct the address (tls://... if it is encrypted)"
            ) from error
        except (ValueError, TypeError) as error:  # the second: TLS without certificates
            raise UsageError(
                f"--scheduler {address}: {shorten(str(error), 160)}; give an address such as "
                "tcp://10.0.0.5:8786; for tls:// Dask needs its certificates (docs/scaling.md)"
            ) from error
    try:
        cluster = Cluster(client, address)
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=WORKERS_S)
        if not cluster.list_workers():
            raise InfrastructureError(
                f"--scheduler {address}: no worker came within {WORKERS_S:g} s; start some with "
                f"`dask worker {address}`"
            )
        check_versions(client.get_versions(packages=_PACKAGES[:1]))
        yield cluster
    finally:
        with suppress(Exception):
            client.close(timeout=2.0)


def check_versions(told: Mapping[str, CheckedJson]) -> None:
    """Raises UsageError that names each scheduler and worker with another version of something
    that has a say in what is sent or computed.
    """
    ours = _versions(told["client"])
    places = {"the scheduler": told["scheduler"]}
    places.update({f"worker {address}": one for address, one in told["workers"].items()})
    wrong = []
    for place, one in places.items():
        theirs = _versions(one)
        odd = [
            f"{name} {theirs[name]} (here {ours[name]})" if theirs[name] else f"no {name}"
            for name in ours
            if theirs[name] != ours[name]
        ]
        if odd:
            wrong.append(f"{place} has {join_words(odd)}")
    if wrong:
        raise UsageError(
            f"--executor dask: {'; '.join(wrong)}: install the same versions everywhere"
        )


def _versions(told: Mapping[str, CheckedJson]) -> dict[str, str | None]:
    packages = told["packages"]
    python = ".".join(str(packages["python"]).split(".")[:2])
    return {"Python": python, **{name: packages.get(name) for name in _PACKAGES}}


def refuse_open_ways(addresses: Sequence[str]) -> None:
    """Raises UsageError where secrets would be sent over a network that others may listen to."""
    for address in addresses:
        where = urlsplit(address if "://" in address else f"tcp://{address}")
        if where.scheme not in ("tls", "wss") and not _is_loopback(where.hostname or ""):
            raise UsageError(
                f"{SEND_SECRETS}: {address} is not encrypted, so anybody on its network could read "
                "them: use tls:// for scheduler and workers, or set the variables where the "
                "workers are started"
            )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
