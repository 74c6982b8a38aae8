"""The files of judging code, and their hashes: object as gate.yml names it -> file -> sha256."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

CHANGED = "changed while it ran"  # instead of a sha256

Sources = Mapping[str, Mapping[str, str]]


def merge_sources(*several: Sources) -> dict[str, dict[str, str]]:
    """All of them; a file that was another one at another time is CHANGED."""
    merged: dict[str, dict[str, str]] = {}
    for sources in several:
        for name, files in sources.items():
            hashes = merged.setdefault(name, {})
            for file, digest in files.items():
                hashes[file] = digest if hashes.get(file, digest) == digest else CHANGED
    return merged


def grader_file(name: str) -> str:
    """Where a user's own grader (`./checks.py:Polite`, `package.checks:Polite`) stands if it is one
    of the repository; empty for ours.
    """
    where, _, _ = name.rpartition(":")
    if not where:
        return ""
    return posixpath.normpath(where if where.endswith(".py") else f"{where.replace('.', '/')}.py")
