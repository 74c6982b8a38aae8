"""How many safety violations a suite has, and the first of them, for the reports."""

from __future__ import annotations

from collections.abc import Mapping

from gate.records import Json

SHOWN = 50  # of a suite, in the reports


class FirstViolations:
    """How many there are, and the first of them by case and round, in whatever order rows come."""

    def __init__(self) -> None:
        self.total = 0
        self._first: list[tuple[tuple[str, int, int], Json]] = []

    def add(self, row: Mapping[str, Json]) -> None:
        found = row.get("violations") or ()
        self.total += len(found)
        for number, one in enumerate(found[:SHOWN]):
            self._first.append(((row["case_id"], row["round"], number), one))
        if len(self._first) > 2 * SHOWN:
            self._keep()

    def shown(self) -> list[Json]:
        """At most SHOWN, as the rows have them."""
        self._keep()
        return [one for _, one in self._first]

    def _keep(self) -> None:
        self._first = sorted(self._first, key=lambda item: item[0])[:SHOWN]
