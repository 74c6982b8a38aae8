"""A whole `gate action`: how many requests it makes, where its check stands, and that cancelling it
leaves nothing in progress.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.action_runs import act, environment
from tests.support.github_server import HEAD, REPOSITORY, GitHub
from tests.support.in_process import gate, run_command
from tests.support.paths import copy_a_third
from tests.support.runner import BASE

SUITE = "  - {name: NAME, dataset: d.jsonl, graders: [facts]}\n"
HEADER = "version: 1\nagent: {type: sample, options: {top_k: 5}}\n"
GATE = "gates:\n  correctness.fact_accuracy: {min: 0.999}\n"


def main_branch(
    workspace: Path, github: GitHub, suites: tuple[str, ...], more: str = "", below: str = ""
) -> None:
    """Rules, cases and a baseline, in the working tree and on main; no git, as in the image.
    `below`: their folder in the repository.
    """
    folder = workspace / below
    folder.mkdir(exist_ok=True)
    copy_a_third(folder / "d.jsonl")
    config = HEADER + more + "suites:\n" + "".join(SUITE.replace("NAME", name) for name in suites)
    (folder / "gate.yml").write_text(config, encoding="utf-8")
    assert gate(folder, "run", "--baseline", "none", "--stop", "off").returncode in (0, 1)
    (measured,) = (folder / "results").glob("session-*")
    run_command(folder, "baseline", "save", str(measured), "--out", "baselines")
    shutil.rmtree(folder / "results")
    for path in (folder / "gate.yml", folder / "d.jsonl", *(folder / "baselines").iterdir()):
        github.contents[BASE, path.relative_to(workspace).as_posix()] = path.read_bytes()
    github.runs.append(
        {"id": 7, "head_sha": HEAD, "workflow_id": 1, "event": "pull_request", "path": "g.yml"}
    )


def asked(github: GitHub) -> list[str]:
    prefix = f"/repos/{REPOSITORY}"
    return [f"{seen.method} {seen.path.removeprefix(prefix)}" for seen in github.seen]


@pytest.mark.parametrize(("suites", "most"), [(("s",), 12), (("s", "t"), 14)])
def test_a_run_makes_few_requests(
    github: GitHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suites: tuple[str, ...],
    most: int,
) -> None:
    """GitHub gives a workflow's token 1,000 requests an hour for the whole repository. The baseline
    is a file here; as an artifact it takes three requests more, or four (docs/github.md).
    """
    monkeypatch.chdir(tmp_path)
    main_branch(tmp_path, github, suites)
    for number in range(60):
        github.comment(f"talk {number}", user={"login": "mallory", "type": "User"})
    assert act(tmp_path, github) == 0
    assert github.comments[-1]["body"].startswith("<!-- agent-gate")
    assert github.checks[0]["conclusion"] == "success"
    assert len(asked(github)) <= most, "\n".join(asked(github))


@pytest.mark.parametrize("below", ["", "sub/"])
def test_the_check_points_at_the_lines_of_gate_and_case(
    github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    """Of the head commit, whose gate.yml has them elsewhere than the base that judges."""
    monkeypatch.chdir(tmp_path)
    main_branch(tmp_path, github, ("s",), GATE, below)
    file = tmp_path / below / "gate.yml"
    moved = "# moved\n" + file.read_text(encoding="utf-8").replace("top_k: 5", "top_k: 1")
    file.write_text(moved, encoding="utf-8")
    where = {"working-directory": below} if below else {"config": "gate.yml"}
    assert act(tmp_path, github, **where) == 1
    (check,) = github.checks
    notes: list[dict[str, Any]] = check["output"]["annotations"]
    limit = next(note for note in notes if "correctness.fact_accuracy" in note["title"])
    assert (limit["path"], limit["start_line"]) == (f"{below}gate.yml", 5)
    assert limit["annotation_level"] == "failure"
    rows = (tmp_path / below / "d.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [note for note in notes if note["path"] == f"{below}d.jsonl"]
    assert cases
    for note in cases:
        assert json.loads(rows[note["start_line"] - 1])["id"] in note["title"]


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_cancelled_run_is_over_in_time_and_leaves_no_check_in_progress(
    github: GitHub, tmp_path: Path, number: signal.Signals
) -> None:
    """GitHub sends SIGINT, after 7.5 s SIGTERM, after 2.5 s it kills."""
    main_branch(tmp_path, github, ("s",))
    config = (tmp_path / "gate.yml").read_text(encoding="utf-8")
    slow = config.replace("top_k: 5", "top_k: 5, latency_ms: 300")
    (tmp_path / "gate.yml").write_text(slow, encoding="utf-8")
    env = {"PATH": os.environ["PATH"], **environment(tmp_path, github)}
    log = tmp_path / "log"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "gate", "action"]
        process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=out, stderr=out)
        try:
            _until(lambda: bool(github.checks) and _trials(tmp_path) > 0, process)
            started = time.monotonic()
            process.send_signal(number)
            code = process.wait(30)
            took = time.monotonic() - started
        finally:
            process.kill()
    assert code == 128 + number, log.read_text(encoding="utf-8")
    (check,) = github.checks
    assert (check["status"], check["conclusion"]) == ("completed", "cancelled")
    assert github.comments == []
    assert took < 7.5


def _trials(folder: Path) -> int:
    return sum(
        len(path.read_bytes().splitlines()) for path in folder.glob("results/*/events.jsonl")
    )


def _until(true: Any, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if true():
            return
        assert process.poll() is None, "it ended too soon"
        time.sleep(0.05)
    raise AssertionError("it did not start in 30 s")
