"""`gate demo`: the whole story with the sample agent and its documents, which come with Agent Gate:
measure it, keep a baseline, change nothing, break it, let it go round in circles, switch it off.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from gate.errors import InfrastructureError
from gate.files import bundled

GATE = (sys.executable, "-m", "gate")
CONFIG = """version: 1
agent: {{{agent}, concurrency: 8}}
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
agent: {{{agent}, concurrency: 8}}
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
SAMPLE = "type: sample, options: {{{options}}}"
NOBODY = 'type: openai, base_url: "http://127.0.0.1:9", model: sample-analytics-1'  # none listens
_SEEN = (
    "An unchanged agent passes: noise alone does not block.",
    "A worse retrieval is blocked, with the cases that newly fail and the cause they share.",
    "An agent that goes round in circles fails by its steps, although its answers are right.",
    "An agent that cannot be reached is an outage: exit code 6, and no verdict about it.",
)
PASS, FAIL, OUTAGE = 0, 1, 6  # exit codes


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Tells the story and returns 0. Raises InfrastructureError where a command ends otherwise
    than it should.
    """
    story = Story(Path(options.out), env)
    story.tell()
    return 0


class Story:
    """The runs of the demo, one after the other; their sessions are in `out`."""

    def __init__(self, out: Path, env: Mapping[str, str]) -> None:
        self._out, self._env = out, dict(env)
        self._baseline = out / "baselines"
        self._step = 0

    def tell(self) -> None:
        shutil.rmtree(self._baseline, ignore_errors=True)  # each demo starts its own pool
        kept = str(self._baseline)
        _say("1. The agent as main has it: measured, and kept as the baseline")
        first = self._measure("seed: 1", "none", expect=PASS)
        self._gate("baseline", "save", str(first), "--out", kept, expect=PASS)
        _say("2. A pull request that changes nothing: pass")
        self._measure("seed: 2", kept, expect=PASS)
        _say("3. A pull request that retrieves one document instead of five: blocked")
        broken = self._measure("top_k: 1", kept, expect=FAIL)
        _say("4. Tasks of several steps: right answers, and an agent that goes round in circles")
        self._measure("loop: true", "none", expect=FAIL, written=TASKS)
        _say("5. The agent is switched off: an outage, which is not a fail")
        self._run_config(NOBODY, kept, CONFIG, expect=OUTAGE)
        _say("What was seen")
        for line in _SEEN:
            print(f"  {line}")
        _say("What the third pull request would show")
        for name in ("comment.md", "report.html", "junit.xml", "summary.json", "details.jsonl"):
            print(f"  {broken / name}")

    def _measure(self, options: str, baseline: str, *, expect: int, written: str = CONFIG) -> Path:
        """One `gate run` of the sample agent with `options`; returns its session. The agent is a
        part of the run, so that the commands that the run prints go on working.
        """
        agent = SAMPLE.format(options=options)
        return self._run_config(agent, baseline, written, expect=expect)

    def _run_config(self, agent: str, baseline: str, written: str, *, expect: int) -> Path:
        before = set(self._out.glob("session-*"))
        self._step += 1
        self._out.mkdir(parents=True, exist_ok=True)
        config = self._out / f"gate-{self._step}.yml"  # stays: the printed commands name it
        data = bundled.folder().as_posix()
        text = written.format(agent=agent).replace("datasets/", f"{data}/")
        config.write_text(text, encoding="utf-8")
        words = ("--config", str(config), "--baseline", baseline, "--out", str(self._out))
        self._gate("run", *words, expect=expect)
        return next(iter(set(self._out.glob("session-*")) - before))

    def _gate(self, *arguments: str, expect: int) -> None:
        """Runs one command of ours as everybody would type it."""
        print(f"$ gate {' '.join(arguments)}", flush=True)
        code = subprocess.run(  # noqa: S603 - ourselves
            [*GATE, *arguments], env=self._env, check=False
        ).returncode
        print(f"(exit {code})", flush=True)
        if code != expect:
            raise InfrastructureError(
                f"gate {arguments[0]} ended with {code}, and {expect} was expected"
            )


def _say(text: str) -> None:
    print(f"\n\033[1m== {text}\033[0m" if sys.stdout.isatty() else f"\n== {text}", flush=True)
