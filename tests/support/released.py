"""A release run for real, in this process: two suites, a baseline, the push of a tag."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gate.commands.options.all import parse
from gate.commands.options.records import run_options
from gate.run.execute import execute
from gate.run.judge import Outcome
from gate.run.options import Host

COMMIT = "c0ffee" + "0" * 34
TAG = "v1.2.0"
KEY = "sk-hunter2-hunter2"
AGENT = """
def agent(case):
    return "no KEY" if case["input"].split()[0] in WRONG else "yes"
"""
CONFIG = """version: 1
agent: {type: python, callable: "./agent0.py:agent"}
suites:
  - {name: s, dataset: s.jsonl, graders: [exact_match], rounds: 3}
  - {name: t, dataset: t.csv, graders: [exact_match, {contains: {text: "yes"}}], rounds: 2}
gates: {agent.success_rate: {min: 0.5, rule: point}}
"""


def project(root: Path, *, wrong: int = 0, config: str = CONFIG) -> None:
    """`wrong`: how many of the 12 cases of a suite the agent gets wrong."""
    words = [str(n) for n in range(wrong)]
    agent = AGENT.replace("WRONG", repr(words)).replace("KEY", KEY)
    # A file of one name is loaded once in a process.
    (root / f"agent{wrong}.py").write_text(agent, encoding="utf-8")
    config = config.replace("agent0.py", f"agent{wrong}.py")
    (root / "gate.yml").write_text(config, encoding="utf-8")
    cases = [{"id": f"c{n:02d}", "input": f"{n} ?", "expected_answer": "yes"} for n in range(12)]
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    (root / "s.jsonl").write_text(lines, encoding="utf-8")
    rows = "".join(f"{','.join(case.values())}\n" for case in cases)
    (root / "t.csv").write_text("id,input,expected_answer\n" + rows, encoding="utf-8")


def on_a_tag(root: Path) -> dict[str, str]:
    """The environment that GitHub gives a job on the push of a tag."""
    event = root / "event.json"
    payload = {"ref": f"refs/tags/{TAG}", "repository": {"default_branch": "main"}}
    event.write_text(json.dumps(payload), encoding="utf-8")
    return {
        "GITHUB_EVENT_NAME": "push",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_SHA": COMMIT,
        "GITHUB_REF": f"refs/tags/{TAG}",
        "GITHUB_REPOSITORY": "octocat/demo",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_RUN_ID": "7",
        "PROVIDER_KEY": KEY,
    }


def run(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Outcome:
    """`gate run` in `root`."""
    out = (f"--config={root / 'gate.yml'}", f"--out={root / 'results'}", "--quiet")
    options = parse(["run", *out, *arguments])
    return execute(run_options(options), Host(env=env or {}))


def release(root: Path, *arguments: str, wrong: int = 0) -> Outcome:
    """Measures the unchanged agent, then releases one with `wrong` wrong answers against it."""
    project(root)
    before = run(root, "--baseline=none").session_dir
    project(root, wrong=wrong)
    return run(root, f"--baseline={before}", *arguments, env=on_a_tag(root))
