"""A repository that rots: twelve merges that each lose one case of sixty, which is within the
tolerance of a pull request, with nightly runs between them. Git and GitHub's API are there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from gate.agents.recordings.answers import recording_line
from gate.records import Case, Response
from gate.report.issue import TITLE
from gate.store.baseline.file import parse
from gate.store.session import find_session, load_session
from tests.support.git_repository import git
from tests.support.github_server import REPOSITORY, REPOSITORY_ID, GitHub, serving
from tests.support.in_process import gate

CASES = [
    Case(id=f"c{n:02}", input=f"q{n}", keys={"expected_answer": f"answer {n}"}) for n in range(60)
]
CONFIG = """version: 1
agent: {type: replay, file: answers.jsonl}
suites: [{name: s, dataset: cases.jsonl, graders: [exact_match], rounds: 3}]
regression: {stop: "off"}
baseline: {branch: main, source: repo}
policy: {no_baseline: warn}
"""
ROUNDS, MERGES = 3, 12


@dataclass
class Walk:
    work: Path
    github: GitHub
    runs: int = 0

    def write_agent(self, lost: int) -> None:
        """An agent that fails the first `lost` cases, and its newest commit's files."""
        lines = []
        for number, case in enumerate(CASES):
            said = "no idea" if number < lost else f"answer {number}"
            lines += [
                recording_line(case, round_, Response(answer=said), 5.0) + "\n"
                for round_ in range(1, ROUNDS + 1)
            ]
        (self.work / "answers.jsonl").write_text("".join(lines), encoding="utf-8")

    def commit(self, message: str) -> str:
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "--allow-empty", "-m", message)
        return git(self.work, "rev-parse", "HEAD")

    def run_job(self, name: str, event: dict[str, object], *arguments: str, **more: str) -> str:
        """One command as a job of that event; what it prints."""
        done = self.try_job(name, event, *arguments, **more)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def try_job(
        self, name: str, event: dict[str, object], *arguments: str, **more: str
    ) -> CompletedProcess[str]:
        repository = {
            "full_name": REPOSITORY,
            "id": REPOSITORY_ID,
            "default_branch": "main",
        }
        payload = self.work / "event.json"
        payload.write_text(json.dumps({**event, "repository": repository}), encoding="utf-8")
        env = {
            "GITHUB_ACTIONS": "true",
            "CI": "true",
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(payload),
            "GITHUB_SHA": git(self.work, "rev-parse", "HEAD"),
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_REF_NAME": "main",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_REPOSITORY_ID": str(REPOSITORY_ID),
            "GITHUB_API_URL": self.github.url,
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_TOKEN": "ghs_token",
            **more,
        }
        return gate(self.work, *arguments, env=env)

    def measure(self, name: str = "push") -> int:
        """Both jobs of main; the exit code of the second."""
        self.runs += 1
        event: dict[str, object] = {"ref": "refs/heads/main", "before": "0" * 40}
        ran = self.try_job(name, event, "run", "--quiet")
        assert ran.returncode in (0, 1), ran.stdout + ran.stderr
        self.run_job(name, event, "baseline", "save")
        verdict = self.try_job(name, event, "baseline", "verdict")
        assert verdict.returncode in (0, 1), verdict.stderr
        assert "not written" not in verdict.stdout
        self.commit("baseline")
        return verdict.returncode

    def judge_pull(self, lost: int) -> tuple[int, str]:
        """The exit code and the comment of a pull request that loses one case more."""
        base = git(self.work, "rev-parse", "HEAD")
        git(self.work, "checkout", "-q", "-b", f"topic-{lost}")
        self.write_agent(lost)
        head = self.commit(f"change {lost}")
        event = {
            "pull_request": {
                "number": 3,
                "head": {"sha": head, "ref": f"topic-{lost}", "repo": {"full_name": REPOSITORY}},
                "base": {"sha": base, "ref": "main"},
            }
        }
        done = self.try_job("pull_request", event, "run", "--quiet")
        git(self.work, "checkout", "-q", "main")
        session = load_session(find_session("latest", self.work / "results"))
        return done.returncode, (session.folder / "comment.md").read_text(encoding="utf-8")


@pytest.fixture
def walk(tmp_path: Path) -> Walk:
    with serving(GitHub()) as github:
        git(tmp_path, "init", "-q", "-b", "main")
        rows = [{"id": case.id, "input": case.input, **case.keys} for case in CASES]
        (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "gate.yml").write_text(CONFIG)
        (tmp_path / ".gitignore").write_text("results/\nevent.json\n")
        made = Walk(tmp_path, github)
        made.write_agent(0)
        made.commit("the project")
        yield made


def test_rot_that_no_pull_request_shows_turns_main_red_until_it_is_mended(walk: Walk) -> None:
    for _ in range(5):
        assert walk.measure("schedule") == 0
    reds = []
    for merge in range(1, MERGES + 1):
        if merge in (1, 6, 12):
            code, comment = walk.judge_pull(merge)
            assert code == 0 or merge > 1, (
                comment
            )  # later ones see merges that the pool lags behind
            assert ("Main itself has lost" in comment) == bool(reds), comment[:600]
        walk.write_agent(merge)
        walk.commit(f"merge {merge}")
        if walk.measure() == 1:
            reds.append(merge)
        if merge % 4 == 0 and walk.measure("schedule") == 1:
            reds.append(merge)
    assert 2 <= reds[0] <= 5  # of sixty cases, 3 to 8 points
    assert reds[-1] == MERGES

    (issue,) = walk.github.issues
    assert issue["state"] == "open"
    assert issue["title"] == f"{TITLE}: agent.success_rate"
    assert "Main itself has lost" in issue["body"]
    stored = parse((walk.work / "baselines" / "s.json").read_bytes(), "s.json")
    assert stored.anchor is not None
    assert "agent.success_rate" in stored.anchor.header.falls
    history = gate(walk.work, "history", "baselines/s.json")
    assert history.returncode == 0, history.stderr

    walk.write_agent(0)
    walk.commit("mended")
    codes = [walk.measure() for _ in range(3)]
    assert codes[-1] == 0
    (issue,) = walk.github.issues
    assert issue["state"] == "closed"
    assert walk.github.violations == []
