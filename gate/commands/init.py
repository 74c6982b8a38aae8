"""`gate init`: writes gate.yml, three workflows and a first dataset that run as they are."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from gate.errors import InfrastructureError, UsageError
from gate.templates import rendered


def run(options: argparse.Namespace, env: Mapping[str, str]) -> int:
    """Options: `dir` (where to; None is the current folder), `force` (overwrite).

    Raises UsageError, with nothing written, when a file is there already.
    """
    folder = Path(options.dir or ".")
    files = rendered()
    there = [path for path in files if (folder / path).exists()]
    if there and not options.force:
        raise UsageError(f"{', '.join(there)}: there already - `gate init --force` overwrites")
    for path, content in files.items():
        _write(folder / path, content)
        print(f"wrote {(folder / path).as_posix()}")
    print("Next: `gate run`; then name your own agent in gate.yml.")
    return 0


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="\n")
    except OSError as error:
        message = f"{path.as_posix()}: cannot be written: {error.strerror}"
        raise InfrastructureError(message) from error
