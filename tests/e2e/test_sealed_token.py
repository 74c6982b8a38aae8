"""No process that a run starts can read what the job gave to the gate alone: it looks through every
environment and memory that the kernel shows it, and prints what it finds.
"""

import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.in_process import gate
from tests.support.paths import ROOT

TOKEN, SERVICE, MINE = "ghs_Zq8vT3nLk5", "eyJ0ZWFwb3Q.x9", "hunter2-of-the-agent"
PR_CAPBSET_DROP, CAPABILITIES = 24, (19, 21, 38)  # SYS_PTRACE, SYS_ADMIN and PERFMON
SPY = """import json, os, pathlib, sys
sys.stdin.read()
looked, found = 0, []
for folder in pathlib.Path("/proc").iterdir():
    if not folder.name.isdigit() or int(folder.name) in (os.getpid(), SPARED):
        continue
    for name in ("environ", "cmdline"):
        try:
            text = (folder / name).read_bytes()
        except OSError:
            continue
        looked += 1
        found += [f"{folder.name}/{name}: {word}" for word in WORDS if word.encode() in text]
parent, opened = os.getppid(), []
for name in ("environ", "mem", "maps", "auxv", "fd"):
    try:
        path = f"/proc/{parent}/{name}"
        os.readlink(path + "/0") if name == "fd" else open(path, "rb").close()
        opened.append(name)
    except OSError:
        pass
seen = {"looked": looked > 0, "found": found, "opened": opened, "own": sorted(os.environ)}
pathlib.Path("found.json").write_text(json.dumps(seen))
"""
NOWHERE = "http://127.0.0.1:9"
SKIPPED = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")


def entry(way: str) -> list[str]:
    """`action`: what native/run.py starts; `image`: the code of the Dockerfile's ENTRYPOINT."""
    if way == "action":
        return [sys.executable, "-P", "-m", "gate", "action"]
    code = "from gate.cli import container_main; container_main()"
    assert code in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    return [sys.executable, "-c", code]


def without_ptrace() -> None:
    """As Docker starts root, and as every other user is: it may not look into any process."""
    if os.geteuid() == 0:
        for capability in CAPABILITIES:
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def spied(folder: Path, way: str, **how: object) -> tuple[dict[str, object], str]:
    """What the agent found, and what the run said."""
    words = f"{[TOKEN, SERVICE]!r}"
    spy = SPY.replace("WORDS", words).replace("SPARED", str(os.getpid()))
    (folder / "spy.py").write_text(spy, encoding="utf-8")
    rules = {
        "version": 1,
        "agent": {"type": "command", "command": [sys.executable, "spy.py"], "env": ["MY_KEY"]},
        "suites": [{"name": "s", "dataset": "c.jsonl", "graders": ["exact_match"], "rounds": 1}],
    }
    (folder / "gate.yml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (folder / "c.jsonl").write_text(json.dumps(case), encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "INPUT_"))}
    given = {
        "INPUT_GITHUB-TOKEN": TOKEN,
        "GITHUB_TOKEN": TOKEN,
        "ACTIONS_RUNTIME_TOKEN": SERVICE,
        "INPUT_BASELINE": "none",
        "MY_KEY": MINE,
        "PYTHONPATH": str(ROOT),
    }
    ended = subprocess.run(
        entry(way), cwd=folder, env={**kept, **given}, capture_output=True, text=True, **how
    )
    said = ended.stdout + ended.stderr
    assert (folder / "found.json").exists(), said
    return json.loads((folder / "found.json").read_text()), said


@SKIPPED
@pytest.mark.parametrize("way", ["action", "image"])
def test_an_agent_finds_no_token_in_any_process(tmp_path: Path, way: str) -> None:
    found, said = spied(tmp_path, way, preexec_fn=without_ptrace)
    assert found["looked"] is True
    assert found["found"] == []
    assert found["opened"] == [], "of the gate's own process nothing can be read"
    assert "MY_KEY" in found["own"], "what gate.yml names is the agent's"
    assert not [name for name in found["own"] if name.startswith(("INPUT_", "ACTIONS_"))]
    assert TOKEN not in said


@SKIPPED
def test_what_the_kernel_shows_of_the_gate_is_wiped_even_for_root(tmp_path: Path) -> None:
    found, _ = spied(tmp_path, "action")
    assert found["found"] == []


@pytest.mark.parametrize(
    "agent",
    [
        {
            "type": "openai",
            "base_url": "http://127.0.0.1:9",
            "api_key_env": "ACTIONS_RUNTIME_TOKEN",
        },
        {"type": "http", "url": NOWHERE, "headers": {"x": "${ACTIONS_RUNTIME_TOKEN}"}},
        {"type": "command", "command": ["true"], "env": ["INPUT_GITHUB-TOKEN"]},
    ],
)
def test_no_agent_may_name_what_is_for_the_gate_alone(tmp_path: Path, agent: object) -> None:
    """A pull request writes its own `agent`, the address that its key is sent to included."""
    rules = {
        "version": 1,
        "agent": agent,
        "suites": [{"name": "s", "dataset": "c.jsonl", "graders": ["exact_match"]}],
    }
    (tmp_path / "gate.yml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    case = {"id": "a", "input": "?", "expected_answer": "x"}
    (tmp_path / "c.jsonl").write_text(json.dumps(case), encoding="utf-8")
    given = {"INPUT_GITHUB-TOKEN": TOKEN, "ACTIONS_RUNTIME_TOKEN": SERVICE}
    ended = gate(tmp_path, "run", "--baseline", "none", env=given)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert re.search(r"(ACTIONS_RUNTIME_TOKEN|INPUT_GITHUB-TOKEN).* is not set", ended.stderr)
