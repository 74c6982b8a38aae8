"""The lines with which README.md installs Agent Gate, run as they stand there. The address of the
project leads to a repository with the files of this checkout; what they depend on comes from the
package registry.

GATE_PEERS/installers has pipx and uv; tests/install_peers.sh makes it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate import __version__
from tests.support.git_repository import git
from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = README.partition("## Install\n")[2].partition("\n## ")[0]
TOOLS = Path(os.environ.get("GATE_PEERS") or "-").absolute() / "installers" / "bin"

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(not (TOOLS / "pipx").exists(), reason="GATE_PEERS has no installers"),
]


def shown() -> dict[str, str]:
    """Each installer and its line; `uv tool install` takes the address of the block."""
    ((line, address),) = re.findall(r"^```sh\n(pipx .* (git\+\S+))\n```$", INSTALL, re.MULTILINE)
    (uv,) = re.findall(r"`(uv tool install)` takes the same address", INSTALL)
    (pip,) = re.findall(r"in a clone, `(pip install [^`]+)` does", INSTALL)
    return {"pipx": line, "uv": f"{uv} {address}", "pip": pip}


def surroundings(home: Path) -> dict[str, dict[str, str]]:
    """Of each installer: what it installs lands in `home`, downloads stay where they always do."""
    foreign = ("PYTHON", "GATE_", "GIT_", "VIRTUAL_ENV")
    own = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    common = {
        **own,
        "PATH": os.pathsep.join((str(TOOLS), own["PATH"])),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{home}/origin.git.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/agent-gate/agent-gate",
    }
    pipx = {"PIPX_HOME": f"{home}/pipx/home", "PIPX_BIN_DIR": f"{home}/pipx/bin"}
    uv = {"UV_TOOL_DIR": f"{home}/uv/home", "UV_TOOL_BIN_DIR": f"{home}/uv/bin"}
    pip = {"PATH": os.pathsep.join((f"{home}/pip/bin", common["PATH"]))}
    return {"pipx": common | pipx, "uv": common | uv, "pip": common | pip}


def say(command: str, folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """Exit code and output."""
    done = subprocess.run(
        ["sh", "-c", f"{command} 2>&1"],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


def publish(home: Path) -> None:
    """One commit. The checkout itself may be shallow, and git waits for ever on a partial clone of
    a shallow repository.
    """
    git(home, "init", "--quiet", "--bare", "--initial-branch=main", "origin.git")
    files = (f"--git-dir={home}/origin.git", f"--work-tree={ROOT}")
    git(ROOT, *files, "add", "--all")
    git(ROOT, *files, "commit", "--quiet", "--message=newest")


def test_each_line_of_the_readme_installs_a_gate_that_answers(tmp_path: Path) -> None:
    publish(tmp_path)
    lines, env = shown(), surroundings(tmp_path)
    ready = say(f"uv venv --seed {tmp_path}/pip", tmp_path, env["uv"])
    with ThreadPoolExecutor() as at_once:  # most of the time they wait for downloads
        waiting = {name: at_once.submit(say, line, ROOT, env[name]) for name, line in lines.items()}
    said = {"venv": ready} | {name: one.result() for name, one in waiting.items()}
    if any(code for code, _ in said.values()):
        fetch = f"uv pip install --no-cache --no-deps --target {tmp_path}/other hatchling"
        code, why = say(fetch, tmp_path, env["uv"])
        if code:
            pytest.skip(f"the package registry cannot be reached: {why[-300:]}")
    assert {name: text for name, (code, text) in said.items() if code} == {}
    for name, line in lines.items():
        answer = say(f"{tmp_path}/{name}/bin/gate --version", tmp_path, env[name])
        assert answer == (0, f"gate {__version__}\n"), line
