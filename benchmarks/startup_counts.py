"""What `gate run` loads before its first request leaves, and the Python calls of a whole run beside
its trials: counts, which are the same on every machine. `run.py startup` has the times.

    python benchmarks/startup_counts.py

The agent is an OpenAI-compatible server on loopback, the grader `contains`, without baseline and
HTML. Modules are counted when the agent's address is first connected to. Calls are those of Python
functions that `sys.setprofile` sees, in all threads, imports included; those beside the trials are
what a straight line through runs of 10 and 20 trials says of none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COUNTED = """
import atexit, itertools, json, os, runpy, sys, threading

port, told, counting = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "calls"
calls, found, end = itertools.count(), {}, os._exit

def seen(event, arguments):
    if event == "socket.connect" and "modules" not in found and arguments[1][1:2] == (port,):
        names = set(sys.modules)
        found["modules"] = len(names)
        found["ours"] = sum(name.split(".")[0] == "gate" for name in names)

def tell():
    sys.setprofile(None)
    with open(told, "w") as file:
        json.dump({**found, "calls": next(calls)}, file)

def exit_now(code):
    tell()
    end(code)

sys.addaudithook(seen)
atexit.register(tell)
os._exit = exit_now
sys.argv = ["gate", "run", "--quiet"]
if counting:
    count = lambda frame, event, argument: event == "call" and next(calls)
    threading.setprofile(count)
    sys.setprofile(count)
runpy.run_module("gate", run_name="__main__", alter_sys=True)
"""
CONFIG = """version: 1
agent: {{type: openai, base_url: "http://127.0.0.1:{port}", model: m, concurrency: 1}}
suites:
  - {{name: s, dataset: cases.jsonl, graders: [{{contains: {{text: code}}}}], rounds: 1}}
baseline: {{source: none}}
report: {{html: false}}
"""


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "the code is 7"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        data = json.dumps({"id": "x", "model": "m", "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


def counted(port: int, cases: int, what: str) -> dict[str, int]:
    """One run in a process and folder of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [json.dumps({"id": f"c{n}", "input": f"What is {n}?"}) + "\n" for n in range(cases)]
        (folder / "cases.jsonl").write_text("".join(rows), encoding="utf-8")
        (folder / "gate.yml").write_text(CONFIG.format(port=port), encoding="utf-8")
        home = os.environ.get("PYTHONPATH") or str(Path(__file__).resolve().parents[1])
        done = subprocess.run(
            [sys.executable, "-c", COUNTED, str(port), "counted.json", what],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": home},
            capture_output=True,
            text=True,
            check=False,
        )
        if not (folder / "counted.json").exists() or not (folder / "results").exists():
            raise SystemExit(f"the run did not end well:\n{done.stdout}{done.stderr}")
        found: dict[str, int] = json.loads((folder / "counted.json").read_text())
        return found


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    port = server.server_address[1]
    counted(port, 1, "modules")  # compiled files are written
    loaded = counted(port, 1, "modules")
    one, ten, twenty = (counted(port, cases, "calls")["calls"] for cases in (1, 10, 20))
    server.shutdown()
    print(f"modules when the first request leaves: {loaded['modules']}, ours {loaded['ours']}")
    print(f"Python calls of a run with one trial: {one:,}")
    print(f"a trial: {(twenty - ten) / 10:,.0f}; beside the trials: {2 * ten - twenty:,}")


if __name__ == "__main__":
    main()
