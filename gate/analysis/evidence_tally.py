"""How the checked evidence of a suite's trials adds up, in whatever order they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gate.records import EvidenceCounts, Json
from gate.text.escaping import one_line

TOP = 5  # notes, and calls of each kind, that are told
_NOTES = 1_000  # different ones that are counted
_NOTE = 200  # characters

Call = tuple[str, str]  # case, tool


class FirstCalls:
    """Of all (case, tool) pairs the first by name, each once."""

    def __init__(self) -> None:
        self._first: set[Call] = set()

    def add(self, case_id: str, tools: list[str]) -> None:
        self._first.update((case_id, tool) for tool in tools)
        if len(self._first) > 1_000:
            self._first = set(self.shown())

    def shown(self) -> tuple[Call, ...]:
        return tuple(sorted(self._first)[:TOP])


class EvidenceTally:
    """Grows row by row; `counts` is None where no row has evidence."""

    def __init__(self) -> None:
        self._verdicts: Counter[str] = Counter()
        self._fabricated = 0
        self._why: Counter[str] = Counter()  # of unknown ones, the first note of each
        self._missing, self._made_up = FirstCalls(), FirstCalls()

    def add(self, row: Mapping[str, Json]) -> None:
        found = row.get("evidence")
        if found is None:
            return
        self._verdicts[found["verdict"]] += 1
        self._missing.add(row["case_id"], found["missing"])
        self._made_up.add(row["case_id"], found["fabricated"])
        self._fabricated += bool(found["fabricated"])
        if found["verdict"] == "unknown" and found["notes"]:
            why = one_line(found["notes"][0], _NOTE)
            if why in self._why or len(self._why) < _NOTES:
                self._why[why] += 1

    def counts(self) -> EvidenceCounts | None:
        if not self._verdicts:
            return None
        notes = sorted(self._why.items(), key=lambda item: (-item[1], item[0]))
        return EvidenceCounts(
            complete=self._verdicts["complete"],
            incomplete=self._verdicts["incomplete"],
            unknown=self._verdicts["unknown"],
            fabricated=self._fabricated,
            notes=tuple(notes[:TOP]),
            missing_calls=self._missing.shown(),
            fabricated_calls=self._made_up.shown(),
        )
