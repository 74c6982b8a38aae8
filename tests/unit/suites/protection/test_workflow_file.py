"""Which change of the workflow that starts the gate is told."""

from pathlib import Path

import pytest

from gate.suites.protection.rules import RulesBase
from gate.suites.protection.workflow_file import explain_changed_workflow, has_kept_token

FILE = ".github/workflows/gate.yml"
ENV = {
    "GITHUB_REPOSITORY": "octo/demo",
    "GITHUB_WORKFLOW_REF": f"octo/demo/{FILE}@refs/pull/3/merge",
}
CHANGED = f"changes the workflow `{FILE}`, which runs the gate: it may now check less"
ADDED = f"adds the workflow `{FILE}`, which starts the gate"


class Tree:
    """A host that has one file as it is at the base commit and at the branch's tip."""

    def __init__(self, path: str, base: bytes | None, tip: bytes | None) -> None:
        self._path, self._texts = path, {"b" * 40: base, "main": tip}

    def read(self, path: str, ref: str) -> bytes | None:
        return self._texts.get(ref) if path == self._path else None


def told(top: Path, base: bytes | None, tip: bytes | None = None, **how: object) -> str:
    env, folder = {**ENV, **how.get("env", {})}, how.get("folder", "")
    path = "../" * len(Path(folder).parts) + FILE
    found = RulesBase(sha="b" * 40, name="main", forge=Tree(path, base, tip))
    return explain_changed_workflow(env, found, top / folder, top, "main")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / FILE).write_bytes(b"with:\n  fail: false\n")
    return tmp_path


@pytest.mark.parametrize("folder", ["", "services/bot"])
def test_another_file_than_the_bases_is_told(top: Path, folder: str) -> None:
    assert told(top, b"with: {}\n", folder=folder) == CHANGED
    assert told(top, None, folder=folder) == ADDED
    assert told(top, b"with:\r\n  fail: false\r\n", folder=folder) == ""


def test_what_the_branch_changed_since_is_not_this_changes_doing(top: Path) -> None:
    assert told(top, b"with: {}\n", b"with:\n  fail: false\n") == ""
    assert told(top, b"with: {}\n", b"with: {comment: never}\n") == CHANGED


@pytest.mark.parametrize(
    "env",
    [
        {"GITHUB_WORKFLOW_REF": ""},
        {"GITHUB_REPOSITORY": ""},
        {"GITHUB_WORKFLOW_REF": f"other/demo/{FILE}@main"},
        {"GITHUB_WORKFLOW_REF": "octo/demo/.github/workflows/../../etc/passwd@main"},
        {"GITHUB_WORKFLOW_REF": "octo/demo/.github/workflows/gone.yml@main"},
    ],
)
def test_where_the_file_is_not_known_or_not_checked_out_nothing_is_told(
    top: Path, env: dict[str, str]
) -> None:
    assert told(top, b"with: {}\n", env=env) == ""


@pytest.mark.parametrize(
    ("config", "kept"),
    [
        (None, False),
        ("[core]\n\tbare = false\n", False),
        ('[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic eA==\n', True),
        ('[includeIf "gitdir:/w/.git"]\n\tpath = /tmp/git-credentials-8f.config\n', True),
    ],
)
def test_a_token_that_the_checkout_keeps_is_seen(
    tmp_path: Path, config: str | None, kept: bool
) -> None:
    (tmp_path / ".git").mkdir()
    if config is not None:
        (tmp_path / ".git" / "config").write_text(config, encoding="utf-8")
    assert has_kept_token(tmp_path) is kept
