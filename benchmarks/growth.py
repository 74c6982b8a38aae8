"""How time and memory of a run grow with its trials: recorded answers, offline, 1,000 to 1,000,000.

    python benchmarks/growth.py [--trials 1000 10000 100000] [--rounds 1] [--runs 1]

Each run is a whole process: a suite with the grader `contains`, answers from a recording, no
baseline, no HTML. The exponent is the slope of the logarithm of its processor time,
less that of a run of one case, over the logarithm of the trials, from 10,000 trials on: 1 is in
step with the trials, 2 with their square. Processor time counts, which other processes disturb
less than the wall's. Aims: an exponent of 1.05, 300 MB at 1,000,000 trials.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIG = """version: 1
agent: {{type: replay, file: answers.jsonl}}
suites:
  - name: growth
    dataset: cases.jsonl
    graders: [{{contains: {{key: expected}}}}]
    rounds: {rounds}
baseline: {{source: none}}
report: {{html: false}}
"""


def write_suite(folder: Path, trials: int, rounds: int) -> None:
    """Cases and their recorded answers; those of each 50th case are wrong."""
    folder.mkdir()
    (folder / "gate.yml").write_text(CONFIG.format(rounds=rounds), encoding="utf-8")
    with (
        (folder / "cases.jsonl").open("w", encoding="utf-8") as cases,
        (folder / "answers.jsonl").open("w", encoding="utf-8") as answers,
    ):
        for n in range(trials // rounds):
            question, code = f"What is the code of item {n}?", f"{n * 7919 % 65536:04x}"
            case = {"id": f"case-{n}", "input": question, "expected": code}
            cases.write(json.dumps(case) + "\n")
            said = code if n % 50 != 49 else "unknown"
            answer = {
                "case_id": case["id"],
                "input_digest": hashlib.sha256(json.dumps(question).encode()).hexdigest()[:16],
                "latency_ms": 100 + n % 400,
                "response": {"answer": f"The code is {said}.", "usage": {"input_tokens": 12}},
            }
            for number in range(1, rounds + 1):
                line = json.dumps({**answer, "round": number}, separators=(",", ":"))
                answers.write(line + "\n")


def measure(folder: Path, cases: int, rounds: int) -> dict[str, float]:
    """Wall and processor seconds, peak MB and MB on disk of one run."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "gate", "run", "--quiet"], cwd=folder, stdout=subprocess.PIPE
    )
    output = process.stdout.read() if process.stdout else b""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    session = max((folder / "results").iterdir())
    summary = json.loads((session / "summary.json").read_text(encoding="utf-8"))
    rate = summary["suites"]["growth"]["metrics"]["agent.success_rate"]
    passed, trials = (cases - cases // 50) * rounds, cases * rounds
    if status or (round(rate["value"] * trials), rate["n"]) != (passed, trials):
        raise SystemExit(f"a wrong result of {trials:,} trials: {rate}\n{output.decode()}")
    size = sum(path.stat().st_size for path in session.rglob("*") if path.is_file())
    return {
        "wall": wall,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss / 1024,
        "disk": size / 2**20,
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trials", nargs="+", type=int, default=[1_000, 10_000, 100_000])
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--runs", type=int, default=1)
    given = options.parse_args()
    rows: dict[int, dict[str, float]] = {}
    for trials in [given.rounds, *given.trials]:
        with tempfile.TemporaryDirectory() as name:
            folder, cases = Path(name) / "suite", trials // given.rounds
            write_suite(folder, trials, given.rounds)
            runs = [measure(folder, cases, given.rounds) for _ in range(given.runs)]
        rows[trials] = {kind: statistics.median(run[kind] for run in runs) for kind in runs[0]}
        print(f"{trials:,} trials: {rows[trials]['cpu']:.2f} s", file=sys.stderr)
    print("| trials | wall s | processor s | ms a trial | peak MB | session, MB |")
    print("|--:|--:|--:|--:|--:|--:|")
    start = rows.pop(given.rounds)["cpu"]
    for trials, row in rows.items():
        each = (row["cpu"] - start) / trials * 1000
        print(
            f"| {trials:,} | {row['wall']:.2f} | {row['cpu']:.2f} | {each:.3f} | {row['peak']:.0f} "
            f"| {row['disk']:.0f} |"
        )
    large = [trials for trials in rows if trials >= 10_000]
    if len(large) > 1:
        logs = [math.log(rows[trials]["cpu"] - start) for trials in large]
        slope = statistics.linear_regression([math.log(trials) for trials in large], logs).slope
        print(f"\nexponent from 10,000 trials on: {slope:.3f}")


if __name__ == "__main__":
    main()
