"""Where the bundled datasets live: inside an installed wheel, else beside the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def folder() -> Path:
    """`gate/bundled` of an installed wheel, else `datasets` of the repository."""
    installed = _PACKAGE / "bundled"
    return installed if installed.is_dir() else _PACKAGE.parent / "datasets"


# Of the OpenAgent benchmark: what runs where nobody names a suite.
DEFAULT = ("baseperf", "dialogue", "hardchat", "tool")


def suites() -> tuple[str, ...]:
    """Names of the bundled suites: every sub-folder with a suite.yml, sorted."""
    return tuple(sorted(path.parent.name for path in folder().glob("*/suite.yml")))


def short_path(path: str) -> str:
    """A dataset of ours by its short name, which is the same on every machine; others as they are
    written.
    """
    absolute = Path(path)
    if absolute.is_absolute() and absolute.is_relative_to(folder()):
        return f"bundled {absolute.relative_to(folder()).as_posix()}"
    return path
