"""The files that a path stands for."""

from __future__ import annotations

from pathlib import Path

from gate.errors import UsageError
from gate.files.plain import files_below, plain


def source_files(path: Path, endings: tuple[str, ...]) -> tuple[Path, ...]:
    """The file itself, or those of a folder with one of these endings. Raises UsageError."""
    if path.is_symlink() or not path.is_dir():
        return (plain(path),)
    files = tuple(file for file in files_below(path) if file.name.lower().endswith(endings))
    if not files:
        raise UsageError(f"{path}: has no file that ends in {', '.join(endings)}")
    return files
