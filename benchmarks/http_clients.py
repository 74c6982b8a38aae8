"""What a call costs by each HTTP client that threads can use: docs/decisions/0002-http-client.md.

    GATE_TOOLS=... python benchmarks/http_clients.py [--calls 5000] [--concurrency 32] [--runs 3]

Each client runs in a process of its own against the stub agent of benchmarks/run.py; the clients
take turns. The calls are timed without imports.
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests
import urllib3
from run import Stub

sys.path.insert(0, str(Path(__file__).parent.parent))
from gate.agents.http_client.session import Session
from gate.agents.protocols.openai import OpenAI
from gate.plugins import World
from gate.records import Case

PATH = "/v1/chat/completions"
HEADERS = {"content-type": "application/json"}
Ask = Callable[[int], object]


def body(n: int) -> dict[str, object]:
    question = f"What is the code of item {n}? Answer in one sentence."
    return {"model": "stub", "messages": [{"role": "user", "content": question}]}


def with_requests(url: str) -> Ask:
    session = requests.Session()
    return lambda n: session.post(url + PATH, json=body(n), timeout=60).json()


def with_urllib3(url: str) -> Ask:
    pool = urllib3.PoolManager(maxsize=1)
    return lambda n: pool.request("POST", url + PATH, json=body(n), timeout=60).json()


def with_http_client(url: str) -> Ask:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)

    def ask(n: int) -> object:
        connection.request("POST", PATH, json.dumps(body(n)), HEADERS)
        return json.loads(connection.getresponse().read())

    return ask


def with_session(url: str) -> Ask:
    session = Session({})

    def ask(n: int) -> object:
        data = json.dumps(body(n)).encode()
        return json.loads(
            session.request("POST", url + PATH, headers=HEADERS, body=data, timeout_s=60).body
        )

    return ask


def with_agent(url: str) -> Ask:
    connection = OpenAI(base_url=url, model="stub").connect(World(env={}, root=Path()))

    def ask(n: int) -> object:
        question = f"What is the code of item {n}? Answer in one sentence."
        return connection.ask(Case(id=str(n), input=question, keys={}), timeout_s=60)

    return ask


CLIENTS: dict[str, Callable[[str], Ask]] = {
    "requests": with_requests,
    "urllib3": with_urllib3,
    "http.client": with_http_client,
    "gate.agents.http_client": with_session,
    "agent `openai` on gate.agents.http_client": with_agent,
}


def measure(client: str, url: str, calls: int, concurrency: int) -> None:
    """Prints wall seconds and processor milliseconds a call."""
    local = threading.local()

    def call(n: int) -> None:
        if not hasattr(local, "ask"):
            local.ask = CLIENTS[client](url)
        local.ask(n)

    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    with ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(call, range(calls)))
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps([wall, used / calls * 1e3]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--client", nargs=2, metavar=("NAME", "URL"))
    options = parser.parse_args()
    if options.client:
        measure(*options.client, options.calls, options.concurrency)
        return
    found: dict[str, list[list[float]]] = {name: [] for name in CLIENTS}
    size = ["--calls", str(options.calls), "--concurrency", str(options.concurrency)]
    with Stub(0) as stub:
        for _ in range(options.runs):
            for name in CLIENTS:
                command = [sys.executable, __file__, "--client", name, stub.url, *size]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                found[name].append(json.loads(done.stdout))
    print("| client | s | calls/s | processor ms a call |\n|---|---|---|---|")
    for name, runs in found.items():
        wall, cpu = (statistics.median(column) for column in zip(*runs, strict=True))
        print(f"| {name} | {wall:.2f} | {options.calls / wall:,.0f} | {cpu:.2f} |")


if __name__ == "__main__":
    main()
