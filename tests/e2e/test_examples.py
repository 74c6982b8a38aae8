"""The folders of examples/, played: the commands of each page print what the page shows."""

import os
import re
import runpy
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.in_process import gate
from tests.support.loopback import listening
from tests.support.paths import ROOT

EXAMPLES = ROOT / "examples"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PEERS = Path(os.environ.get("GATE_PEERS", ""))
# The environment `examples` of GATE_PEERS has the packages of their requirements.txt.
PACKAGES = next((PEERS / "examples").glob("lib/python*/site-packages"), None)


def folders():
    for page in sorted(EXAMPLES.glob("*/README.md")):
        needed = page.with_name("requirements.txt").exists()
        yield pytest.param(page.parent, id=page.parent.name, marks=[pytest.mark.peers] * needed)


@pytest.fixture
def surroundings(folder):
    """What the agent's process finds, and its server's; skips where a package is missing."""
    required = folder / "requirements.txt"
    if not required.exists():
        yield {}
        return
    name = required.read_text().partition("==")[0]
    if PACKAGES is None or not (PACKAGES / name).is_dir():
        pytest.skip(f"GATE_PEERS names no folder with the environment examples, with {name}")
    if PACKAGES.parent.name != f"python{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip(f"{name} is installed for {PACKAGES.parent.name}")
    sys.path.append(str(PACKAGES))
    yield {"PYTHONPATH": str(PACKAGES)}
    sys.path.remove(str(PACKAGES))


def serving(folder):
    """The address of the example's server, if it has one."""
    if not (folder / "agent.py").exists() or "http://" not in (folder / "gate.yml").read_text():
        return nullcontext("")
    return listening(runpy.run_path(str(folder / "agent.py"))["Agent"])


def plain(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("folder", list(folders()))
def test_an_example_does_what_its_page_says(folder, surroundings, tmp_path):
    work = shutil.copytree(folder, tmp_path / folder.name)
    blocks = BLOCK.findall((folder / "README.md").read_text(encoding="utf-8"))
    commands = [line for kind, text in blocks if kind == "sh" for line in text.splitlines()]
    assert commands[0] == "gate validate"
    assert len(commands) in (3, 4)
    printed = ""
    with serving(folder) as url:
        for command in commands:
            words, _, note = command.partition(" # exit code ")
            done = gate(work, *words.split()[1:], env={**surroundings, "AGENT": url})
            assert done.returncode == int(note or 0), done.stdout + done.stderr
            printed += done.stdout
    shown = [line for kind, text in blocks if kind == "text" for line in text.splitlines()]
    assert len(shown) >= 4
    assert [line for line in shown if plain(line) not in plain(printed)] == []


def test_every_example_is_in_the_table():
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = {path.name for path in EXAMPLES.iterdir() if path.name not in ("agents", "README.md")}
    assert len(there) >= 15
    assert [name for name in sorted(there) if f"]({name}" not in index] == []
    for page in EXAMPLES.glob("**/README.md"):
        assert page.read_text(encoding="utf-8").split("\n\n", 2)[1].startswith("For "), page
