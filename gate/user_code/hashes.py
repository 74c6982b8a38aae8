"""What judging code was loaded from: object as gate.yml names it -> file -> sha256."""

from __future__ import annotations

from collections.abc import Mapping

CHANGED = "changed while it ran"  # instead of a sha256

Sources = Mapping[str, Mapping[str, str]]


def merged(*several: Sources) -> dict[str, dict[str, str]]:
    """All of them; a file that was another one at another time is CHANGED."""
    found: dict[str, dict[str, str]] = {}
    for one in several:
        for name, files in one.items():
            known = found.setdefault(name, {})
            for file, digest in files.items():
                known[file] = digest if known.get(file, digest) == digest else CHANGED
    return found
