"""A program and everything that it starts, as one group that can be ended at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

if sys.platform == "win32":
    OWN_GROUP: dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

    def kill_group(process: subprocess.Popen[bytes]) -> None:
        """The program and what it started, while it lives: nobody knows the children of one that
        has ended.
        """
        subprocess.run(  # noqa: S603
            ["taskkill", "/T", "/F", "/PID", str(process.pid)],  # noqa: S607
            capture_output=True,
            check=False,
        )
        with suppress(OSError):
            process.kill()

else:
    OWN_GROUP: dict[str, Any] = {"start_new_session": True}

    def kill_group(process: subprocess.Popen[bytes]) -> None:
        """The program and what it started, but for what has left the group; also after its end."""
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
