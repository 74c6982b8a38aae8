"""Where a suite's baseline is looked for, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gate.plugins import BASELINES
from gate.records import Mode
from gate.records.forge import BaselineRequest, Forge, FoundBaseline

ORDER = ("repo", "artifact")  # of `auto`


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineContext:
    """Where to look: the folder of gate.yml, the host, the base commit; and the time now."""

    root: Path
    forge: Forge | None
    base_sha: str | None
    base_name: str | None = None  # the tag of base_sha, at a release
    why_no_base: str = ""  # why base_sha is not known, where git was to tell it
    in_job: bool = False  # where a baseline that nobody could look for is told in the report
    no_base: str = ""  # why a release has nothing to be compared with
    now: datetime
    mode: Mode = "laptop"
    own: str = ""  # the id of the session that is judged, which is never compared with itself


def find_baseline(
    source: str, request: BaselineRequest, forge: Forge | None, root: Path
) -> FoundBaseline | None:
    """The suite's baseline by `baseline.source`: auto, a source's name, or a path.

    With a path, `request.path` is that path, relative to `root`; `request.explain` is told of each
    source that has none. Raises UsageError, InfrastructureError.
    """
    for name in source_names(source):
        baseline = BASELINES.get_class(name)().find(request, forge, root)
        if baseline is not None:
            return baseline
    return None


def source_names(source: str) -> tuple[str, ...]:
    """The registered sources that a value of `baseline.source` stands for."""
    if source == "auto":
        return ORDER
    return (source,) if source in BASELINES else ("file",)
