"""A stateful GitHub API that others wrote, behind a proxy that checks each request against GitHub's
own description. It comes from GATE_TOOLS/github_api.sh, and needs node and npm.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gate.files.locked_update import FileLock

SHARED = Path(tempfile.gettempdir()) / "agent-gate-github-peer"  # what is installed once


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """`direct` is the server, `checked` the way to it through the proxy."""

    direct: str
    checked: str
    script: Path
    env: Mapping[str, str]

    def violations(self) -> str:
        """The requests that broke GitHub's description so far; empty when none did."""
        told = _call(self.script, self.env, "violations", check=False)
        return "" if told.returncode == 0 else told.stdout


@contextmanager
def github_peer(tools: Path, *, description: str | None = None) -> Iterator[Peer]:
    """One of its own, so that no other one is stopped. `description` stands in for the slice that
    the script cuts itself.
    """
    script = tools / "github_api.sh"
    with tempfile.TemporaryDirectory(prefix="agent-gate-github-") as name:
        home = Path(name)
        env = {**os.environ, "GITHUB_PEER_HOME": name}
        (home / "node_modules").symlink_to(_installed(script) / "node_modules")
        (home / ".ok").touch()
        if description is not None:
            (home / "api.json").write_text(description, encoding="utf-8")
        else:
            (home / "api.json").write_bytes((SHARED / "api.json").read_bytes())
        port, proxy = _free_ports()
        _call(script, env, "start", "--port", port, "--proxy", proxy)
        try:
            yield Peer(
                direct=f"http://localhost:{port}",
                checked=f"http://localhost:{proxy}",
                script=script,
                env=env,
            )
        finally:
            _call(script, env, "stop")


def _installed(script: Path) -> Path:
    """Several test processes want it at once; the first one installs it."""
    SHARED.mkdir(exist_ok=True)
    lock = FileLock(SHARED / ".lock")
    while not lock.acquire():
        time.sleep(0.2)
    try:
        if not (SHARED / ".ok").exists():
            env = {**os.environ, "GITHUB_PEER_HOME": str(SHARED)}
            port, proxy = _free_ports()
            _call(script, env, "start", "--port", port, "--proxy", proxy)
            _call(script, env, "stop")
    finally:
        lock.release()
    return SHARED


def _call(
    script: Path, env: Mapping[str, str], *arguments: str, check: bool = True
) -> subprocess.CompletedProcess[str]:
    # Not a pipe for what `start` says: the server, which goes on, would hold it open.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        ended = subprocess.run(
            ["bash", str(script), *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        said.seek(0)
        text = said.read()
    assert ended.returncode == 0 or not check, text
    return subprocess.CompletedProcess(ended.args, ended.returncode, text, "")


def _free_ports() -> tuple[str, str]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1]), str(two.getsockname()[1])
