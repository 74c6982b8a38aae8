"""`gate init`: writes gate.yml, three workflows and a first dataset, which run without changes."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from gate.errors import UsageError
from gate.files.locked_update import write_whole
from gate.github.git import GitForge, open_repository
from gate.text.escaping import plain
from gate.text.late_pattern import late_pattern

# `uses:` references in the workflows; where they were copied from:
# docs/decisions/0004-pinned-references.md
ACTIONS: Mapping[str, str] = {
    "actions/checkout": "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
    "actions/upload-artifact": (
        "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1"
    ),
    "agent-gate": "agent-gate/agent-gate@v0",
}
TEMPLATES: Mapping[str, str] = {  # path in the user's repository -> file of templates/
    "gate.yml": "gate.yml",
    "datasets/first.jsonl": "first.jsonl",
    ".github/workflows/gate.yml": "workflow.yml",
    ".github/workflows/gate-baseline.yml": "baseline-workflow.yml",
    ".github/workflows/gate-accept.yml": "accept-workflow.yml",
}


BRANCH = "main"  # where there is no repository to tell
_PLAIN = late_pattern(r"[A-Za-z][A-Za-z0-9_./-]*")  # is a text in YAML without quotes
_NAMED = """
# The branch that pull requests go to: they follow its rules and are compared with its runs.
baseline:
  branch: <branch>
"""


def render_files(branch: str | None = None) -> dict[str, str]:
    """Path -> content of every file. Each `<name>` of an action is replaced by its reference, and
    `branch` is filled in.
    """
    written = {path: _render_file(name, branch or BRANCH) for path, name in TEMPLATES.items()}
    if branch:
        written["gate.yml"] += _NAMED.replace("<branch>", _quote(branch))
    return written


def _render_file(name: str, branch: str) -> str:
    text = files("gate.commands.templates").joinpath(name).read_text(encoding="utf-8")
    for action, reference in ACTIONS.items():
        text = text.replace(f"uses: <{action}>", f"uses: {reference}")
    return text.replace("[<branch>]", f"[{_quote(branch)}]")


def _quote(branch: str) -> str:
    return branch if _PLAIN.fullmatch(branch) else json.dumps(branch)


def find_default_branch(folder: Path) -> str | None:
    """The default branch of the folder's repository; None without a repository."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.is_dir())
    opened = open_repository(there)
    return opened.default_branch() if isinstance(opened, GitForge) else None


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Writes the files and returns 0. Options: `dir` (None: the current folder), `force`
    (overwrite). Raises UsageError, with nothing written, if a file exists.
    """
    folder = Path(options.dir or ".")
    branch = find_default_branch(folder)
    wanted = render_files(branch)
    there = [path for path in wanted if os.path.lexists(folder / path)]
    if there and not options.force:
        raise UsageError(
            f"{', '.join(there)}: already there - use `gate init --force` to overwrite"
        )
    for path, content in wanted.items():
        write_whole(folder / path, content.encode())
        print(f"wrote {(folder / path).as_posix()}")
    if branch:
        print(plain(f"The base branch is {branch}: `baseline.branch` in gate.yml."))
    print("Next: run `gate run`, then put your own agent in gate.yml.")
    return 0
