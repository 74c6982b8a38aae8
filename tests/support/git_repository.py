"""A repository of git in a folder of the test."""

from __future__ import annotations

import subprocess
from pathlib import Path

from gate.github.git import GitForge, open_repository


def git(folder: Path, *arguments: str) -> str:
    own = ("-c", "user.name=Ana", "-c", "user.email=ana@example.test", "-c", "commit.gpgsign=false")
    command = ["git", *own, *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_files(folder: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def open_forge(root: Path) -> GitForge:
    forge = open_repository(root)
    assert isinstance(forge, GitForge)
    return forge
