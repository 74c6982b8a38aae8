"""`gate grade` with one process and with several: recorded answers through three graders.

    python benchmarks/grade.py [--trials 50000] [--processes 1 2] [--runs 3]

Each run is a whole process, start-up, verdict and reports included; the variants take turns. Five
rounds a case, answers of 0.9 KB, the graders `facts`, `retrieval` and `tool_calls`, no baseline.
`peak` is the memory of all processes of a run together at its highest (what they share counts
once), looked at ten times a second, so it needs Linux. Aim: two processes on two cores are 1.6
times as fast as one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROUNDS = 5
CONFIG = f"""version: 1
agent: {{type: openai, base_url: "http://127.0.0.1:9"}}
suites:
  - name: main
    dataset: cases.jsonl
    rounds: {ROUNDS}
    graders: [facts, retrieval, tool_calls]
baseline: {{source: none}}
"""
FILL = "The regional team looked at the figures again and found nothing to change. "


def write_project(folder: Path, trials: int) -> None:
    """Cases, and an answer to each round of them; each fifth case is answered wrong."""
    dice, cases = random.Random(20261123), -(-trials // ROUNDS)
    folder.mkdir()
    (folder / "gate.yml").write_text(CONFIG, encoding="utf-8")
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for n in range(cases):
            file.write(json.dumps(_case(n)) + "\n")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as file:
        for number in range(1, ROUNDS + 1):
            for n in range(cases):
                file.write(json.dumps(_answer(n, number, dice)) + "\n")


def _case(n: int) -> dict[str, object]:
    calls = [{"name": "run_sql", "args": {"query": _query(n)}}]
    return {
        "id": f"case-{n}",
        "input": f"How many orders came in from region {n}?",
        "expected_facts": [{"value": 1000 + n}, {"value": f"{n % 90 + 10} %"}],
        "relevant_doc_ids": [f"doc-{n}", f"doc-{n + 1}"],
        "expected_tool_calls": [*calls, {"name": "format", "args": {"unit": "orders"}}],
    }


def _answer(n: int, number: int, dice: random.Random) -> dict[str, object]:
    orders = 1000 + n if n % 5 else 7
    documents = [f"doc-{other}" for other in dice.sample(range(n + 2, n + 200), 9)]
    documents.insert(dice.randrange(9), f"doc-{n}")
    calls: list[dict[str, object]] = [{"name": "run_sql", "arguments": {"query": _query(n)}}]
    return {
        "case_id": f"case-{n}",
        "round": number,
        "latency_ms": round(dice.uniform(200, 2000), 3),
        "answer": f"Region {n} had {orders} orders, {n % 90 + 10} % more than in the year before. "
        + FILL * dice.randrange(1, 8),
        "retrieved": documents,
        "tool_calls": [*calls, {"name": "format", "arguments": {"unit": "orders"}}],
        "usage": {"input_tokens": 900, "output_tokens": 120},
    }


def _query(n: int) -> str:
    return f"select count(*) from orders where region = {n}"


def measure(folder: Path, trials: int, processes: int) -> dict[str, float]:
    """Seconds of the wall and of processors, and peak MB of one run."""
    command = [sys.executable, "-m", "gate", "grade", "answers.jsonl", "--quiet"]
    words = [*command, "--processes", str(processes)]
    start, peak, grading = time.perf_counter(), 0.0, 0.0
    running = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    while True:
        ended, status, used = os.wait4(running.pid, os.WNOHANG)
        if ended:
            break
        family = list(_family(running.pid))
        used_now = sum(map(_memory, family))
        peak = max(peak, used_now)
        grading = max(grading, used_now if len(family) > 1 else 0.0)
        time.sleep(0.1)
    wall = time.perf_counter() - start
    session = max((folder / "results").iterdir())
    summary = json.loads((session / "summary.json").read_text(encoding="utf-8"))
    made = summary["suites"]["main"]["trials"]
    rate = summary["suites"]["main"]["metrics"]["agent.success_rate"]["value"]
    if status or made != -(-trials // ROUNDS) * ROUNDS or abs(rate - 0.8) > 0.01:
        raise SystemExit(f"a wrong result: status {status}, {made} trials, success rate {rate}")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "grading": grading, "peak": peak}


def _family(pid: int) -> Iterator[int]:
    """The process and all that it started."""
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [(task / "children").read_text().split() for task in tasks]
    except OSError:
        return
    for child in map(int, {one for some in children for one in some}):
        yield from _family(child)


def _memory(pid: int) -> float:
    """MB; what several processes share counts for each in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", type=int, default=50_000)
    options.add_argument("--processes", nargs="+", type=int, default=[1, 2])
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    runs: dict[int, list[dict[str, float]]] = {n: [] for n in given.processes}
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "project"
        write_project(project, given.trials)
        for _ in range(given.runs):
            for processes, some in runs.items():
                some.append(measure(project, given.trials, processes))
    print(f"{given.trials:,} trials, {os.cpu_count()} cores, medians of {given.runs}\n")
    print("| processes | wall s | ratio | processor s | trials/s | MB while grading | peak MB |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    first = statistics.median(run["wall"] for run in runs[given.processes[0]])
    for processes, some in runs.items():
        row = {key: statistics.median(run[key] for run in some) for key in some[0]}
        print(
            f"| {processes} | {row['wall']:.1f} | {first / row['wall']:.2f} | {row['cpu']:.1f} "
            f"| {given.trials / row['wall']:,.0f} | {row['grading'] or row['peak']:.0f} "
            f"| {row['peak']:.0f} |"
        )
    print(f"\ntime of the last row, where the first takes 1: {row['wall'] / first:.3f}")


if __name__ == "__main__":
    main()
