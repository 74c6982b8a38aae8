"""`gate init`: writes gate.yml, three workflows and a first dataset that run as they are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from gate.errors import UsageError
from gate.files.locked_update import write_whole

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


def rendered() -> dict[str, str]:
    """Path -> content of every file, `<name>` of an action replaced by its reference."""
    return {path: _render(name) for path, name in TEMPLATES.items()}


def _render(name: str) -> str:
    text = files("gate.commands.templates").joinpath(name).read_text(encoding="utf-8")
    for action, reference in ACTIONS.items():
        text = text.replace(f"uses: <{action}>", f"uses: {reference}")
    return text


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Options: `dir` (where to; None is the current folder), `force` (overwrite).

    Raises UsageError, with nothing written, when a file is there already.
    """
    folder = Path(options.dir or ".")
    wanted = rendered()
    there = [path for path in wanted if os.path.lexists(folder / path)]
    if there and not options.force:
        raise UsageError(f"{', '.join(there)}: there already - `gate init --force` overwrites")
    for path, content in wanted.items():
        write_whole(folder / path, content.encode())
        print(f"wrote {(folder / path).as_posix()}")
    print("Next: `gate run`; then name your own agent in gate.yml.")
    return 0
