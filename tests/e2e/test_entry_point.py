"""The three ways in: the installed command, `python -m gate`, and the image's entry point."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gate import __version__
from tests.support.paths import ROOT


def gate(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return start([sys.executable, "-m", "gate", *arguments], cwd=cwd, **env)


def container(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The code of the Dockerfile's ENTRYPOINT, with the sources in place of the image."""
    code = "from gate.cli import container_main; container_main()"
    assert code in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    first = f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
    return start([sys.executable, "-IB", "-c", first + code, *arguments], cwd=cwd, **env)


def start(command: list[str], *, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(
        command,
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **env},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("entry", [gate, container])
def test_version(entry: object, tmp_path: Path) -> None:
    run = entry("--version", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (0, f"gate {__version__}\n")
    assert run.stderr == ""


@pytest.mark.parametrize("entry", [gate, container])
def test_help_lists_the_commands(entry: object, tmp_path: Path) -> None:
    run = entry("--help", cwd=tmp_path)
    assert run.returncode == 0
    for command in ("run", "compare", "baseline", "validate", "init", "agent", "action"):
        assert f"\n    {command} " in run.stdout


def test_no_command_is_a_usage_error_on_a_laptop(tmp_path: Path) -> None:
    run = gate(cwd=tmp_path)
    assert run.returncode == 2
    assert "usage: gate" in run.stdout + run.stderr


def test_the_image_without_arguments_is_the_action(tmp_path: Path) -> None:
    # The action, not the help: it reads its inputs, and this one names a file that is not there.
    run = container(cwd=tmp_path, INPUT_CONFIG="nowhere.yml")
    assert run.returncode == 2
    assert "nowhere.yml" in run.stdout + run.stderr


def test_the_image_with_an_option_first_runs(tmp_path: Path) -> None:
    run = container("--config", "nowhere.yml", cwd=tmp_path)
    assert run.returncode == 2
    assert "nowhere.yml" in run.stderr


def test_the_image_takes_an_empty_argument_for_none(tmp_path: Path) -> None:
    # The runner passes `args: ${{ inputs.x }}` as "" where x is empty.
    run = container("", "--config", "nowhere.yml", cwd=tmp_path)
    assert run.returncode == 2
    assert "nowhere.yml" in run.stderr


def test_the_image_with_a_command_first_does_it(tmp_path: Path) -> None:
    run = container("schema", "config", cwd=tmp_path)
    assert run.returncode == 0
    assert '"additionalProperties": false' in run.stdout


def test_an_unknown_command_says_where_to_look(tmp_path: Path) -> None:
    run = gate("rum", cwd=tmp_path)
    assert run.returncode == 2
    assert "gate --help" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_file_of_the_workspace_cannot_stand_in_for_a_module(tmp_path: Path) -> None:
    for name in ("gate", "argparse", "json", "yaml", "requests"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    run = container("schema", "config", cwd=tmp_path, PYTHONPATH=str(tmp_path), HOME=str(tmp_path))
    assert run.returncode == 0, run.stderr
