"""The native action's only step: Agent Gate in an environment of its own, then `gate action`.

The packages of the calling Python stay importable behind ours, so that a `python` agent or grader
finds what the job has installed, and nothing of ours gets into the job's own environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, MutableMapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(env: MutableMapping[str, str]) -> int:
    """Exit status of `gate action`; 2 when this Python is too old, pip's own when it fails."""
    inputs = env.pop("GATE_INPUTS")  # with the token: pip and what it starts need none
    if sys.version_info < (3, 11):  # noqa: UP036 - the job's Python is not ours to choose
        found = sys.version.split()[0]
        print(f"::error::Agent Gate needs Python 3.11 or newer, the job's `python` is {found}")
        print("Put actions/setup-python before this step.")
        return 2
    home = Path(env["RUNNER_TEMP"]) / "agent-gate"
    paths = sysconfig.get_paths("venv", vars={"base": str(home), "platbase": str(home)})
    python = Path(paths["scripts"]) / ("python.exe" if os.name == "nt" else "python")
    return install(home, python, Path(paths["purelib"])) or act(python, env, inputs)


def install(home: Path, python: Path, packages: Path) -> int:
    """Makes the environment, once a job; returns pip's exit status."""
    mark = home / "installed"
    if mark.exists():
        return 0
    venv.create(home, with_pip=True, clear=True)
    caller = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    (packages / "packages_of_the_job.pth").write_text("\n".join(caller) + "\n", encoding="utf-8")
    # -P: the working folder is the pull request's own tree, and a pip.py in it is not pip.
    pip = [str(python), "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # --ignore-installed: a package that the job has must not stand in for one of ours.
    command = [*pip, "--ignore-installed", str(ROOT)]
    status = subprocess.run(command, check=False).returncode  # noqa: S603 - a fixed command
    if status == 0:
        mark.touch()
    return status


def act(python: Path, env: Mapping[str, str], inputs: str) -> int:
    """Runs `gate action`; on POSIX in place of this process, so that the signals of a cancelled job
    reach it and no process stays behind that was started with the token.
    """
    command = [str(python), "-P", "-m", "gate", "action"]
    # Some runners hand a composite action the inputs of the one around it.
    outer = [name for name in env if name.startswith("INPUT_")]
    full = {**{k: v for k, v in env.items() if k not in outer}, **as_inputs(inputs)}
    if os.name == "posix":
        os.execve(python, command, full)  # noqa: S606
    return subprocess.run(command, env=full, check=False).returncode  # noqa: S603


def as_inputs(text: str) -> dict[str, str]:
    """The inputs as GitHub names them for a container: INPUT_, upper case, dashes kept."""
    return {
        f"INPUT_{name.replace(' ', '_').upper()}": value for name, value in json.loads(text).items()
    }


if __name__ == "__main__":
    sys.exit(main(os.environ))
