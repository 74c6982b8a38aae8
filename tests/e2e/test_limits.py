"""Too few threads, descriptors, too little memory or room: exit 6, with advice."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.yes_project import write_recorded_project

resource = pytest.importorskip("resource")  # not on Windows
MB = 1_000_000
# The least of each lets Python itself start; what stands between is told or enough.
LIMITS = [
    *(("RLIMIT_AS", size * MB) for size in (45, 70, 130)),
    *(("RLIMIT_NOFILE", number) for number in (5, 6, 7)),
    *(("RLIMIT_FSIZE", size) for size in (100, 6000)),
]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
@pytest.mark.parametrize(("limit", "value"), LIMITS)
def test_a_limit_is_told_with_what_to_do(limit: str, value: int, tmp_path: Path) -> None:
    write_recorded_project(tmp_path, 0)
    done = subprocess.run(
        [sys.executable, "-m", "gate", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=partial(resource.setrlimit, getattr(resource, limit), (value, value)),
    )
    assert done.returncode == 6, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "(`ulimit" in done.stderr or "free space" in done.stderr
    assert "bug of Agent Gate" not in done.stderr
