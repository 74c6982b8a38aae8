"""A walk through a real repository of git: from `gate init` on master to another CI."""

import json
from pathlib import Path

import pytest

from tests.support.git_repository import git
from tests.support.in_process import gate, output_of, run_command, run_session
from tests.support.session_files import summary_of

CALM = {"CI": ""}


def commit(folder: Path, message: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text("utf-8")
    assert before in text
    file.write_text(text.replace(before, after), "utf-8")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A bare `origin` whose branch is master, and a clone with a baseline on it."""
    git(tmp_path, "init", "-q", "--bare", "-b", "master", "origin")
    git(tmp_path, "clone", "-q", f"file://{tmp_path}/origin", "work")
    folder = tmp_path / "work"
    git(folder, "symbolic-ref", "HEAD", "refs/heads/master")
    said = output_of(folder, "init", env=CALM)
    assert "The base branch is master" in said
    assert "branches: [master]" in (folder / ".github/workflows/gate-baseline.yml").read_text()
    (folder / ".gitignore").write_text("results\n")
    edit(folder / "gate.yml", "rounds: 3", "rounds: 1")
    commit(folder, "the gate")
    git(folder, "push", "-q", "origin", "master")
    session = run_session(folder, env=CALM)
    run_command(folder, "baseline", "save", str(session), env=CALM)
    detail = baseline_of(folder)["detail"]
    assert detail.startswith("repo: no baselines/first.json at ")
    assert " yet: commit it to master" in detail
    commit(folder, "a baseline")
    assert "it is committed here; push it, or merge it into master" in baseline_of(folder)["detail"]
    git(folder, "push", "-q", "origin", "master")
    assert baseline_of(folder)["source"] == "repo"
    return folder


def baseline_of(folder: Path, *arguments: str) -> dict[str, object]:
    session = run_session(folder, *arguments, env=CALM)
    return summary_of(session)["suites"]["first"]["baseline"]


def notes_of(folder: Path, *arguments: str, code: int = 0, **env: str) -> list[str]:
    session = run_session(folder, *arguments, code=code, env={**CALM, **env})
    return [note for note in summary_of(session)["notes"] if "cost of" not in note]


def test_a_walk_through_a_repository(work: Path, tmp_path: Path) -> None:
    master = git(work, "rev-parse", "master")
    git(work, "checkout", "-q", "-b", "topic")

    # A laptop: the files as they are, uncommitted; the baseline is master's.
    edit(work / "gate.yml", "min: 0.8, target: 0.9}", "min: 0.1, target: 0.9}")
    (note,) = notes_of(work)
    assert note.startswith(f"judged by your local files; master ({master[:7]}) has other")
    assert "gate.yml (gates); gate run --protect" in note
    assert baseline_of(work)["source"] == "repo"
    assert note in output_of(work, "validate", env=CALM).replace("`", "")

    # The rehearsal of the pull request, and the pull request itself.
    loosened = ["retrieval.recall@5 min 0.80 -> 0.10 in gate.yml:30"]
    rehearsed = summary_of(run_session(work, "--protect", env=CALM))
    told = [line.partition(" in ")[0] for line in rehearsed["loosened"]]
    assert told == [loosened[0].partition(" in ")[0]]
    head = commit(work, "easier")
    event = pull_request_of(tmp_path, head, master)
    judged = summary_of(run_session(work, env=event))
    assert judged["loosened"] == rehearsed["loosened"]
    said = output_of(work, "validate", env=event)
    assert f"a run here uses the rules and cases of master ({master[:7]})" in said
    Path(event["GITHUB_EVENT_PATH"]).write_text("{", "utf-8")
    broken = gate(work, "run", env=event)
    assert broken.returncode == 2
    assert "payload of event 'pull_request' cannot be read" in broken.stderr

    # Another CI is protected without being asked; a ref that is not there is a visible note.
    assert summary_of(run_session(work, env={"CI": "true"}))["loosened"] == judged["loosened"]
    own, *_ = notes_of(work, "--protect", "gone", CI="true")
    assert own.startswith("judged by its own rules: there is no branch gone here or on ")

    # A clone of one branch: what is missing is named, in a job as a note of the report.
    git(work, "push", "-q", "origin", "topic")
    only = ("--single-branch", "-b", "topic")
    git(tmp_path, "clone", "-q", *only, f"file://{tmp_path}/origin", "one")
    one, fetch = tmp_path / "one", "git fetch origin master:master"
    assert fetch in baseline_of(one)["detail"]
    rules, baseline = notes_of(one, CI="true")
    assert rules.startswith("judged by its own rules: master is on origin and was not fetched")
    assert baseline.startswith("the search for the baseline failed: repo: master is on origin")
    git(one, "fetch", "-q", "origin", "master:master")
    assert baseline_of(one)["source"] == "repo"

    # From a folder below: gate.yml is found, and its paths begin at its folder.
    (work / "docs" / "deep").mkdir(parents=True)
    below = gate(work / "docs" / "deep", "run", env=CALM)
    assert below.returncode == 0, below.stderr
    assert "gate: ../../gate.yml is used; its paths are relative to its folder" in below.stderr
    assert "Session written to: ../../results/session-" in below.stdout
    assert "baselines/first.json" in output_of(work / "docs", "baseline", "show", env=CALM)


def pull_request_of(folder: Path, head: str, base: str) -> dict[str, str]:
    repository = {"full_name": "o/r", "id": 1, "default_branch": "master"}
    pull = {
        "number": 3,
        "head": {"sha": head, "ref": "topic", "repo": repository},
        "base": {"sha": base, "ref": "master"},
    }
    file = folder / "event.json"
    file.write_text(json.dumps({"pull_request": pull, "repository": repository}), "utf-8")
    return {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": "o/r",
    }


def test_without_gate_yml_the_way_on_is_told(tmp_path: Path) -> None:
    none = {"CI": "", "OPENAGENT_PROVIDER_KEY": ""}
    for command in (("run",), ("validate",), ("plan",), ("baseline", "show"), ("history",)):
        said = gate(tmp_path, *command, env=none)
        assert said.returncode == 2, command
        assert "no gate.yml in this folder" in said.stderr
        assert "create one with `gate init`" in said.stderr
    (tmp_path / "tool.jsonl").write_text("")
    said = output_of(tmp_path, "validate", "--suite", "tool", env=none)
    assert "tool.jsonl is in this folder but not used" in said
    key = {**none, "OPENAGENT_PROVIDER_KEY": "k"}
    assert "4 suites" in output_of(tmp_path, "validate", env=key)
