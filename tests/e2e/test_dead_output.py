"""Output that nobody reads, that is closed, or that a full disk takes: the exit code stays the
verdict's.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.yes_project import write_recorded_project


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    """`$GATE` in the line is the command; the code is that of its part of a pipe."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; GATE='{sys.executable} -m gate'; {line}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


DEAD = {
    "stderr full": "$GATE run 2>/dev/full",
    "stdout full": "$GATE run >/dev/full",
    "both full": "$GATE run >/dev/full 2>/dev/full",
    "both full, verbose": "$GATE run --verbose --format json >/dev/full 2>&1",
    "both closed": "$GATE run >&- 2>&-",
    "all closed": "$GATE run <&- >&- 2>&-",
    "nobody reads": "$GATE run --verbose 2>&1 | head -c 0",
}


@pytest.mark.parametrize(("name", "code"), [*((name, 0) for name in DEAD), ("both full", 1)])
def test_the_verdict_keeps_its_exit_code(name: str, code: int, tmp_path: Path) -> None:
    write_recorded_project(tmp_path, code)
    done = shell(tmp_path, DEAD[name])
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (session,) = (tmp_path / "results").glob("session-*")
    assert json.loads((session / "summary.json").read_text())["exit_code"] == code
    for path in (session / "events.jsonl", session / "details.jsonl"):
        for line in path.read_text().splitlines():
            json.loads(line)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("$GATE --help >/dev/full", 6),
        ("$GATE --help | head -c 0", 0),
        ("$GATE --nonsense 2>/dev/full", 2),
        ("$GATE schema case >&-", 6),
        ("$GATE schema case | head -c 0", 0),
        ("$GATE validate >&- 2>&-", 6),
        ("$GATE validate >/dev/full", 0),
    ],
)
def test_other_commands(line: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "gate.yml").write_text("version: 1\nagent: {type: sample}\n")
    done = shell(tmp_path, line)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
