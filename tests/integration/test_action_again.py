"""`gate action` from the event to the comment, run for real, and the re-run of its job."""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gate.commands.action import run
from tests.support.action_runs import hooks_on
from tests.support.github_server import HEAD, GitHub, serving
from tests.support.in_process import run_command
from tests.support.paths import copy_a_third
from tests.support.runner import BASE, on_a_pull_request
from tests.support.session_artifacts import add_run

CONFIG = """version: 1
agent: {type: sample, options: {top_k: TOP}}
suites:
  - {name: s, dataset: d.jsonl, graders: [facts]}
"""


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """A pull request on a main branch that has rules, cases and a baseline."""
    copy_a_third(tmp_path / "d.jsonl")
    (tmp_path / "gate.yml").write_text(CONFIG.replace("TOP", "5"), encoding="utf-8")
    run_command(tmp_path, "run", "--baseline", "none")
    (measured,) = (tmp_path / "results").glob("session-*")
    run_command(tmp_path, "baseline", "save", str(measured), "--out", "baselines")
    shutil.rmtree(tmp_path / "results")
    with serving(GitHub()) as server:
        for name in ("gate.yml", "d.jsonl", "baselines/s.json"):
            server.contents[BASE, name] = (tmp_path / name).read_bytes()
        server.heads[3] = HEAD
        yield server
        assert server.violations == []


def act(folder: Path, github: GitHub, attempt: int, code: int = 1) -> dict[str, Any]:
    """The summary of the session that the step leaves."""
    env = on_a_pull_request(folder, github, GITHUB_RUN_ATTEMPT=str(attempt))
    printed: list[str] = []
    assert run(argparse.Namespace(), env, hooks_on(github, printed.append)) == code, printed
    (session,) = (folder / "results").glob("session-*")
    found: dict[str, Any] = json.loads((session / "summary.json").read_text(encoding="utf-8"))
    return found


def upload(folder: Path, github: GitHub) -> None:
    """What actions/upload-artifact makes of the session folder, which then is gone."""
    (session,) = (folder / "results").glob("session-*")
    files = {p.relative_to(session).as_posix(): p for p in session.rglob("*") if p.is_file()}
    add_run(github, 7, {name: path.read_bytes() for name, path in files.items()})
    shutil.rmtree(folder / "results")


@pytest.fixture
def first(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The summary of the first attempt of a pull request that made the agent worse."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.yml").write_text(CONFIG.replace("TOP", "1"), encoding="utf-8")
    made = act(tmp_path, github, 1)
    assert made["outcome"] == "fail"
    return made


def test_a_re_run_adds_rounds_to_what_the_first_attempt_measured(
    github: GitHub, tmp_path: Path, first: dict[str, Any]
) -> None:
    assert 0 < first["calls"]["made"] < first["calls"]["planned"]
    (comment,) = github.comments
    assert f"{first['calls']['saved']} saved" in comment["body"]
    upload(tmp_path, github)
    second = act(tmp_path, github, 2)
    assert second["session_id"] == first["session_id"]
    assert second["calls"]["made"] > first["calls"]["made"]
    assert second["suites"]["s"]["look"] == first["suites"]["s"]["look"] + 1
    assert "was already complete: one batch of trials was added" in str(second["notes"])
    (comment,) = github.comments
    assert "run=7.2" in comment["body"]
    assert "continues the stored session" in comment["body"]


def test_an_accepted_change_turns_the_re_run_green_and_the_rest_is_still_asked(
    github: GitHub, tmp_path: Path, first: dict[str, Any]
) -> None:
    upload(tmp_path, github)
    github.runs[0]["created_at"] = "2026-01-02T10:00:00Z"
    github.permissions["ann"] = "write"
    said = github.comment("/gate accept top_k 1 is cheaper", user={"login": "ann", "type": "User"})
    said["created_at"] = "2026-01-02T11:00:00Z"
    second = act(tmp_path, github, 2, code=0)
    assert (second["outcome"], second["exit_code"]) == ("pass", 0)
    statuses = {row["metric"]: row["status"] for row in second["comparisons"]}
    assert statuses["agent.success_rate"] == "accepted"
    (change,) = second["accepted"]
    assert (change["who"], change["why"]) == ("ann", "top_k 1 is cheaper")
    comment = github.comments[0]["body"]
    assert "run=7.2" in comment
    assert "accepted" in comment
    (session,) = (tmp_path / "results").glob("session-*")
    meta = json.loads((session / "meta.json").read_text(encoding="utf-8"))
    assert meta["session_id"] == first["session_id"]
