"""Our upload and download of artifacts against parts that we did not write.

The service is `dtu-github-actions` (0.18.1), the other client GitHub's own `@actions/artifact`
(6.2.1), both on Node 24 from the npm package `node`. GATE_ARTIFACT_NODE names the folder whose
`node_modules` has the three; `.ci/run` makes it.
"""

from __future__ import annotations

import base64
import json
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gate.github.api import Api
from gate.github.artifacts import fetch
from gate.github.upload import SERVICE, upload_folder
from gate.records.forge import BaselineRequest
from tests.support.github_server import HEAD, REPOSITORY, REPOSITORY_ID, GitHub, serving
from tests.support.session_files import files_below

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SERVER = """
import { startEphemeralDtu } from "dtu-github-actions/ephemeral";
const dtu = await startEphemeralDtu(process.env.DTU_CACHE_DIR);
process.stdout.write(`port ${dtu.port}\\n`);
process.stdin.on("end", () => process.exit(0)).resume();
"""
UPLOAD = """
import { DefaultArtifactClient } from "@actions/artifact";
const [name, root, ...files] = process.argv.slice(1);
const done = await new DefaultArtifactClient().uploadArtifact(name, files, root);
console.log(`made ${JSON.stringify(done)}`);
"""
DOWNLOAD = """
import { DefaultArtifactClient } from "@actions/artifact";
const [name, path] = process.argv.slice(1);
const client = new DefaultArtifactClient();
const { artifacts } = await client.listArtifacts();
const { artifact } = await client.getArtifact(name);
await client.downloadArtifact(artifact.id, { path });
console.log(`made ${JSON.stringify(artifacts)}`);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A running service, and what a job has in its environment to reach it."""

    home: Path
    env: Mapping[str, str]

    def client(self, script: str, *arguments: str | Path) -> Any:
        """What GitHub's own client came to."""
        command = [node(self.home), "--input-type=module", "-e", script, "--", *map(str, arguments)]
        run = subprocess.run(
            command,
            cwd=self.home,
            env=dict(self.env),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return next(json.loads(x[5:]) for x in run.stdout.splitlines() if x.startswith("made "))

    def signed_address(self, name: str) -> str:
        address = f"{self.env['ACTIONS_RESULTS_URL']}{SERVICE}GetSignedArtifactURL"
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(address, json.dumps({"name": name}).encode(), headers)
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)["signedUrl"]


def node(home: Path) -> str:
    return str(home / "node_modules" / "node" / "bin" / "node")


@pytest.fixture
def service(gate_artifact_node: Path, tmp_path: Path) -> Iterator[Service]:
    store = tmp_path / "store"
    store.mkdir()
    command = [node(gate_artifact_node), "--input-type=module", "-e", SERVER]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "DTU_CACHE_DIR": str(store)}
    with subprocess.Popen(
        command,
        cwd=gate_artifact_node,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        guard = threading.Timer(60, process.kill)  # reading its first lines has no time limit
        guard.start()
        try:
            assert process.stdout is not None
            port = next(line[5:].strip() for line in process.stdout if line.startswith("port "))
            claims = json.dumps({"scp": "Actions.Example Actions.Results:run-1:job-1"}).encode()
            token = f"e30.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.c2ln"
            address = f"http://127.0.0.1:{port}"
            job = {"ACTIONS_RUNTIME_TOKEN": token, "ACTIONS_RESULTS_URL": address}
            yield Service(home=gate_artifact_node, env={**env, **job})
        finally:
            guard.cancel()
            process.kill()


def test_githubs_client_finds_what_we_stored(service: Service, tmp_path: Path) -> None:
    session = tmp_path / "session"
    (session / "control").mkdir(parents=True)
    (session / "meta.json").write_text("{}")
    (session / "control" / "events.jsonl").write_bytes(bytes(range(256)) * 90_000)  # > two blocks
    (session / "ünïcode name.md").write_text("é")
    noise = (tmp_path / "noise").open("wb")
    with noise, Path("/dev/urandom").open("rb") as random:
        noise.write(random.read(9 << 20))  # more than one block, however it is compressed
    (tmp_path / "noise").rename(session / "noise.bin")
    done = upload_folder(session, "gate-session-1", service.env, http_on_loopback=True)
    assert done.note == ""
    listed = service.client(DOWNLOAD, "gate-session-1", tmp_path / "got")
    assert [(a["name"], a["size"], str(a["id"])) for a in listed] == [
        ("gate-session-1", done.size, done.artifact_id)
    ]
    assert files_below(tmp_path / "got") == files_below(session)


def test_we_read_the_baseline_that_githubs_client_stored(service: Service, tmp_path: Path) -> None:
    folder = tmp_path / "baselines"
    folder.mkdir()
    (folder / "analytics.json").write_text('{"a": 1}')
    (folder / "dialogue.json").write_text('{"b": 2}')
    done = service.client(UPLOAD, "gate-baseline", folder, *sorted(folder.iterdir()))
    request = BaselineRequest(
        suite="dialogue",
        path="baselines",
        branch="main",
        base_sha=None,
        artifact="gate-baseline",
        workflow=None,
        max_age_days=30,
        now=NOW,
    )
    here = {"id": REPOSITORY_ID}
    run = {"id": 1, "head_sha": HEAD, "event": "push", "conclusion": "success"}
    run |= {"head_branch": "main", "created_at": NOW.isoformat()}
    run |= {"repository": here, "head_repository": here}
    stored = {"id": 9, "name": "gate-baseline", "expired": False}
    github = GitHub(
        runs=[run],
        artifacts={1: [{**stored, "digest": f"sha256:{done['digest']}"}]},
        stores={9: service.signed_address("gate-baseline")},
    )
    with serving(github):
        api = Api(github.url, "token", REPOSITORY, http_on_loopback=True)
        found = fetch(api, request, repository_id=REPOSITORY_ID)
        api.close()
    assert found is not None
    assert found.files(request).files == {"dialogue.json": b'{"b": 2}'}
    assert github.violations == []
