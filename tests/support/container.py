"""The image and the GitHub that it meets: built and run as GitHub's runner does it, on loopback.

Needs GATE_TOOLS; the fixtures `image`, `runner`, `hub`, `project` and `pull_request` are in
conftest.py.
"""

import base64
import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.github_peer import github_peer
from tests.support.paths import DATA, ROOT

TAG = "localhost/agent-gate:test"
SET_UP_FAILED = (91, 92)  # the machine cannot build images: not this project's fault
TOKEN = "test_token_admin"  # the emulator's own
REPOSITORY = "octocat/demo"
# What the gate may ask of GitHub; a request outside is a violation.
DESCRIPTION = DATA / "github_api.json"


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

    def said(self) -> str:
        return self.stdout + self.stderr


def container_build(
    tools: Path, *options: str, project: Path = ROOT, tag: str = TAG
) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(tools / "container_build.sh"), str(project), "--tag", tag, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def _built(folder: Path) -> Path:
    """A project whose image is the one that was built from ROOT: a runner builds once a job, and
    looking through all its layers again takes longer than starting it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "action.yml", folder)
    (folder / "Dockerfile").write_text(f"FROM {TAG}\n", encoding="utf-8")
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Starts the image in a fresh workspace."""

    tools: Path
    state: Path

    def run(self, *arguments: str, options: tuple[str, ...] = ()) -> Container:
        after = ("--", *arguments) if arguments else ()
        state = ("--state", str(self.state))
        project = _built(self.state / "project")
        ended = container_build(
            self.tools, *state, *options, *after, project=project, tag=f"{TAG}-again"
        )
        return Container(
            code=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, state=self.state
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """A GitHub with the repository octocat/demo: `direct` to set it up, `checked` for the gate."""

    direct: str
    checked: str

    def call(self, method: str, path: str, body: object = None) -> object:
        request = urllib.request.Request(
            f"{self.direct}/repos/{REPOSITORY}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def put(self, path: str, content: bytes, branch: str, *, over: bool = False) -> str:
        """The commit that adds the file, or writes it over the one that is there."""
        text = base64.b64encode(content).decode()
        body = {"message": f"Add {path}", "content": text, "branch": branch}
        if over:
            body["sha"] = self.call("GET", f"/contents/{path}?ref={branch}")["sha"]
        return self.call("PUT", f"/contents/{path}", body)["commit"]["sha"]

    def refer(self, ref: str, sha: str) -> None:
        """A new branch (heads/NAME) or tag (tags/NAME)."""
        self.call("POST", "/git/refs", {"ref": f"refs/{ref}", "sha": sha})

    def tag(self, name: str, sha: str) -> None:
        """A tag. This server lists only those with an object of their own, and gives its hash
        where GitHub gives the commit's: a branch of that name leads to the commit.
        """
        about = {"tag": name, "message": name, "object": sha, "type": "commit"}
        made = self.call("POST", "/git/tags", about)
        self.refer(f"heads/{made['sha']}", sha)
        self.refer(f"tags/{name}", sha)

    def comments(self, number: int) -> list[dict[str, object]]:
        return self.call("GET", f"/issues/{number}/comments?per_page=100")

    def pull(self, branch: str, base: str) -> dict[str, object]:
        """The payload of a new pull request from a new branch at `base`, one commit ahead of it."""
        self.refer(f"heads/{branch}", base)
        self.put("prompt.txt", b"Be brief.", branch)
        made = self.call("POST", "/pulls", {"title": branch, "head": branch, "base": "main"})
        return {
            "action": "synchronize",
            "number": made["number"],
            "repository": {"id": 1, "full_name": REPOSITORY, "default_branch": "main"},
            "pull_request": {
                "number": made["number"],
                "draft": False,
                "labels": [],
                "head": {
                    "sha": made["head"]["sha"],
                    "ref": branch,
                    "repo": {"full_name": REPOSITORY, "fork": False},
                },
                "base": {"sha": base, "ref": "main", "repo": {"full_name": REPOSITORY}},
            },
        }


@contextmanager
def serving(tools: Path) -> Iterator[Hub]:
    """A GitHub while the block runs; at its end an AssertionError lists the requests that broke
    GitHub's own description.
    """
    with github_peer(tools, description=_description()) as peer:
        yield Hub(direct=peer.direct, checked=peer.checked)
        told = peer.violations()
        assert told == "", f"requests that break GitHub's description:\n{told}"


def _description() -> str:
    description = json.loads(DESCRIPTION.read_bytes())
    answers = {"200": {"description": "what the script waits for"}}
    description["paths"]["/rate_limit"] = {"get": {"responses": answers}}
    return json.dumps(description)


def dataset_files() -> list[str]:
    folder = ROOT / "datasets" / "analytics"
    found = [*folder.glob("*.jsonl"), *folder.glob("*.yml")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def rules() -> dict[str, Any]:
    """The project's gate.yml with the suite `analytics` alone: what is tested is the container."""
    config: dict[str, Any] = yaml.safe_load((ROOT / "gate.yml").read_text(encoding="utf-8"))
    config["suites"] = [one for one in config["suites"] if one["name"] == "analytics"]
    return config


def checkout(folder: Path, **agent_options: object) -> Path:
    """A working copy of the project; `agent_options` make the sample agent worse."""
    folder.mkdir()
    for name in ("baselines", "datasets"):
        shutil.copytree(ROOT / name, folder / name)
    config = rules()
    config["agent"] = {"type": "sample", "options": agent_options}
    (folder / "gate.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


def judge(
    runner: Runner,
    hub: Hub,
    payload: object,
    workspace: Path,
    *,
    env: Mapping[str, str] | None = None,
    **inputs: str,
) -> Container:
    """The action on an event; `env` over what a runner sets for a pull request."""
    event = workspace.parent / "event.json"
    event.write_text(json.dumps(payload), encoding="utf-8")
    given = {"github-token": TOKEN, "sample": "60", **inputs}
    variables = {"GITHUB_API_URL": hub.checked, **(env or {})}
    return runner.run(
        options=(
            *("--network", "host", "--workspace", str(workspace), "--event", str(event)),
            *(word for name, text in variables.items() for word in ("--env", f"{name}={text}")),
            *(word for name, text in given.items() for word in ("--input", f"{name}={text}")),
        )
    )
