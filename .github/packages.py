"""Builds the wheel and the source archive, checks them, and tries each in a clean environment:

    python .github/packages.py [PYTHON ...]

with each of these interpreters, by default the one that runs it, which needs `build` and `twine`.
It needs an index of packages, so CI runs it (.github/workflows/check.yml) and the tests do not.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINARIES = "Scripts" if sys.platform == "win32" else "bin"
AGENT = """
def answer(question):
    return "It costs 12 EUR"
"""
QUESTIONS = "input,expected_answer\nWhat does a cap cost?,12 EUR\nHow much is a cap?,12 EUR\n"
COMMANDS = (
    "--version",
    "--self-test",
    "init --agent python --callable ./agent.py:answer --from csv questions.csv",
    "run --quiet",
    "baseline save",
    "run --quiet",
)


def main(pythons: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        packages = sorted((folder / "dist").iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *packages, cwd=folder)
        for python in pythons:
            for package in packages:
                with tempfile.TemporaryDirectory() as clean:
                    try_package(python, package, Path(clean))


def try_package(python: str, package: Path, folder: Path) -> None:
    """Installs it and does with it what a newcomer does."""
    home, project = folder / "environment", folder / "project"
    run(python, "-m", "venv", home, cwd=ROOT)
    scripts = home / BINARIES
    run(scripts / "python", "-m", "pip", "install", "--quiet", package, cwd=ROOT)
    project.mkdir()
    (project / "agent.py").write_text(AGENT, encoding="utf-8")
    (project / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    for command in COMMANDS:
        run(scripts / "gate", *command.split(), cwd=project)
    print(f"ok: {package.name} with {python}", flush=True)


def run(*command: str | Path, cwd: Path) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True)  # noqa: S603 - ours


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
