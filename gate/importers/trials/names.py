"""Names of other tools as our own: of metrics, of suites and of cases."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from gate.records import Json

_MOST = 80  # characters of one part of a metric's name
_RESERVED = re.compile(r"\.(jsonl?|md|html|xml|lock)$")  # a suite's folder lies beside such files


def metric_name(tool: str, *parts: str) -> str:
    """`inspect.model_graded_qa`: each part in snake_case, of letters, digits and `_` alone."""
    return ".".join((tool, *map(snake_case, parts)))


def snake_case(text: str) -> str:
    """`LLMJudge (v2)` is `llm_judge_v2`; what has none of these characters is `unnamed`."""
    plain = unicodedata.normalize("NFKD", text[: 4 * _MOST]).encode("ascii", "ignore").decode()
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:_MOST].rstrip("_") or "unnamed"


def suite_name(text: str, otherwise: str = "suite") -> str:
    """A name that a folder can have: letters, digits, `.`, `_` and `-`."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text[:200]).strip("-._")[:100].rstrip("-._")
    return _RESERVED.sub("", clean) or otherwise


_ID = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]{0,38})__([A-Za-z0-9._-]{1,100})-\d{1,12}")
_LONGEST = 200  # characters


def is_id(value: Json) -> TypeGuard[str]:
    """Whether it can be one, also of a set of one's own: a short printable word."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _LONGEST
        and value.isprintable()
        and (not value.isspace() and value == value.strip())
    )


def repository_of(instance: str) -> str | None:
    """`owner/repo`; None for an id of another form."""
    match = _ID.fullmatch(instance)
    return f"{match[1]}/{match[2]}" if match else None


_TITLE = 60  # characters of an id that come from a question


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseIdentity:
    """A case's name or "", what it asks, and that in words; `digest` covers what decides."""

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


_ENCODER = json.JSONEncoder(sort_keys=True, default=str)


def mark(*parts: Json) -> str:
    """16 hexadecimal digits of what they hold."""
    text = _ENCODER.encode(parts)
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:16]
