"""The native action's step: an environment of its own, once a job, then `gate action`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.support.paths import ROOT

RUN = ROOT / "native" / "run.py"


def step(temporary: Path, workspace: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """The step as the runner starts it, with every declared input; an absent one is empty. The
    workspace is a stranger's, and its modules are not those of anybody else.
    """
    for module in ("pip", "json", "venv", "gate"):
        (workspace / f"{module}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    declared = yaml.safe_load((ROOT / "native" / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: spec.get("default", "") for name, spec in declared["inputs"].items()}
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "PYTHON"))}
    text = json.dumps({**inputs, "github-token": "", **given})
    return subprocess.run(
        [sys.executable, str(RUN)],
        cwd=workspace,
        env={**kept, "RUNNER_TEMP": str(temporary), "GATE_INPUTS": text},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runner_temp")


def test_the_inputs_reach_the_gate(temporary: Path, tmp_path: Path) -> None:
    for _ in range(2):  # the second time the environment is there already
        ended = step(temporary, tmp_path, config="nowhere.yml")
        assert ended.returncode == 2, ended.stdout + ended.stderr
        assert "nowhere.yml" in ended.stdout + ended.stderr
    assert (temporary / "agent-gate" / "installed").is_file()


def test_the_packages_of_the_job_stay_importable_behind_ours(
    temporary: Path, tmp_path: Path
) -> None:
    step(temporary, tmp_path, config="nowhere.yml")
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = temporary / "agent-gate" / scripts / "python"
    code = "import pytest, requests; print(pytest.__file__); print(requests.__file__)"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    theirs, ours = found.stdout.split("\n")[:2]
    assert Path(theirs) == Path(pytest.__file__)
    assert temporary in Path(ours).parents
