"""One baseline source a file, and the order in which `auto` asks them."""

from __future__ import annotations

from pathlib import Path

from gate.plugins import BASELINES, BaselineRequest, Forge, FoundBaseline

ORDER = ("repo", "artifact")  # of `auto`


def find_baseline(
    source: str, request: BaselineRequest, forge: Forge | None, root: Path
) -> FoundBaseline | None:
    """The suite's baseline by `baseline.source`: auto, a source's name, or a path.

    With a path, `request.path` is that path, relative to `root`; `request.explain` is told of each
    source that has none. Raises UsageError, InfrastructureError.
    """
    for name in source_names(source):
        found = BASELINES.registered(name)().find(request, forge, root)
        if found is not None:
            return found
    return None


def source_names(source: str) -> tuple[str, ...]:
    """The registered sources that a value of `baseline.source` stands for."""
    if source == "auto":
        return ORDER
    return (source,) if source in BASELINES else ("file",)
