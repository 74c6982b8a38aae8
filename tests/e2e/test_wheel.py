"""The wheel, installed in an environment of its own, works in an empty folder.

What it says it depends on is borrowed from the environment of the tests, and nothing else: from an
index it would be fetched for each run of the tests.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from contextlib import suppress
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    PathDistribution,
    distribution,
)
from pathlib import Path

import pytest

from gate import __version__
from tests.support.paths import ROOT

CLEAN = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GATE_"))}


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=CLEAN,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def needed(package: Distribution) -> dict[str, Distribution]:
    """What has to be there for it, and for that in turn, without extras."""
    found: dict[str, Distribution] = {}
    waiting = [package]
    while waiting:
        for line in waiting.pop().requires or ():
            name = re.split("[^A-Za-z0-9._-]", line)[0]
            if name not in found and "extra ==" not in line:
                with suppress(PackageNotFoundError):  # it is for another Python or system
                    found[name] = distribution(name)
                    waiting.append(found[name])
    return found


def borrow(file: Path, place: Path) -> None:
    if place.exists():
        return
    if os.name != "nt":
        place.symlink_to(file)
    elif file.is_dir():
        shutil.copytree(file, place)
    else:
        shutil.copy(file, place)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    built = run(*pip, "wheel", "--quiet", "--no-deps", "-w", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("agent_gate-*.whl")
    return found


@pytest.fixture(scope="session")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the `gate` command in an environment that holds the wheel, before all else."""
    home = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home).returncode == 0
    paths = sysconfig.get_paths("venv", vars={"base": str(home), "platbase": str(home)})
    python = Path(paths["scripts"]) / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    installed = run(*pip, "install", "--quiet", "--no-deps", wheel, cwd=home)
    assert installed.returncode == 0, installed.stderr
    (written,) = Path(paths["purelib"]).glob("agent_gate-*.dist-info")
    for package in needed(PathDistribution(written)).values():
        for file in {path.parts[0] for path in package.files or ()} - {"..", "__pycache__"}:
            borrow(Path(str(package.locate_file(file))), Path(paths["purelib"]) / file)
    return Path(paths["scripts"])


def test_the_wheel_holds_the_datasets_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "gate/bundled/analytics/suite.yml" in names
    assert "gate/py.typed" in names
    wanted = {
        f"gate/bundled/{path.relative_to(ROOT / 'datasets').as_posix()}"
        for path in (ROOT / "datasets").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= set(names)
    assert not [n for n in names if n.startswith(("tests/", "datasets/")) or n.endswith(".pyc")]


def test_it_answers(scripts: Path, tmp_path: Path) -> None:
    answer = run(scripts / "gate", "--version", cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (0, f"gate {__version__}\n")


def test_the_bundled_suites_are_valid_in_an_empty_folder(scripts: Path, tmp_path: Path) -> None:
    answer = run(scripts / "gate", "validate", "--suite", "all", cwd=tmp_path)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert not list(tmp_path.iterdir()), "validate writes nothing"


def test_an_unknown_suite_is_refused_by_name(scripts: Path, tmp_path: Path) -> None:
    answer = run(scripts / "gate", "validate", "--suite", "analytica", cwd=tmp_path)
    assert answer.returncode == 2
    assert "analytica" in answer.stderr
