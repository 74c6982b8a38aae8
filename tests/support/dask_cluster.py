"""A Dask cluster of real processes on loopback: one scheduler, and workers that a test may end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

_START_S = 30.0


class DaskCluster:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self._file = folder / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", str(self._file))
        self._wait_for(self._file)
        self.address = str(json.loads(self._file.read_text())["address"])

    def add_worker(
        self, name: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A worker of this name, which may be waited for with `await_workers`."""
        options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
        place = ("--local-directory", str(self._folder), "--death-timeout", "20")
        worker = self._start("worker", self.address, *options, *place, "--name", name, env=env)
        self.workers.append(worker)
        return worker

    def await_workers(self, number: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            deadline = time.monotonic() + _START_S
            while len(client.nthreads()) != number:
                assert time.monotonic() < deadline, client.nthreads()
                time.sleep(0.02)

    def end(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def _start(
        self, what: str, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        clean = {name: value for name, value in os.environ.items() if "KEY" not in name}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", what, *arguments],
            cwd=self._folder,
            env={**clean, **(env or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.append(process)
        return process

    def _wait_for(self, file: Path) -> None:
        deadline = time.monotonic() + _START_S
        while True:
            with suppress(OSError, ValueError):
                json.loads(file.read_text())
                return
            assert time.monotonic() < deadline, f"{file} did not come"
            time.sleep(0.02)


@contextmanager
def dask_cluster(folder: Path, *workers: str) -> Iterator[DaskCluster]:
    """A running cluster with workers of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = DaskCluster(folder)
    try:
        for name in workers:
            cluster.add_worker(name)
        cluster.await_workers(len(workers))
        yield cluster
    finally:
        cluster.end()
