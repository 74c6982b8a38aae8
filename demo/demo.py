"""The whole story: serve the sample agent, measure it, keep a baseline, break it, see it fail."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

GATE = [sys.executable, "-m", "gate"]
OUT = Path("results") / "demo"
CONFIG = """version: 1
agent: {{type: openai, base_url: "{url}", model: sample-analytics-1, concurrency: 8}}
suites:
  - name: analytics
    dataset: datasets/analytics/dataset.jsonl
    graders:
      - retrieval: {{k: [1, 3, 5, 10], pass_k: 5}}
      - facts
      - tool_calls: {{mode: superset, args: ignore}}
      - hallucination
      - structure
      - conciseness
    rounds: 3
pricing: {{sample-analytics-1: {{input: 0, output: 0}}}}
protect: false
"""
TASKS = """version: 1
agent: {{type: openai, base_url: "{url}", model: sample-analytics-1, concurrency: 8}}
suites:
  - name: trajectories
    dataset: datasets/trajectories/dataset.jsonl
    graders:
      - facts
      - tool_calls: {{mode: superset, args: superset}}
      - trajectory
      - json_format: {{key: answer_schema}}
    rounds: 1
gates: {{agent.success_rate: {{min: 0.6}}, agent.trajectory_score: {{min: 8}}}}
pricing: {{sample-analytics-1: {{input: 0, output: 0}}}}
protect: false
"""


def say(text: str) -> None:
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)


def gate(*arguments: str, expect: int) -> None:
    """Runs one gate command in the open; any other exit code ends the demo."""
    print("$ gate " + " ".join(arguments), flush=True)
    code = subprocess.run([*GATE, *arguments], check=False).returncode
    print(f"(exit {code})", flush=True)
    if code != expect:
        raise SystemExit(f"the demo expected exit {expect}")


class Served:
    """The sample agent over HTTP on a free port."""

    def __init__(self, *switches: str) -> None:
        command = [*GATE, "agent", "--port", "0", *switches]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = self._address()

    def _address(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            print(line, end="", flush=True)
            for word in line.split():
                if word.startswith("http://"):
                    return word.rstrip("/.,")
        raise SystemExit("the sample agent did not start")

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate()


def run(switches: Sequence[str], baseline: str, *, expect: int, written: str = CONFIG) -> Path:
    """One `gate run` against the sample agent with `switches`; returns its session folder."""
    before = set(OUT.glob("session-*"))
    with Served(*switches) as agent, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "gate.yml"
        data = Path("datasets").resolve().as_posix()
        text = written.format(url=agent.url).replace("datasets/", data + "/")
        config.write_text(text, encoding="utf-8")
        options = ["--config", str(config), "--baseline", baseline, "--out", str(OUT)]
        gate("run", *options, expect=expect)
    return next(iter(set(OUT.glob("session-*")) - before))


def main() -> None:
    stored = OUT / "baselines"
    shutil.rmtree(stored, ignore_errors=True)  # each demo starts its own pool
    say("1. The agent as main has it: measured, and kept as the baseline")
    first = run(["--seed", "1"], "none", expect=0)
    gate("baseline", "save", str(first), "--out", str(stored), expect=0)
    say("2. A pull request that changes nothing: pass")
    run(["--seed", "2"], str(stored), expect=0)
    say("3. A pull request that retrieves one document instead of five: blocked")
    broken = run(["--top-k", "1"], str(stored), expect=1)
    summary = json.loads((broken / "summary.json").read_text(encoding="utf-8"))
    say("4. Tasks of several steps: right answers, and an agent that goes round in circles")
    run(["--loop"], "none", expect=1, written=TASKS)
    say("What the third pull request would show")
    print(f"outcome: {summary['outcome']}\n{summary['reason']}\n")
    for name in ("comment.md", "report.html", "junit.xml", "summary.json", "details.jsonl"):
        print(f"  {broken / name}")


if __name__ == "__main__":
    main()
