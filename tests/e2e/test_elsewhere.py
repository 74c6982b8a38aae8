"""What docs/elsewhere.md and its files promise: GitLab's two jobs, played line by line on a real
repository against a GitLab on loopback, the hook at a real push, and the words after the image.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import yaml

from gate.commands.options.all import parse
from tests.support.git_repository import commit_files, git
from tests.support.gitlab_server import GitLab, serving
from tests.support.paths import ROOT, copy_a_third

FILES = ROOT / "examples" / "elsewhere"
PAGE = (ROOT / "docs" / "elsewhere.md").read_text(encoding="utf-8")
CONFIG = """version: 1
agent: {type: sample, options: {top_k: 5}}
suites:
  - {name: s, dataset: d.jsonl, graders: [facts], rounds: 1}
regression: {tolerance: 0.02}
baseline: {branch: main}
"""
LOOSER = CONFIG.replace("top_k: 5", "top_k: 1").replace("tolerance: 0.02", "tolerance: 0.5")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the recipes are shell")


def environment(**more: str) -> dict[str, str]:
    """Of a job or a terminal where `gate` is installed; nothing of the CI that runs this test."""
    foreign = ("CI", "GIT", "GITHUB_", "GITLAB_")
    own = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join((str(Path(sys.executable).parent), own["PATH"]))
    return {**own, "PATH": path, **more}


def play(job: str, part: str, folder: Path, env: Mapping[str, str]) -> CompletedProcess[str]:
    """The lines as GitLab's runner gives them to a shell, which ends at the first that fails."""
    jobs = yaml.safe_load((FILES / "gitlab-ci.yml").read_text(encoding="utf-8"))
    script = "\n".join(["set -eo pipefail", *jobs[job][part]])
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A clone whose main has the gate, and no baseline yet."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    git(tmp_path, "clone", "-q", str(tmp_path / "origin.git"), "work")
    folder = tmp_path / "work"
    git(folder, "checkout", "-q", "-b", "main")
    copy_a_third(folder / "d.jsonl")
    (folder / "gate.yml").write_text(CONFIG, encoding="utf-8")
    commit_files(folder, "the gate", **{".gitignore": "results/\n"})
    git(folder, "push", "-q", "origin", "main")
    return folder


def test_gitlab_measures_main_judges_a_merge_request_and_the_hook_agrees(
    work: Path, tmp_path: Path
) -> None:
    with serving(GitLab()) as gitlab:
        # The default branch: as a runner does it, at a commit and on no branch.
        git(work, "checkout", "-q", "--detach")
        main = {"CI_DEFAULT_BRANCH": "main", "CI_COMMIT_SHORT_SHA": "abc"}
        measured = play(
            "gate-baseline", "script", work, environment(CI="true", GITLAB_CI="true", **main)
        )
        assert measured.returncode == 0, measured.stdout + measured.stderr
        assert git(tmp_path / "origin.git", "ls-tree", "--name-only", "main:baselines") == "s.json"

        # A merge request that makes the agent worse, and would allow it.
        git(work, "fetch", "-q", "origin")
        git(work, "checkout", "-q", "-B", "topic", "origin/main")
        gitlab.head = commit_files(work, "fewer documents", **{"gate.yml": LOOSER})
        git(work, "push", "-q", "origin", "topic")
        git(tmp_path, "clone", "-q", "--single-branch", "-b", "topic", "origin.git", "job")
        job = environment(**gitlab.variables())
        judged = play("gate", "script", tmp_path / "job", job)
        assert judged.returncode == 1, judged.stdout + judged.stderr
        noted = play("gate", "after_script", tmp_path / "job", job)
        assert noted.stdout.startswith("comment created: https://gitlab.example/octo/demo/-/merge")
        (note,) = gitlab.notes
        assert f"sha={gitlab.head} run=81.812" in note["body"]
        assert "cases newly fail" in note["body"]
        assert "loosens the rules" in note["body"], note["body"]
        kept = yaml.safe_load((FILES / "gitlab-ci.yml").read_text("utf-8"))[".agent-gate"]
        found = list((tmp_path / "job").glob(kept["artifacts"]["reports"]["junit"]))
        assert len(found) == 1
        assert (tmp_path / "job" / kept["artifacts"]["paths"][0]).is_dir()

    # The hook keeps the same change on the laptop, and lets a branch be deleted.
    hook = work / ".git" / "hooks" / "pre-push"
    shutil.copy(FILES / "pre-push", hook)
    laptop = environment()
    again = ("push", "-q", "origin", "HEAD:refs/heads/again")
    refused = subprocess.run(
        ["git", *again], cwd=work, env=laptop, capture_output=True, text=True, check=False
    )
    assert refused.returncode != 0
    assert refused.stdout.startswith("fail: agent.success_rate fell")
    assert "again" not in git(tmp_path / "origin.git", "branch", "--list")
    git(work, "push", "-q", "origin", "--delete", "topic")
    assert "topic" not in git(tmp_path / "origin.git", "branch", "--list")


def test_what_follows_the_image_are_words_that_gate_understands() -> None:
    lines = re.findall(r"^docker run (.*)$", PAGE, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        words = shlex.split(line)
        place = next(n for n, word in enumerate(words) if word.startswith("ghcr.io/"))
        assert parse(words[place + 1 :])


def test_the_hook_of_the_framework_is_the_same_command() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (hook,) = yaml.safe_load(block)["repos"][0]["hooks"]
    own = (FILES / "pre-push").read_text(encoding="utf-8")
    assert own.endswith(f"exec {hook['entry']}\n")
    assert os.access(FILES / "pre-push", os.X_OK)
