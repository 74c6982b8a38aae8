"""Which commit of the action a new project names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gate import __version__
from gate.commands.init import render_files
from gate.commands.new_project.release import (
    Release,
    read_release,
    refer_to_action,
    tell_reference,
)
from gate.commands.new_project.workflows import Surroundings, render_pages, render_workflows

COMMIT = "0123456789abcdef" * 2 + "01234567"


def stamped(folder: Path, version: str = __version__) -> Path:
    record = {"version": version, "commit": COMMIT}
    (folder / "release.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def test_a_package_of_a_release_pins_its_commit_with_the_version_behind_it(tmp_path: Path) -> None:
    release = read_release(stamped(tmp_path))
    assert release == Release(version=__version__, commit=COMMIT)
    for text in (*render_files("main", release).values(), render_pages(release)):
        named = re.findall(r"uses: (agent-gate/.*)", text)
        assert set(named) <= {f"agent-gate/agent-gate@{COMMIT} # v{__version__}"}
    workflows = [text for text in render_files("main", release).values() if COMMIT in text]
    assert len(workflows) == 3
    assert COMMIT[:7] in tell_reference(release)


def test_the_action_for_an_agent_on_the_machine_of_the_job_is_pinned_too(tmp_path: Path) -> None:
    release = read_release(stamped(tmp_path))
    written = render_workflows(Surroundings(release=release, before=("# Start it here.",)))
    named = re.findall(r"uses: (agent-gate/.*)", "".join(written.values()))
    pin = f"@{COMMIT} # v{__version__}"
    assert set(named) == {f"agent-gate/agent-gate{pin}", f"agent-gate/agent-gate/native{pin}"}
    assert "agent-gate/agent-gate/native at 0123456" in tell_reference(release, native=True)


@pytest.mark.parametrize("version", ["", "9.9.9"])
def test_a_copy_that_knows_no_release_says_how_to_pin_one(tmp_path: Path, version: str) -> None:
    release = read_release(stamped(tmp_path, version) if version else tmp_path)
    assert release is None
    assert refer_to_action(release) == "agent-gate/agent-gate@v0"
    told = tell_reference(release)
    assert "a tag that moves with each release" in told
    assert "`git ls-remote https://github.com/agent-gate/agent-gate v0`" in told


def test_a_checkout_is_no_release() -> None:
    assert read_release() is None
