"""Statistics of a dataset: counts, provenance, near duplicates, leaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.files.json_values import as_list, as_object, is_number
from gate.records import Json
from gate.suites.cases.curation.similar import find_doubles, mask_wording
from gate.text.phrases import fold_text, has_phrase

_SHORTEST = 4  # letters of an expected text whose presence elsewhere says something
_OFTEN = 3  # from so many questions of one wording on it is told


@dataclass(frozen=True, slots=True, kw_only=True)
class Double:
    case: str
    like: str
    similarity: float  # 1: the same words


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """A text that the answer should have and that the agent can read in the case."""

    case: str
    where: str  # "input" or "context"
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The statistics of every case in the file, whatever its status; leaks and duplicates leave out
    rejected cases.
    """

    cases: int
    statuses: Mapping[str, int]
    categories: Mapping[str, int]
    tags: Mapping[str, int]
    provenance: Mapping[str, int]
    reviewed: int  # with somebody's name beside their status
    keys: Mapping[str, int]  # key -> cases in which it says something
    irrelevant: int  # without a relevant document
    graded: int  # with two or more different grades of relevance
    doubles: tuple[Double, ...]
    wordings: Mapping[str, int]  # masked question -> cases, of those that come often
    leaks: tuple[Leak, ...]


def figures(rows: Sequence[Mapping[str, Json]]) -> Figures:
    """The statistics of the rows: cases as they are written, with other names of `input`
    replaced.
    """
    live = [row for row in rows if row.get("status") != "rejected"]
    questions = [(str(row.get("id")), question(row)) for row in live]
    wordings = Counter(mask_wording(text) for _, text in questions)
    return Figures(
        cases=len(rows),
        statuses=_count_values(row.get("status") or "approved" for row in rows),
        categories=_count_values(row.get("category") or "(none)" for row in rows),
        tags=_count_values(tag for row in rows for tag in as_list(row.get("tags"))),
        provenance=_count_values(provenance(row) for row in rows),
        reviewed=sum(bool(as_object(row.get("metadata")).get("review")) for row in rows),
        keys=_count_values(key for row in rows for key, value in row.items() if _says(value)),
        irrelevant=sum(not (row.get("relevant_doc_ids") or _grades(row)) for row in rows),
        graded=sum(len(set(_grades(row))) > 1 for row in rows),
        doubles=tuple(Double(case=a, like=b, similarity=s) for a, b, s in find_doubles(questions)),
        wordings={text: n for text, n in wordings.most_common() if n >= _OFTEN},
        leaks=tuple(leak for row in live for leak in _leaks(row)),
    )


def question(row: Mapping[str, Json]) -> str:
    """The input as text: the text itself, or that of its messages."""
    given = row.get("input")
    if isinstance(given, list):
        return " ".join(str(m.get("content")) for m in given if isinstance(m, dict))
    return given if isinstance(given, str) else str(given)


def provenance(row: Mapping[str, Json]) -> str:
    """The maker of the case: `metadata.provenance`, a word or `{kind: ...}`."""
    given = as_object(row.get("metadata")).get("provenance")
    kind = given.get("kind") if isinstance(given, dict) else given
    return str(kind) if kind else "(not told)"


def _leaks(row: Mapping[str, Json]) -> Iterator[Leak]:
    """A fact in the question answers it; a whole expected answer in the context was copied there.
    A fact of one word is no leak, nor is a fact in the context: that is what a context is for.
    """
    case, asked = str(row.get("id")), fold_text(question(row))
    for text in _answers(row):
        if len(text) >= _SHORTEST and has_phrase(fold_text(text), asked):
            yield Leak(case=case, where="input", what=text)
    for fact in as_list(row.get("expected_facts")):
        value = fact.get("value") if isinstance(fact, dict) else fact
        wanted = not (isinstance(fact, dict) and fact.get("must_not"))
        if (
            wanted
            and isinstance(value, str)
            and " " in value
            and has_phrase(fold_text(value), asked)
        ):
            yield Leak(case=case, where="input", what=value)
    passages = row.get("context")
    texts = passages if isinstance(passages, list) else [passages] if passages else []
    context = fold_text(" ".join(str(passage) for passage in texts))
    for text in _answers(row):
        if " " in text.strip() and has_phrase(fold_text(text), context):
            yield Leak(case=case, where="context", what=text)


def _answers(row: Mapping[str, Json]) -> list[str]:
    given = row.get("expected_answer")
    several = given if isinstance(given, list) else [given]
    return [text for text in several if isinstance(text, str) and text.strip()]


def _grades(row: Mapping[str, Json]) -> list[float]:
    return [one for one in as_object(row.get("relevance_scores")).values() if is_number(one)]


def _says(value: Json) -> bool:
    return value not in (None, "", [], {})


def _count_values(words: Iterable[Json]) -> dict[str, int]:
    return dict(Counter(map(str, words)).most_common())
