"""What user code in processes of its own costs: start and time a trial of an empty Python agent and
an empty grader of one's own, whole processes in turns.

    python benchmarks/user_code.py [CHECKOUT ...]

Without a checkout: this one. Another one, of an older version say, is measured beside it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES, REPEATS, CONCURRENCY = 2_000, 3, 32
CONFIG = """version: 1
agent: {{type: {agent}, concurrency: {concurrency}}}
suites:
  - name: s
    dataset: {cases}.jsonl
    graders: [{grader}]
    rounds: 1
regression: {{stop: "off"}}
"""
CODE = """from dataclasses import dataclass
from gate.records import MetricSpec, Score


def answer(case):
    return "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    keys = {}
    needs = ()

    def metrics(self):
        return (MetricSpec(name="correctness.mine", column="correctness.mine"),)

    def grade(self, case, response):
        return Score(values={"correctness.mine": 1.0}, passed=True)
"""
PYTHON, OWN = 'python, callable: "./code.py:answer"', '"./code.py:Mine"'
RUNS = {  # what is measured: agent, grader
    "sample agent, our grader": ("sample", "{contains: {text: a}}"),
    "empty Python agent, our grader": (PYTHON, "{contains: {text: y}}"),
    "empty Python agent, own empty grader": (PYTHON, OWN),
}


def main() -> None:
    checkouts = [Path(one).resolve() for one in sys.argv[1:]] or [Path(__file__).parents[1]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "code.py").write_text(CODE, encoding="utf-8")
        for cases in (1, CASES):
            lines = "".join(f'{{"id": "c{n}", "input": "q"}}\n' for n in range(cases))
            (folder / f"{cases}.jsonl").write_text(lines, encoding="utf-8")
        print(
            "| | checkout | one trial, ms | ms a further trial | peak MB |\n|:--|:--|--:|--:|--:|"
        )
        for title, (agent, grader) in RUNS.items():
            _table(title, agent, grader, checkouts, folder)


def _table(title: str, agent: str, grader: str, checkouts: list[Path], folder: Path) -> None:
    took: dict[tuple[Path, int], list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        for checkout in checkouts:
            for cases in (1, CASES):
                text = CONFIG.format(
                    agent=agent, grader=grader, cases=cases, concurrency=CONCURRENCY
                )
                (folder / "gate.yml").write_text(text, encoding="utf-8")
                took.setdefault((checkout, cases), []).append(_run(checkout, folder))
    for checkout in checkouts:
        one = statistics.median(seconds for seconds, _ in took[checkout, 1])
        many = statistics.median(seconds for seconds, _ in took[checkout, CASES])
        peak = statistics.median(megabytes for _, megabytes in took[checkout, CASES])
        each = (many - one) / (CASES - 1) * 1e3
        print(f"| {title} | {checkout.name} | {one * 1e3:.0f} | {each:.3f} | {peak:.0f} |")


def _run(checkout: Path, folder: Path) -> tuple[float, float]:
    """Seconds, and the megabytes of the largest process."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "gate", "run", "--quiet", "--out", str(folder / "results")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{checkout}: the run ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss / 1024


if __name__ == "__main__":
    main()
