"""How a run reads the repository: git where there is a work tree, else what the caller offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from gate.github.git import GitForge, open_repository
from gate.records.forge import Forge


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How this run reads the repository; `notes` say what it cannot do."""

    forge: Forge | None
    git: GitForge | None
    folder: str = ""  # of gate.yml in the repository; `.` or empty: its top
    notes: tuple[str, ...] = ()


def open_local(root: Path, remote_for: Callable[[str], Forge] | None = None) -> Opened:
    """`root` is the folder of gate.yml; `remote_for` makes the host's forge for that folder in the
    repository, and is asked for what git does not have.
    """
    opened = open_repository(root)
    if isinstance(opened, GitForge):
        folder = root.resolve().relative_to(opened.top).as_posix()
        remote = remote_for(folder) if remote_for else None
        return Opened(forge=replace(opened, remote=remote), git=opened, folder=folder)
    if remote_for is None:
        return Opened(forge=None, git=None, notes=(opened.reason,))
    folder = _below(root, Path.cwd())
    return Opened(forge=remote_for(folder), git=None, folder=folder)


def _below(root: Path, workspace: Path) -> str:
    try:
        return root.resolve().relative_to(workspace.resolve()).as_posix()
    except ValueError:
        return ""
