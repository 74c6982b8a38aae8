"""The source of Agent Gate itself: whether two installations of it are the same."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import gate


@cache
def digest_of_gate() -> str:
    """sha256 of the source of Agent Gate, as it was when this process first asked for it."""
    folder = Path(gate.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return whole.hexdigest()
