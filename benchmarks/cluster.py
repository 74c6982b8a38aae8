"""`gate run` and `gate grade` by two workers of a Dask cluster on loopback, beside threads and
processes of the command.

    python benchmarks/cluster.py [--trials 5000] [--graded 20000] [--runs 3]

Wants `pip install -e ".[dask]"`. Each run is a whole process, start-up, verdict and reports
included; the variants take turns. `processor s` are user and system seconds: of the command with
its processes, and of scheduler and workers together (from /proc, so it needs Linux).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grade

LOOPBACK = ("--host", "127.0.0.1", "--no-dashboard")
BODY = json.dumps(
    {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
).encode()
CONFIG = """version: 1
agent: {{type: openai, base_url: "{url}", model: m, concurrency: 64}}
suites: [{{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 5}}]
baseline: {{source: none}}
"""


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    delay_s = 0.0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.delay_s)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *arguments: object) -> None:
        pass


def serve(delay_s: float) -> None:
    """An agent in this process; prints its address."""
    Agent.delay_s = delay_s
    server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


@contextmanager
def agent(delay_s: float) -> Iterator[str]:
    words = [sys.executable, __file__, "--serve", str(delay_s)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """The scheduler's address, and the ids of its process and those of two workers."""
    dask, quiet = [sys.executable, "-m", "dask"], {"stderr": subprocess.DEVNULL, "cwd": folder}
    file = folder / "scheduler.json"
    place = ("--port", "0", "--no-show", "--scheduler-file", str(file))
    started = [subprocess.Popen([*dask, "scheduler", *LOOPBACK, *place], **quiet)]
    try:
        while not file.exists() or not file.read_text():
            time.sleep(0.05)
        address = json.loads(file.read_text())["address"]
        alone = ("--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
        started += [
            subprocess.Popen([*dask, "worker", address, *LOOPBACK, *alone], **quiet)
            for _ in range(2)
        ]
        yield address, [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def measure(folder: Path, words: list[str], others: list[int]) -> dict[str, float]:
    """One command: its seconds of the wall and of processors, and those of other processes."""
    start, before = time.perf_counter(), sum(map(_processor_s, others))
    command = [sys.executable, "-m", "gate", *words, "--quiet"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(words)}: status {status}")
    return {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "others": sum(map(_processor_s, others)) - before,
    }


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compare(
    title: str, folder: Path, variants: dict[str, list[str]], others: list[int], runs: int
) -> None:
    measured: dict[str, list[dict[str, float]]] = {name: [] for name in variants}
    for _ in range(runs):
        for name, words in variants.items():
            measured[name].append(measure(folder, words, others))
    print(f"\n{title}, medians of {runs}\n")
    print("| | wall s | processor s of the command | of scheduler and workers |")
    print("|:--|--:|--:|--:|")
    for name, some in measured.items():
        row = {key: statistics.median(run[key] for run in some) for key in some[0]}
        print(f"| {name} | {row['wall']:.1f} | {row['cpu']:.1f} | {row['others']:.1f} |")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=5_000)
    options.add_argument("--graded", type=int, default=20_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--serve", type=float)
    given = options.parse_args()
    if given.serve is not None:
        serve(given.serve)
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as (address, others):
        dask = ["--executor", "dask", "--scheduler", address]
        for delay_s, trials in ((0.0, given.trials), (0.2, given.trials // 5)):
            project = Path(name) / f"run-{delay_s}"
            project.mkdir()
            cases = (
                {"id": f"c{n}", "input": "?", "expected_answer": "yes"} for n in range(trials // 5)
            )
            (project / "cases.jsonl").write_text("".join(json.dumps(one) + "\n" for one in cases))
            with agent(delay_s) as url:
                (project / "gate.yml").write_text(CONFIG.format(url=url))
                variants = {"threads": ["run"], "two workers": ["run", *dask]}
                title = f"{trials:,} trials of {delay_s * 1e3:.0f} ms at concurrency 64"
                compare(title, project, variants, others, given.runs)
        project = Path(name) / "graded"
        grade.write_project(project, given.graded)
        words = ["grade", "answers.jsonl"]
        processes = {f"{n} processes": [*words, "--processes", str(n)] for n in (1, 2)}
        variants = {**processes, "two workers": [*words, *dask]}
        compare(f"{given.graded:,} recorded answers", project, variants, others, given.runs)


if __name__ == "__main__":
    main()
