"""The life of a project that uses the published action: `gate init`, no baseline, one from main, a
red pull request, accepted, merged, green, released. The workflows are those that `gate init` of a
released package writes and examples/release.yml; git and GitHub's API are there, the action is read
from the commit that the release made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml

from gate import __version__
from gate.commands.init import render_files
from gate.commands.new_project.release import Release
from gate.store.baseline.file import parse
from tests.support.git_repository import git
from tests.support.github_server import REPOSITORY, REPOSITORY_ID, GitHub, serving
from tests.support.in_process import output_of
from tests.support.paths import ROOT, copy_a_third
from tests.support.product_repository import Product
from tests.support.proxy_server import needs_openssl, server_context, signed_by_itself
from tests.support.raw_server import Peer, RawServer, ok
from tests.support.workflow_job import Job

CONFIG = """version: 1
agent: {type: sample, options: {top_k: 5}}
suites:
  - {name: s, dataset: datasets/first.jsonl, graders: [facts], rounds: 1}
baseline: {branch: main}
policy: {no_baseline: warn}
"""
WORSE = ("top_k: 5", "top_k: 1")
FLOWS = ".github/workflows"


@dataclass
class Project:
    """A user's repository: `work` is a laptop's clone of the bare one."""

    folder: Path
    github: GitHub
    store: str  # address of where GitHub keeps artifacts: elsewhere, and encrypted
    product: Product
    jobs: int = 0
    pulls: dict[int, tuple[str, str]] = field(default_factory=dict)  # number -> base, branch

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def bare(self) -> Path:
        return self.folder / "users.git"

    def push(self, branch: str, message: str) -> str:
        """Commits everything; GitHub then knows commit, files and ancestors."""
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "--allow-empty", "-m", message)
        git(self.work, "push", "-q", "origin", f"HEAD:{branch}")
        sha = git(self.work, "rev-parse", "HEAD")
        for path in git(self.work, "ls-tree", "-r", "--name-only", sha).splitlines():
            content = (self.work / path).read_bytes()
            self.github.contents[sha, path] = content
        self.github.commits[sha] = git(self.work, "rev-list", sha).splitlines()
        if branch == "main":
            self.github.commits["main"] = self.github.commits[sha]
        return sha

    def open_pull(self, number: int, *edit: str) -> str:
        """A pull request that edits gate.yml so; its head commit."""
        base = git(self.work, "rev-parse", "main")
        git(self.work, "checkout", "-q", "-b", f"topic-{number}")
        if edit:
            file = self.work / "gate.yml"
            file.write_text(file.read_text(encoding="utf-8").replace(*edit), encoding="utf-8")
        head = self.push(f"topic-{number}", f"change {number}")
        self.pulls[number] = (base, head)
        self.github.heads[number] = head
        self.github.comments.clear()  # the server has one list for all pull requests
        return head

    def judge(self, number: int, *, run_id: int = 0, attempt: int = 1) -> Job:
        """The workflow `gate` on the pull request."""
        base, head = self.pulls[number]
        repository = self._repository()
        pull = {
            "number": number,
            "head": {"sha": head, "ref": f"topic-{number}", "repo": repository},
            "base": {"sha": base, "ref": "main"},
        }
        event = {"pull_request": pull, "repository": repository}
        ref = f"refs/pull/{number}/merge"
        return self._start("gate.yml", "gate", ("pull_request", event), head, ref, run_id, attempt)

    def merge(self, number: int) -> Job:
        """Merges it; main is measured then."""
        _, head = self.pulls[number]
        git(self.work, "checkout", "-q", "main")
        git(self.work, "merge", "-q", "--no-ff", "-m", f"Merge #{number}", f"topic-{number}")
        sha = self.push("main", "merged")
        merged = {"number": number, "merged_at": "2026-01-01T00:00:00Z", "head": {"sha": head}}
        self.github.merged[sha] = [merged]
        return self.measure(sha)

    def measure(self, sha: str) -> Job:
        event = {"ref": "refs/heads/main", "before": "0" * 40, "repository": self._repository()}
        flow = ("gate-baseline.yml", "measure", ("push", event))
        return self._start(*flow, sha, "refs/heads/main")

    def accept(self, number: int, who: str, words: str) -> Job:
        later = (datetime.now(UTC) + timedelta(seconds=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
        made = self.github.comment(words, user={"login": who, "type": "User"})
        made["created_at"] = later
        issue = {"number": number, "pull_request": {"url": "x"}}
        event = {
            "action": "created",
            "issue": issue,
            "comment": made,
            "repository": self._repository(),
        }
        main = git(self.work, "rev-parse", "main")
        return self._start(
            "gate-accept.yml", "accept", ("issue_comment", event), main, "refs/heads/main"
        )

    def tag(self, name: str) -> str:
        """The commit that main is at, which then has the tag."""
        git(self.work, "tag", name)
        git(self.work, "push", "-q", "origin", name)
        self.github.tags[name] = git(self.work, "rev-parse", "HEAD")
        return self.github.tags[name]

    def release(self, tag: str) -> Job:
        sha = self.tag(tag)
        event = {"ref": f"refs/tags/{tag}", "before": "0" * 40, "repository": self._repository()}
        return self._start("release.yml", "gate", ("push", event), sha, f"refs/tags/{tag}")

    def comment(self) -> str:
        """The gate's own one."""
        (own,) = [c["body"] for c in self.github.comments if c["user"]["type"] == "Bot"]
        return str(own)

    def _repository(self) -> dict[str, object]:
        return {"full_name": REPOSITORY, "id": REPOSITORY_ID, "default_branch": "main"}

    def _start(
        self,
        file: str,
        name: str,
        event: tuple[str, Any],
        sha: str,
        ref: str,
        run_id: int = 0,
        attempt: int = 1,
    ) -> Job:
        """Runs a job of the workflow as the commit has it, and keeps the run's record."""
        self.jobs += 1
        text = git(self.work, "show", f"{sha}:{FLOWS}/{file}")
        job = Job(
            folder=self.folder / f"job{self.jobs}",
            repository=self.bare,
            github=self.github,
            store=self.store,
            product=self.product,
            event=event,
            commit=sha,
            ref=ref,
            run_id=run_id or 100 + self.jobs,
            attempt=attempt,
        )
        if not run_id:
            self.github.runs.insert(0, self._record(job, file))
        job.run(yaml.safe_load(text), name)
        record = next(run for run in self.github.runs if run["id"] == job.run_id)
        record |= {"status": "completed", "conclusion": "failure" if job.failed else "success"}
        return job

    def _record(self, job: Job, file: str) -> dict[str, Any]:
        return {
            "id": job.run_id,
            "workflow_id": file,
            "path": f"{FLOWS}/{file}",
            "head_sha": job.commit,
            "head_branch": job.ref.rpartition("/")[2] if "heads" in job.ref else "topic",
            "event": job.event[0],
            "status": "in_progress",
            "conclusion": None,
            "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "repository": {"id": REPOSITORY_ID},
            "head_repository": {"id": REPOSITORY_ID},
            "head_commit": {
                "id": job.commit,
                "tree_id": git(self.work, "rev-parse", f"{job.commit}^{{tree}}"),
            },
        }


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    (tmp_path / "tls").mkdir()
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(signed_by_itself(tmp_path / "tls")))
    with serving(GitHub(permissions={"ann": "write", "eve": "read"})) as server:
        yield server
        assert server.violations == []


@pytest.fixture
def store(github: GitHub, tmp_path: Path) -> Iterator[str]:
    def answer(peer: Peer) -> None:
        while (asked := peer.request()) is not None:
            number = int(asked[0].split()[1].strip("/"))
            peer.send(ok(github.blobs[number].body, "Content-Type: application/zip"))

    context = server_context(tmp_path / "tls" / "server.pem")
    with RawServer(answer, context) as running:
        yield running.url


@pytest.fixture
def project(tmp_path: Path, github: GitHub, store: str) -> Project:
    """After `gate init` of the package of a release, in an own repository."""
    product = Product(tmp_path)
    product.push_tag(f"v{__version__}")
    release = Release(version=__version__, commit=product.publish())
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "users.git")
    git(tmp_path, "clone", "-q", str(tmp_path / "users.git"), "work")
    made = Project(folder=tmp_path, github=github, store=store, product=product)
    git(made.work, "checkout", "-q", "-b", "main")
    output_of(made.work, "init")
    for path, text in render_files("main", release).items():
        (made.work / path).write_text(text, encoding="utf-8")
    (made.work / "gate.yml").write_text(CONFIG, encoding="utf-8")
    copy_a_third(made.work / "datasets/first.jsonl")
    example = (ROOT / "examples/release.yml").read_text(encoding="utf-8")
    (made.work / FLOWS / "release.yml").write_text(example, encoding="utf-8")
    made.push("main", "the gate")
    return made


@needs_openssl
def test_from_no_baseline_to_a_release(project: Project) -> None:
    github = project.github

    # Nothing to compare with yet: told, and not red.
    project.open_pull(1)
    first = project.judge(1)
    assert (first.outputs["gate"]["outcome"], first.failed) == ("no_baseline", False)
    assert "no baseline" in project.comment().lower()

    # Merged: main makes one, and an artifact of it.
    measured = project.merge(1)
    assert not measured.failed, measured.log
    assert "No comment was written" in "\n".join(measured.log)
    assert {one["name"] for one in github.artifacts[measured.run_id]} == {
        "gate-baseline",
        "gate-main-session",
    }

    # A pull request that makes the agent worse is red, whatever its own rules say.
    head = project.open_pull(2, *WORSE)
    red = project.judge(2)
    assert (red.outputs["gate"]["outcome"], red.failed) == ("fail", True), red.log
    assert red.outputs["gate"]["baseline-source"] == "artifact"
    assert f"sha={head} run={red.run_id}.1" in project.comment()
    assert "cases newly fail" in project.comment().splitlines()[1]

    # Only who may write can accept it; then the job is run again, and is green.
    assert "needs write permission" in project.accept(2, "eve", "/gate accept why not").log[-1]
    assert "the job was skipped" in project.accept(2, "ann", "looks fine").log
    assert github.reruns == []
    said = project.accept(2, "ann", "/gate accept one document is cheaper")
    assert "the gate runs again on #2" in said.log[-1]
    assert github.reruns == [f"{red.run_id}/rerun-failed-jobs"]
    again = project.judge(2, run_id=red.run_id, attempt=2)
    assert (again.outputs["gate"]["outcome"], again.failed) == ("pass", False), again.log
    assert "one document is cheaper" in project.comment()
    assert f"run={red.run_id}.2" in project.comment()

    # Merged: main's new level is the baseline of the next pull request, which is green.
    assert not project.merge(2).failed
    project.tag("v0.9.0")
    project.open_pull(3)
    green = project.judge(3)
    assert (green.outputs["gate"]["outcome"], green.failed) == ("pass", False), green.log
    assert project.merge(3).outputs["gate"]["outcome"] == "pass"

    # Released: compared with the release before, with evidence that verifies.
    released = project.release("v1.0.0")
    assert (released.outputs["gate"]["outcome"], released.failed) == ("pass", False), released.log
    assert released.outputs["gate"]["baseline-sha"] == github.tags["v0.9.0"]
    assert any("verdict recomputed from" in line for line in released.log)
    names = {one["name"] for one in github.artifacts[released.run_id]}
    assert names == {"evidence", "gate-anchor"}

    # Main is held against the release from its next run on.
    project.open_pull(4)
    measured = project.merge(4)
    assert not measured.failed, measured.log
    (kept,) = [one for one in github.artifacts[measured.run_id] if one["name"] == "gate-baseline"]
    with ZipFile(BytesIO(github.blobs[kept["id"]].body)) as archive:
        stored = archive.read("s.json")
    anchor = parse(stored, "s.json").anchor
    assert anchor is not None
    assert (anchor.header.kind, anchor.header.name) == ("release", "v1.0.0")
