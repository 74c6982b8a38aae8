"""From the start of a container to the agent's first call, and the floor below it.

    python benchmarks/container_start.py [--image localhost/agent-gate:test] [--runs 7]

Builds the image first (cached) with container_build.sh of the folder that GATE_TOOLS names, then
starts it with the same engine and options as that script, in turns: a bare Python, Python that
makes one HTTP request, `gate --version`, `gate run` and the action on a pull request. The agent and
GitHub are this process, which notes when the agent is first asked. Every figure is wall time from
the start of the engine's command line.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parent.parent
CASES = 12
ANSWER = {
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1},
}
ONE_REQUEST = """
import http.client
c = http.client.HTTPConnection("127.0.0.1", PORT)
c.request("POST", "/v1/chat/completions", b"{}")
c.getresponse().read()
"""


class Agent:
    """Answers at once; `first` is when it was first asked since it was set to None."""

    def __init__(self) -> None:
        agent = self
        self.first: float | None = None

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                agent.first = agent.first or time.perf_counter()
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.reply(200, ANSWER)

            def do_GET(self) -> None:
                """GitHub's API, of a repository with nothing in it."""
                empty = {"total_count": 0, "artifacts": [], "workflow_runs": []}
                self.reply(200 if "/actions/" in self.path else 404, empty)

            def reply(self, status: int, data: object) -> None:
                body = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                """Nothing is logged."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def workspace(folder: Path, port: int) -> None:
    """A suite of a few cases, its baseline, and the payload of a pull request."""
    config = f"""version: 1
agent: {{type: openai, base_url: "http://127.0.0.1:{port}", model: m}}
suites: [{{name: s, dataset: s.jsonl, graders: [exact_match], rounds: 3}}]
"""
    (folder / "gate.yml").write_text(config, encoding="utf-8")
    cases = [{"id": f"c{n}", "input": "?", "expected_answer": "yes"} for n in range(CASES)]
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (folder / "s.jsonl").write_text(lines, encoding="utf-8")
    payload = {
        "number": 1,
        "repository": {"full_name": "octocat/demo", "default_branch": "main"},
        "pull_request": {
            "number": 1,
            "head": {"sha": "a" * 40, "ref": "x", "repo": {"full_name": "octocat/demo"}},
            "base": {"sha": "b" * 40, "ref": "main", "repo": {"full_name": "octocat/demo"}},
        },
    }
    (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")


def engine(folder: Path, image: str, *options: str) -> list[str]:
    """As container_build.sh starts it."""
    limits = ("--ulimit", "nofile=1024:1024", "--ulimit", "nproc=8192:8192")
    place = ("--volume", f"{folder}:/github/workspace", "--workdir", "/github/workspace")
    runtime = os.environ.get("BUILDAH_RUNTIME", "runc")
    start = ("podman", "run", "--rm", "--runtime", runtime, "--network", "host")
    return [*start, *limits, *place, *options, image]


def whole(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def to_the_first_call(agent: Agent) -> Callable[[list[str]], float]:
    def measure(command: list[str]) -> float:
        agent.first = None
        started = time.perf_counter()
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if agent.first is None:
            raise SystemExit(f"the agent was never asked:\n{ended.stdout}{ended.stderr}")
        return agent.first - started

    return measure


def variants(agent: Agent, folder: Path, image: str) -> dict[str, Callable[[], float]]:
    python = ("--entrypoint", "/usr/local/bin/python")
    action = {
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": "/github/workspace/event.json",
        "GITHUB_REPOSITORY": "octocat/demo",
        "GITHUB_WORKSPACE": "/github/workspace",
        "INPUT_BASELINE": "none",
        "INPUT_COMMENT": "never",
    }
    given = [word for name, text in action.items() for word in ("--env", f"{name}={text}")]
    hub = ("--env", f"GITHUB_API_URL=http://127.0.0.1:{agent.port}")
    hub += ("--env", "INPUT_GITHUB-TOKEN=token")
    request = ONE_REQUEST.replace("PORT", str(agent.port))
    first = to_the_first_call(agent)
    return {
        "python -c pass (whole)": lambda: whole([*engine(folder, image, *python), "-IBc", "pass"]),
        "gate --version (whole)": lambda: whole([*engine(folder, image), "--version"]),
        "python, one request": lambda: first([*engine(folder, image, *python), "-IBc", request]),
        "gate run": lambda: first([*engine(folder, image), "run", "--baseline=none"]),
        "the action, no token": lambda: first(engine(folder, image, *given)),
        "the action, GitHub answers at once": lambda: first(engine(folder, image, *given, *hub)),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--image", default="localhost/agent-gate:test")
    options.add_argument("--runs", type=int, default=7)
    given = options.parse_args()
    tools = os.environ.get("GATE_TOOLS")
    if tools:
        build = ["bash", f"{tools}/container_build.sh", str(ROOT), "--tag", given.image, "--no-run"]
        subprocess.run(build, check=True)
    agent = Agent()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace(folder, agent.port)
        found = variants(agent, folder, given.image)
        times: dict[str, list[float]] = {what: [] for what in found}
        for _ in range(given.runs):
            for what, measure in found.items():
                times[what].append(measure())
    floor = statistics.median(times["python -c pass (whole)"])
    print(f"\n| {given.runs} runs each | median s | fastest s | ratio to the floor |")
    print("|:--|--:|--:|--:|")
    for what, all_of_it in times.items():
        middle = statistics.median(all_of_it)
        print(f"| {what} | {middle:.2f} | {min(all_of_it):.2f} | {middle / floor:.2f} |")


if __name__ == "__main__":
    main()
