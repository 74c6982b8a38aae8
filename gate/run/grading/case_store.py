"""The cases of a run in a file: memory holds their places only, and every process finds them
there.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from gate.records import Case
from gate.run.prepare import SuitePlan

_KEPT = 4_096  # cases that a process keeps in memory


def store_cases(plans: Sequence[SuitePlan], path: Path) -> list[dict[str, int]]:
    """Writes the chosen cases of all suites to `path`. The places of each suite's: case id -> where
    its case begins.
    """
    places: list[dict[str, int]] = []
    with path.open("xb") as file:
        for plan in plans:
            own: dict[str, int] = {}
            for case in plan.cases():
                own[case.id] = file.tell()
                pickle.dump(case, file, pickle.HIGHEST_PROTOCOL)
            places.append(own)
    return places


class CaseFile:
    """The file that `store_cases` wrote; for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self.find: Callable[[int], Case] = lru_cache(_KEPT)(self._read)  # by place

    def close(self) -> None:
        self._file.close()

    def _read(self, place: int) -> Case:
        self._file.seek(place)
        case: Case = pickle.load(self._file)  # noqa: S301 - this run's own file
        return case
