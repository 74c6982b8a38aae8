"""Ids for cases that a tool knows by what they ask, the same in every run of the same cases."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gate.records import Json

_TITLE = 60  # characters of an id that come from a question


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseIdentity:
    """What tells a case from the others: its name or "", and what it asks: as the tool has it and
    as words, one line. `digest` covers what decides, too.
    """

    title: str
    asked: Json
    words: str
    digest: str


class CaseIds:
    """A case's name; where it has none or several questions share it, with eight digits made of
    what is asked. Cases that differ in what decides alone are numbered.
    """

    def __init__(self, cases: Sequence[CaseIdentity]) -> None:
        self._questions: dict[str, set[str]] = {}
        for case in cases:
            self._questions.setdefault(case.title, set()).add(mark(case.asked))
        self._ids: dict[tuple[str, str], str] = {}
        taken: Counter[str] = Counter()
        for case in cases:
            key = (case.title, case.digest)
            if key not in self._ids:
                name = self._name(case)
                taken[name] += 1
                self._ids[key] = name if taken[name] == 1 else f"{name} ({taken[name]})"

    def of(self, case: CaseIdentity) -> str:
        return self._ids[case.title, case.digest]

    def _name(self, case: CaseIdentity) -> str:
        if case.title and len(self._questions[case.title]) == 1:
            return case.title
        begins = case.title or case.words[:_TITLE].strip() or "case"
        return f"{begins} {mark(case.asked)[:8]}"


def number_repeat(case_id: str, nth: int, rounds: int) -> tuple[str, int]:
    """Id and round of a case's nth result (from 1); beyond `rounds` it is of a copy."""
    copy, round_ = divmod(nth - 1, rounds)
    return (f"{case_id} #{copy + 1}" if copy else case_id), round_ + 1


def mark(*parts: Json) -> str:
    """16 hexadecimal digits of what they hold."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]
