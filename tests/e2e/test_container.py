"""The image, built for real and run as GitHub's runner runs a container action.

Needs GATE_TOOLS; the pull request, its comment and the baseline live on a stateful GitHub API on
loopback that refuses requests which break GitHub's own description.
"""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from gate import __version__

ROOT = Path(__file__).parent.parent.parent
TAG = "localhost/agent-gate:test"
SET_UP_FAILED = (91, 92)  # the machine cannot build images: not this project's fault
MEGABYTES = re.compile(r"image \d+ MB = base \d+ MB \+ (\d+) MB of its own")
TOKEN = "test_token_admin"  # the emulator's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """How one container ended, and what it left for the runner."""

    code: int
    stdout: str
    stderr: str
    state: Path

    def outputs(self) -> dict[str, str]:
        """GITHUB_OUTPUT, read as the runner reads it."""
        found, lines = {}, iter(self.file("set_output").splitlines())
        for line in lines:
            name, sign, rest = re.split("(<<|=)", line, maxsplit=1)
            if sign == "<<":
                value = []
                while (line := next(lines)) != rest:
                    value.append(line)
                rest = "\n".join(value)
            found[name] = rest
        return found

    def file(self, name: str) -> str:
        return (self.state / "file_commands" / f"{name}_1").read_text(encoding="utf-8")


def container_build(tools: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(tools / "container_build.sh"), str(ROOT), "--tag", TAG, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def image(gate_tools: Path) -> str:
    """What the build said."""
    built = container_build(gate_tools, "--no-run")
    if built.returncode in SET_UP_FAILED:
        pytest.skip(f"GATE_TOOLS: this machine cannot build images: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stderr
    return built.stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Starts the image in a fresh workspace."""

    tools: Path
    state: Path

    def run(self, *arguments: str, options: tuple[str, ...] = ()) -> Container:
        after = ("--", *arguments) if arguments else ()
        ended = container_build(self.tools, "--state", str(self.state), *options, *after)
        return Container(
            code=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, state=self.state
        )


@pytest.fixture
def runner(image: str, gate_tools: Path, tmp_path: Path) -> Runner:
    return Runner(tools=gate_tools, state=tmp_path / "state")


# ---------------------------------------------------------------------------------- the image alone


def test_own_layers_are_small(image: str) -> None:
    said = MEGABYTES.search(image)
    assert said, image
    assert int(said[1]) <= 100


def test_it_needs_neither_network_nor_a_writable_root(runner: Runner) -> None:
    closed = ("--network", "none", "--run-opt", "--read-only", "--run-opt", "--cap-drop=all")
    ended = runner.run("--version", options=closed)
    assert (ended.code, ended.stdout) == (0, f"gate {__version__}\n")


def test_a_command_first_does_it_with_the_bundled_suites(runner: Runner) -> None:
    ended = runner.run("validate", "--suite", "all", options=("--network", "none"))
    assert ended.code == 0, ended.stderr


def test_an_option_first_runs(runner: Runner) -> None:
    ended = runner.run("--config", "nowhere.yml", options=("--network", "none"))
    assert ended.code == 2
    assert "nowhere.yml" in ended.stderr


def test_nothing_first_is_the_action(runner: Runner) -> None:
    ended = runner.run(options=("--network", "none", "--input", "config=nowhere.yml"))
    assert ended.code == 2
    assert "nowhere.yml" in ended.stdout + ended.stderr


def test_a_file_of_the_pull_request_cannot_stand_in_for_a_module(
    runner: Runner, tmp_path: Path
) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("gate", "requests", "yaml", "json"):
        (workspace / f"{name}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    options = ("--workspace", str(workspace), "--network", "none")
    ended = runner.run("schema", "config", options=(*options, "--env", "PYTHONPATH=."))
    assert ended.code == 0, ended.stderr


# -------------------------------------------------------------------------------- on a pull request


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A GitHub with the repository octocat/demo: `direct` to set it up, `checked` for the gate."""

    direct: str
    checked: str

    def call(self, method: str, path: str, body: object = None) -> object:
        request = urllib.request.Request(
            f"{self.direct}/repos/octocat/demo{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def put(self, path: str, content: bytes, branch: str) -> None:
        text = base64.b64encode(content).decode()
        body = {"message": f"Add {path}", "content": text, "branch": branch}
        self.call("PUT", f"/contents/{path}", body)

    def comments(self, number: int) -> list[dict[str, object]]:
        return self.call("GET", f"/issues/{number}/comments?per_page=100")


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


@pytest.fixture(scope="module")
def hub(gate_tools: Path, image: str) -> Iterator[Hub]:
    port, proxy = free_ports()
    # A folder of its own (what is installed there is kept): `stop` must not end another's server.
    home = Path(tempfile.gettempdir()) / "agent-gate-container-github"
    env = {**os.environ, "GITHUB_PEER_HOME": str(home)}
    script = ["bash", str(gate_tools / "github_api.sh")]
    start = [*script, "start", "--port", str(port), "--proxy", str(proxy)]
    subprocess.run(start, env=env, timeout=300, check=True, stdout=subprocess.DEVNULL)
    try:
        yield Hub(direct=f"http://localhost:{port}", checked=f"http://localhost:{proxy}")
        told = subprocess.run(
            [*script, "violations"], env=env, check=False, capture_output=True, text=True
        )
        assert told.returncode == 0, f"requests that break GitHub's description:\n{told.stdout}"
    finally:
        subprocess.run([*script, "stop"], env=env, check=True)


@pytest.fixture(scope="module")
def pull_request(hub: Hub) -> dict[str, object]:
    """The payload of an open pull request whose base has the project's own rules and baseline."""
    for path in ("gate.yml", "baselines/analytics.json", *dataset_files()):
        hub.put(path, (ROOT / path).read_bytes(), "main")
    base = hub.call("GET", "/git/ref/heads/main")["object"]["sha"]
    hub.call("POST", "/git/refs", {"ref": "refs/heads/feature", "sha": base})
    hub.put("prompt.txt", b"Be brief.", "feature")
    pull = hub.call("POST", "/pulls", {"title": "Be brief", "head": "feature", "base": "main"})
    return {
        "action": "synchronize",
        "number": pull["number"],
        "repository": {"id": 1, "full_name": "octocat/demo", "default_branch": "main"},
        "pull_request": {
            "number": pull["number"],
            "draft": False,
            "labels": [],
            "head": {
                "sha": pull["head"]["sha"],
                "ref": "feature",
                "repo": {"full_name": "octocat/demo", "fork": False},
            },
            "base": {"sha": base, "ref": "main", "repo": {"full_name": "octocat/demo"}},
        },
    }


def dataset_files() -> list[str]:
    folder = ROOT / "datasets" / "analytics"
    found = [*folder.glob("*.jsonl"), *folder.glob("*.yml")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def checkout(folder: Path, **agent_options: object) -> Path:
    """A working copy of the pull request; `agent_options` make the sample agent worse."""
    folder.mkdir()
    for name in ("baselines", "datasets"):
        shutil.copytree(ROOT / name, folder / name)
    config = yaml.safe_load((ROOT / "gate.yml").read_text(encoding="utf-8"))
    config["agent"] = {"type": "sample", "options": agent_options}
    (folder / "gate.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def judge(runner: Runner, hub: Hub, payload: object, workspace: Path, **inputs: str) -> Container:
    event = workspace.parent / "event.json"
    event.write_text(json.dumps(payload), encoding="utf-8")
    given = {"github-token": TOKEN, **inputs}
    return runner.run(
        options=(
            *("--network", "host", "--workspace", str(workspace), "--event", str(event)),
            *("--env", f"GITHUB_API_URL={hub.checked}"),
            *(word for name, text in given.items() for word in ("--input", f"{name}={text}")),
        )
    )


def test_the_unchanged_agent_passes_and_says_so(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    ended = judge(runner, hub, pull_request, checkout(tmp_path / "copy"))
    assert ended.code == 0, ended.stdout + ended.stderr
    outputs = ended.outputs()
    assert (outputs["outcome"], outputs["passed"], outputs["exit-code"]) == ("pass", "true", "0")
    assert outputs["baseline-source"] == "repo"
    assert json.loads(outputs["newly-failing"]) == []
    assert (ended.state / "workspace" / outputs["session-dir"] / "summary.json").is_file()
    (comment,) = hub.comments(pull_request["number"])
    sha = pull_request["pull_request"]["head"]["sha"]
    assert comment["body"].startswith(f"<!-- agent-gate id=gate sha={sha} run=1.1 v=1 -->\n")
    assert outputs["comment-url"]
    assert "analytics" in ended.file("step_summary")


def test_a_worse_agent_fails_and_the_same_comment_names_what_broke(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    ended = judge(runner, hub, pull_request, checkout(tmp_path / "copy", top_k=1))
    assert ended.code == 1, ended.stdout + ended.stderr
    outputs = ended.outputs()
    assert (outputs["outcome"], outputs["passed"], outputs["exit-code"]) == ("fail", "false", "1")
    broken = json.loads(outputs["regressions"])
    assert broken
    (comment,) = hub.comments(pull_request["number"])
    for regression in broken:
        assert regression.partition(": ")[2] in comment["body"]
    newly_failing = json.loads(outputs["newly-failing"])
    assert newly_failing
    assert newly_failing[0].partition(": ")[2] in comment["body"]
    assert TOKEN not in comment["body"] + ended.stdout + ended.stderr + ended.file("step_summary")


def test_every_declared_output_is_written(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    ended = judge(runner, hub, pull_request, checkout(tmp_path / "copy"))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(ended.outputs()) == set(action["outputs"])


def test_fail_false_leaves_the_verdict_to_the_outputs(
    runner: Runner, hub: Hub, pull_request: dict[str, object], tmp_path: Path
) -> None:
    workspace = checkout(tmp_path / "copy", top_k=1)
    ended = judge(runner, hub, pull_request, workspace, fail="false", comment="never")
    assert ended.code == 0, ended.stdout + ended.stderr
    assert ended.outputs()["outcome"] == "fail"
    assert ended.outputs()["comment-url"] == ""
