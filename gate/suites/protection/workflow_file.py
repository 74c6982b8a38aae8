"""Checks the workflow that starts the gate: its inputs can switch off rules of gate.yml, and its
checkout can leave the token where programs of the change can read it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from gate.suites.protection.rules import RulesBase


def explain_changed_workflow(
    env: Mapping[str, str], base: RulesBase, root: Path, top: Path, branch: str | None
) -> str:
    """A sentence if the change's workflow file differs from the base branch's; else empty. `top`:
    root of the work tree; `branch`: the branch to merge into.
    """
    file = _file(env)
    own_file = top / file
    if not file or not own_file.is_file():
        return ""
    text = own_file.read_bytes()
    # Paths of a forge are relative to the folder of gate.yml.
    path = Path(os.path.relpath(own_file, root.resolve())).as_posix()
    theirs = base.forge.read(path, base.sha)
    if theirs is None:
        return f"adds the workflow `{file}`, which starts the gate"
    # The tree of a pull request is merged with the branch's tip, which may be newer than the base.
    if _lines(text) in (_lines(theirs), _lines(base.forge.read(path, branch or "") or b"")):
        return ""
    return f"changes the workflow `{file}`, which runs the gate: it may now check less"


def has_kept_token(top: Path) -> bool:
    """Whether actions/checkout left the token, or a path to it, in the work tree's git
    configuration. It does without `persist-credentials: false`.
    """
    try:
        text = (top / ".git" / "config").read_bytes()
    except OSError:
        return False
    return any(sign in text.lower() for sign in (b"extraheader", b"git-credentials-"))


def _file(env: Mapping[str, str]) -> str:
    """`.github/workflows/gate.yml` of `octocat/demo/.github/workflows/gate.yml@refs/heads/x`."""
    workflow_ref, repository = env.get("GITHUB_WORKFLOW_REF", ""), env.get("GITHUB_REPOSITORY", "")
    name, _, _ = workflow_ref.partition("@")
    is_own = repository and name.startswith(f"{repository}/.github/workflows/")
    return name.removeprefix(f"{repository}/") if is_own and ".." not in name else ""


def _lines(text: bytes) -> list[bytes]:
    return text.splitlines()  # a checkout may have other line ends
