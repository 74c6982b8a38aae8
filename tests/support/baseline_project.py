"""A repository whose gate.yml names a grader that must never be asked."""

from __future__ import annotations

from pathlib import Path

from tests.support.git_repository import git

CONFIG = """\
version: 1
agent: {type: sample}
suites:
  - name: analytics
    dataset: dataset.jsonl
    graders: ['./judge.py:Judge']
baseline: {keep_rounds: 3}
"""
JUDGE = """\
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class Judge:
    keys: ClassVar = {}
    needs: ClassVar = ()

    def metrics(self):
        return ()

    def grade(self, case, response):
        raise AssertionError
"""


def commit_baseline_project(folder: Path) -> Path:
    """Makes the folder, on main."""
    folder.mkdir()
    (folder / "gate.yml").write_text(CONFIG, encoding="utf-8")
    (folder / "judge.py").write_text(JUDGE, encoding="utf-8")
    (folder / "dataset.jsonl").write_text('{"id": "a", "input": "x"}\n', encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Ana")
    git(folder, "config", "user.email", "a@example.test")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    return folder
