"""No baseline: gates against numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gate.plugins import BASELINES
from gate.records.forge import BaselineRequest, Forge


@BASELINES.register("none")
@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """Compares with nothing."""

    def find(self, request: BaselineRequest, forge: Forge | None, root: Path) -> None:
        request.explain("baseline is set to none")
