"""`gate init`: writes gate.yml, three workflows and a first dataset that run as they are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from gate.commands.templates.render import rendered
from gate.errors import UsageError
from gate.files.locked_update import write_whole


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Options: `dir` (where to; None is the current folder), `force` (overwrite).

    Raises UsageError, with nothing written, when a file is there already.
    """
    folder = Path(options.dir or ".")
    files = rendered()
    there = [path for path in files if os.path.lexists(folder / path)]
    if there and not options.force:
        raise UsageError(f"{', '.join(there)}: there already - `gate init --force` overwrites")
    for path, content in files.items():
        write_whole(folder / path, content.encode())
        print(f"wrote {(folder / path).as_posix()}")
    print("Next: `gate run`; then name your own agent in gate.yml.")
    return 0
