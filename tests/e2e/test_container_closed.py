"""The whole gate in a container that may do little: no writable root, no capabilities, 512 MB."""

from pathlib import Path

import pytest

from tests.support.container import Container, Runner, checkout

READ_ONLY = ("--run-opt", "--read-only")
NO_RIGHTS = ("--run-opt", "--cap-drop=all")
LITTLE_MEMORY = ("--run-opt", "--memory=512m")
CLOSED = {
    "read-only root": READ_ONLY,
    "no capabilities": NO_RIGHTS,
    "512 MB": LITTLE_MEMORY,
    "all three": READ_ONLY + NO_RIGHTS + LITTLE_MEMORY,
}
PULL_REQUEST = """{"number": 1,
  "repository": {"id": 1, "full_name": "octocat/demo", "default_branch": "main"},
  "pull_request": {"number": 1,
    "head": {"sha": "HEAD", "ref": "feature", "repo": {"full_name": "octocat/demo"}},
    "base": {"sha": "BASE", "ref": "main", "repo": {"full_name": "octocat/demo"}}}}
"""


def judge(runner: Runner, workspace: Path, limits: tuple[str, ...]) -> Container:
    """The action on a pull request, without a network; root may write where anybody may."""
    event = workspace.parent / "event.json"
    text = PULL_REQUEST.replace("HEAD", "a" * 40).replace("BASE", "b" * 40)
    event.write_text(text, encoding="utf-8")
    given = ("baseline=baselines", "comment=never", "github-token=")
    inputs = (word for text in given for word in ("--input", text))
    place = ("--network", "none", "--workspace", str(workspace), "--event", str(event))
    return runner.run(options=(*place, *inputs, *limits))


@pytest.mark.parametrize("limits", CLOSED.values(), ids=CLOSED)
def test_the_unchanged_agent_passes(
    runner: Runner, tmp_path: Path, limits: tuple[str, ...]
) -> None:
    workspace = checkout(tmp_path / "copy")
    workspace.chmod(0o777)
    ended = judge(runner, workspace, limits)
    assert ended.code == 0, ended.said()
    outputs = ended.outputs()
    assert outputs["outcome"] == "pass"
    session = ended.state / "workspace" / outputs["session-dir"]
    assert (session / "report.html").is_file()
    assert "analytics" in ended.file("step_summary")


def test_a_worse_agent_fails(runner: Runner, tmp_path: Path) -> None:
    workspace = checkout(tmp_path / "copy", top_k=1)
    workspace.chmod(0o777)
    ended = judge(runner, workspace, CLOSED["all three"])
    assert ended.code == 1, ended.said()
    assert ended.outputs()["outcome"] == "fail"


def test_root_without_rights_cannot_write_what_is_another_s_and_says_so(
    runner: Runner, tmp_path: Path
) -> None:
    ended = judge(runner, checkout(tmp_path / "copy"), NO_RIGHTS)
    assert ended.code == 6, ended.said()
    assert "results/" in ended.outputs()["summary"]
    assert "Permission denied" in ended.outputs()["summary"]


def test_the_owner_of_the_workspace_needs_no_rights(runner: Runner, tmp_path: Path) -> None:
    owner = (*CLOSED["all three"], "--run-opt", "--user=1001:1001", "--network", "none")
    place = ("--workspace", str(checkout(tmp_path / "copy")), "--env", "GITHUB_EVENT_NAME=")
    ended = runner.run("run", "--baseline", "baselines", options=(*place, *owner))
    assert ended.code == 0, ended.said()


def test_the_image_tests_itself(runner: Runner) -> None:
    ended = runner.run("--self-test", options=("--network", "none", *CLOSED["all three"]))
    assert ended.code == 0, ended.said()
    lines = ended.stdout.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("ok ") for line in lines[1:])


def test_a_broken_image_says_what_is_broken(runner: Runner) -> None:
    missing = ("--env", "SSL_CERT_FILE=/nowhere.pem")
    ended = runner.run("--self-test", options=("--network", "none", *missing))
    assert ended.code == 70
    broken = [line for line in ended.stdout.splitlines() if line.startswith("FAILED")]
    assert len(broken) == 1
    assert "/nowhere.pem" in broken[0]
