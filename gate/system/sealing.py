"""What a job gives to the gate alone, out of the reach of every process that a run starts.

A program may read the environment that another one of the same user was started with, from
/proc/<id>/environ: taking a variable out of `os.environ` does not change what the kernel shows.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping, MutableMapping
from pathlib import Path

# Inputs of the action, the runner's own services, and tokens of GitHub and GitLab under their usual
# names.
OF_THE_JOB = re.compile(
    r"INPUT_.*|ACTIONS_.*|(GITHUB|GH)(_ENTERPRISE)?_TOKEN|GITLAB_TOKEN|CI_JOB_TOKEN", re.IGNORECASE
)
# Of these the ones that nothing but the gate has a use for: gate.yml cannot name them either.
OF_THE_GATE = re.compile(r"INPUT_.*|ACTIONS_.*", re.IGNORECASE)
_ENVIRONMENT = slice(47, 49)  # of /proc/<id>/stat after the name: env_start and env_end
_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of <sys/prctl.h>


def nameable(env: Mapping[str, str]) -> dict[str, str]:
    """What gate.yml may name: a pull request that writes an agent's `api_key_env` must not be able
    to send the workflow's token to an address of its own.
    """
    return {name: value for name, value in env.items() if not OF_THE_GATE.fullmatch(name)}


def is_in_a_job(argv: list[str], env: Mapping[str, str]) -> bool:
    """Elsewhere a debugger must be able to look into the process."""
    return argv[:1] == ["action"] or "true" in (env.get("GITHUB_ACTIONS"), env.get("GITLAB_CI"))


def seal_process(
    environ: MutableMapping[str, str], *, linux: bool = sys.platform == "linux"
) -> str:
    """Takes what is the job's out of `os.environ`, so that no child inherits it; on Linux wipes
    what the kernel shows of it, and closes this process to others of its user: its memory too.

    Gives what could not be done, empty if nothing. Not against root with CAP_SYS_PTRACE, who may
    read any memory.
    """
    kept = {name: value for name, value in environ.items() if not OF_THE_JOB.fullmatch(name)}
    for name in set(environ) - set(kept):
        del environ[name]
    if not linux:
        return ""
    try:
        ctypes = importlib.import_module("ctypes")  # only in a job: it costs 2 ms
        libc = ctypes.CDLL(None)
        stat = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        start, end = map(int, stat[_ENVIRONMENT])
    except (ImportError, OSError, ValueError) as error:
        return f"what it was started with can be read by other processes: {error}"
    environ.update(kept)  # the C library's own copy from now on, not the block that is wiped
    ctypes.memset(start, 0, end - start)
    if libc.prctl(_SET_DUMPABLE, 0, 0, 0, 0):
        return "its memory can be read by other processes: prctl was refused"
    return ""
