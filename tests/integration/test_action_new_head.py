"""Heads of one pull request, pushed one after the other: the same files are one session."""

from __future__ import annotations

import argparse
import io
import json
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gate.commands.action import run
from tests.support.action_runs import hooks_on
from tests.support.github_server import GitHub, serving
from tests.support.in_process import run_command
from tests.support.paths import copy_a_third
from tests.support.runner import BASE, on_a_pull_request
from tests.support.session_artifacts import add_run, zipped

HEADS = ("1" * 40, "2" * 40, "3" * 40)
TREE, OTHER = "7" * 40, "8" * 40
CONFIG = """version: 1
agent: {type: sample, options: {top_k: TOP}MORE}
suites:
  - {name: s, dataset: d.jsonl, graders: [facts]}
"""


class Pushes:
    """A pull request on a main branch that has rules, cases and a baseline."""

    def __init__(self, folder: Path, github: GitHub) -> None:
        self.folder = folder
        self.github = github
        self.head = 0

    def main_has(self, more: str = "", top: str = "5") -> None:
        text = CONFIG.replace("TOP", top).replace("MORE", more)
        self.github.contents[BASE, "gate.yml"] = text.encode()

    def push(self, *, tree: str = TREE, top: str = "1", more: str = "", **env: str) -> Any:
        """The summary of the run that judges a new head; its session becomes an artifact."""
        text = CONFIG.replace("TOP", top).replace("MORE", more)
        (self.folder / "gate.yml").write_text(text, encoding="utf-8")
        sha, number = HEADS[self.head], 7 + self.head
        self.head += 1
        self.github.heads[3] = sha
        self.github.runs = [one for one in self.github.runs if one["id"] != number]
        kind = {"head_sha": sha, "head_commit": {"id": sha, "tree_id": tree}}
        add_run(self.github, number, None, conclusion=None, **kind)
        return self._judged(sha, number, kind, **env)

    def again(self, **env: str) -> Any:
        """The summary of another attempt of the last head's run."""
        sha, number = HEADS[self.head - 1], 6 + self.head
        kind = next(one for one in self.github.runs if one["id"] == number)
        return self._judged(sha, number, kind, GITHUB_RUN_ATTEMPT="2", **env)

    def _judged(self, sha: str, number: int, kind: dict[str, Any], **env: str) -> Any:
        env = {"GITHUB_RUN_ID": str(number), **env}
        given = on_a_pull_request(self.folder, self.github, head_sha=sha, **env)
        printed: list[str] = []
        assert run(argparse.Namespace(), given, hooks_on(self.github, printed.append)) in (0, 1)
        # What is gone on with stands beside what is begun anew.
        (*_, session) = sorted((self.folder / "results").glob("session-*"), key=_ended)
        files = {p.relative_to(session).as_posix(): p for p in session.rglob("*") if p.is_file()}
        whole = {name: path.read_bytes() for name, path in files.items()}
        self.github.runs = [one for one in self.github.runs if one["id"] != number]
        changes = {k: v for k, v in kind.items() if k in ("head_sha", "head_commit")}
        add_run(self.github, number, whole, **{**changes, "conclusion": "failure"})
        shutil.rmtree(self.folder / "results")
        return json.loads(whole["summary.json"])

    @property
    def comment(self) -> str:
        (comment,) = self.github.comments
        return str(comment["body"])


def _ended(session: Path) -> int:
    summary = session / "summary.json"
    return summary.stat().st_mtime_ns if summary.is_file() else 0


@pytest.fixture
def pushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pushes]:
    copy_a_third(tmp_path / "d.jsonl")
    text = CONFIG.replace("TOP", "5").replace("MORE", "")
    (tmp_path / "gate.yml").write_text(text, encoding="utf-8")
    run_command(tmp_path, "run", "--baseline", "none")
    (measured,) = (tmp_path / "results").glob("session-*")
    run_command(tmp_path, "baseline", "save", str(measured), "--out", "baselines")
    shutil.rmtree(tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    with serving(GitHub()) as server:
        found = Pushes(tmp_path, server)
        found.main_has()
        for name in ("d.jsonl", "baselines/s.json"):
            server.contents[BASE, name] = (tmp_path / name).read_bytes()
        yield found
        assert server.violations == []


def told(summary: Any, words: str) -> bool:
    return any(words in note for note in summary["notes"])


def same(one: Any, other: Any) -> bool:
    """Whether both are one session, and the same answers gave the same verdict."""
    keys: Sequence[str] = ("session_id", "outcome", "calls", "comparisons")
    return all(one[key] == other[key] for key in keys)


def test_a_head_with_the_same_files_gets_the_same_verdict_of_the_same_answers(
    pushes: Pushes,
) -> None:
    first, second = pushes.push(), pushes.push()
    assert first["outcome"] == "fail"
    assert first["calls"]["made"] < first["calls"]["cap"]
    assert same(first, second)
    assert second["provenance"]["commit"] == HEADS[1]
    assert told(second, "continues the session of `1111111`, which has the same files")
    assert told(second, "verdicts of earlier heads with the same files: `1111111` fail")
    assert "if the agent was deployed again since, set `agent.version`" in pushes.comment
    assert "`1111111` fail" in pushes.comment
    third = pushes.push()
    assert same(first, third)
    assert told(third, "with the same files: `1111111` fail, `2222222` fail")


def test_other_files_are_another_session(pushes: Pushes) -> None:
    first, second = pushes.push(), pushes.push(tree=OTHER)
    assert second["session_id"] != first["session_id"]
    assert not told(second, "goes on with")
    third = pushes.push()  # and going back to the first files goes back to their session
    assert third["session_id"] == first["session_id"]
    assert told(third, "with the same files: `1111111` fail")


def test_a_new_deployment_is_another_session(pushes: Pushes) -> None:
    """The base names the variable; the job's environment says what is deployed."""
    more = ", version: '${DEPLOYED}'"
    pushes.main_has(more)
    first = pushes.push(more=more, DEPLOYED="v1")
    second = pushes.push(more=more, DEPLOYED="v1")
    assert same(first, second)
    third = pushes.push(more=more, DEPLOYED="v2")
    assert third["session_id"] != first["session_id"]
    assert told(third, "agent.version changed since")


def test_the_pull_request_cannot_call_its_agent_a_new_one(pushes: Pushes) -> None:
    """`agent.version` is the base's."""
    first, second = pushes.push(more=", version: a"), pushes.push(more=", version: b")
    assert same(first, second)


def test_another_agent_is_another_session(pushes: Pushes) -> None:
    first, second = pushes.push(), pushes.push(top="2")
    assert second["session_id"] != first["session_id"]
    assert told(second, "an earlier commit with the same files was not used")


def test_the_pace_of_the_agent_is_no_other_agent(pushes: Pushes) -> None:
    first = pushes.push(more=", concurrency: 16")
    assert same(first, pushes.push(more=", concurrency: 8, timeout_s: 5"))


def test_only_the_files_of_agent_paths_count(pushes: Pushes) -> None:
    more = ", paths: [agent]"
    pushes.main_has(more)
    kept = {"path": "agent/a.py", "mode": "100644", "type": "blob", "sha": "a" * 40}
    for tree, sha in ((TREE, "1"), (OTHER, "2"), ("9" * 40, "3")):
        docs = {**kept, "path": "notes/a.md", "sha": sha * 40}
        pushes.github.trees[tree] = [kept, docs]
    first, second = pushes.push(), pushes.push(tree=OTHER)
    assert same(first, second)
    pushes.github.trees["9" * 40] = [{**kept, "sha": "b" * 40}]
    assert pushes.push(tree="9" * 40)["session_id"] != first["session_id"]


def test_the_baseline_is_the_new_bases(pushes: Pushes) -> None:
    """Main became as bad meanwhile: the same answers are no regression any more."""
    first = pushes.push()
    assert first["outcome"] == "fail"
    key = (BASE, "baselines/s.json")
    (pushes.folder / "gate.yml").write_text(
        CONFIG.replace("TOP", "1").replace("MORE", ""), encoding="utf-8"
    )
    run_command(pushes.folder, "run", "--baseline", "none")
    (measured,) = (pushes.folder / "results").glob("session-*")
    shutil.rmtree(pushes.folder / "baselines")
    run_command(pushes.folder, "baseline", "save", str(measured), "--out", "baselines")
    shutil.rmtree(pushes.folder / "results")
    pushes.github.contents[key] = (pushes.folder / "baselines/s.json").read_bytes()
    second = pushes.push()
    assert second["session_id"] == first["session_id"]
    assert second["outcome"] == "pass"
    assert told(second, "`1111111` fail")


def test_a_session_that_is_gone_is_told_in_the_comment(pushes: Pushes) -> None:
    first = pushes.push()
    pushes.github.artifacts.clear()
    second = pushes.push()
    assert second["session_id"] != first["session_id"]
    assert "`1111111` has the same files, but its session is gone" in pushes.comment


def test_a_re_run_of_the_new_head_goes_on_with_it_too(pushes: Pushes) -> None:
    first, second = pushes.push(), pushes.push()
    third = pushes.again()
    assert third["session_id"] == second["session_id"] == first["session_id"]
    assert third["calls"]["made"] > second["calls"]["made"]
    assert told(third, "was already complete: one batch of trials was added")


def test_a_session_of_another_pull_request_is_left_alone(pushes: Pushes) -> None:
    first = pushes.push()
    (number,) = pushes.github.artifacts
    stored = pushes.github.blobs[100 + number]
    assert isinstance(stored.body, bytes)
    pushes.github.blobs[100 + number] = type(stored)(200, _with_pull(stored.body), stored.headers)
    second = pushes.push()
    assert second["session_id"] != first["session_id"]
    assert told(second, "the pull request changed since")


def _with_pull(content: bytes) -> bytes:
    """The session of an artifact as if another pull request had made it."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    meta = json.loads(files["meta.json"])
    meta["provenance"]["pull_request"] = 4
    return zipped({**files, "meta.json": json.dumps(meta).encode()})
