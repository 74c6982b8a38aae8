"""Recorded retrieval: a run as TREC writes it, as JSON by query, or as a list of queries.

Runs with scores are ordered as trec_eval does it: by score, which it keeps in 32 bits, then by
document id, both descending; a rank that is written is not looked at.
"""

from __future__ import annotations

import io
import json
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from gate.agents.wire import answer
from gate.errors import AgentFailure, InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.rows import DatasetRow, DatasetSource, read_dataset
from gate.records import Case, Document, Json

MAX_PROBLEMS = 50  # told one by one

Documents = tuple[Document, ...]

_COLUMNS = "query Q0 document rank score tag"
_NO_SCORE = "the score (column 5) is not a finite number"
TWICE = "the document (column 3) is in this query already - keep one line"
_IDS = ("id", "case_id", "query_id", "qid")
_QUERIES = ("query", "question", "input")
_LISTS = ("retrieved", "retrieved_doc_ids", "doc_ids", "documents")


@dataclass(slots=True)
class RetrievalRun:
    """What was retrieved, best first, by the id of the case or by its question."""

    by_id: dict[str, Documents] = field(default_factory=dict)
    by_question: dict[str, Documents] = field(default_factory=dict)

    def documents_for(self, case: Case) -> Documents:
        """Nothing for a case that the run does not have, as `trec_eval -c` counts it."""
        return self.by_id.get(case.id) or self.by_question.get(case.question, ())


def parse_retrieval_run(data: bytes, name: str) -> RetrievalRun:
    """The run in a file called `name`. Raises InvalidInput with the lines of its problems. No
    message quotes the file.
    """
    text = decode(data, name)
    if not text.strip():
        raise InvalidInput([Problem(Place(name), "the file is empty")])
    if not text.lstrip().startswith(("{", "[")):
        return _collect(_parse_trec(text, name))
    value = _parse_whole_json(text, name)
    if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
        return _collect(_parse_mapping(value, name))
    return _collect(_parse_rows(data, name))


_Read = tuple[str, str, Documents]  # "id" or "question", its value, what was retrieved


def _collect(entries: Iterable[_Read | Problem]) -> RetrievalRun:
    run, problems = RetrievalRun(), []
    for entry in entries:
        if isinstance(entry, Problem):
            problems.append(entry)
        else:
            kind, key, documents = entry
            (run.by_id if kind == "id" else run.by_question)[key] = documents
    if problems:
        raise InvalidInput(problems[:MAX_PROBLEMS])
    return run


def _parse_trec(text: str, name: str) -> Iterator[_Read | Problem]:
    scores_by_query: dict[str, dict[str, float]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place, read = Place(name, number), trec_line(line)
        if isinstance(read, str):
            yield Problem(place, read)
        elif read[1] in scores_by_query.setdefault(read[0], {}):
            yield Problem(place, TWICE)
        else:
            scores_by_query[read[0]][read[1]] = read[2]
    yield from (("id", query, best_first(scores)) for query, scores in scores_by_query.items())


def trec_line(line: str) -> tuple[str, str, float] | str:
    """Query, document and score, or what is wrong with the line."""
    cells = line.split()
    if len(cells) != 6:
        return f"{len(cells)} columns instead of six: {_COLUMNS}"
    try:
        score = float(cells[4])
    except ValueError:
        return _NO_SCORE
    return (cells[0], cells[2], score) if math.isfinite(score) else _NO_SCORE


def _parse_mapping(data: Mapping[str, Mapping[str, Json]], name: str) -> Iterator[_Read | Problem]:
    """`{query: {document: score}}`"""
    for number, (query, scores) in enumerate(data.items(), 1):
        numbers = {one: _number(score) for one, score in scores.items()}
        wrong = sum(score is None for score in numbers.values())
        if wrong:
            message = f"{wrong} scores of query {number} are not finite numbers"
            yield Problem(Place(name), message)
        else:
            yield "id", query, best_first({one: score or 0.0 for one, score in numbers.items()})


def _parse_rows(data: bytes, name: str) -> Iterator[_Read | Problem]:
    """A list, or a line each: `{id or query, retrieved}`, in the order that is written."""
    source = DatasetSource(name=f"{name}.jsonl", open=lambda: io.BytesIO(data))
    seen: set[tuple[str, str]] = set()
    for row in read_dataset(source):
        if isinstance(row, Problem):
            yield Problem(Place(name, row.place.line), row.message)
            continue
        read = _parse_row(row, name)
        if not isinstance(read, Problem) and read[:2] in seen:
            read = Problem(Place(name, row.line), "the query appears twice - keep one")
        if not isinstance(read, Problem):
            seen.add(read[:2])
        yield read


def _parse_row(row: DatasetRow, name: str) -> _Read | Problem:
    place = Place(name, row.line)
    if not isinstance(row.data, dict):
        return Problem(place, "a query is an object with `id` or `query`, and `retrieved`")
    key = answer.first(row.data, *_IDS)
    kind = "question" if key is None else "id"
    if key is None:
        key = answer.first(row.data, *_QUERIES)
    if not isinstance(key, (str, int)) or isinstance(key, bool):
        return Problem(place, "has neither `id` (of the case) nor `query` (its question)")
    try:
        documents = answer.documents(answer.first(row.data, *_LISTS), "retrieved")
    except AgentFailure as failure:
        return Problem(place, str(failure))
    if documents is None:
        return Problem(place, "has no `retrieved`: a list of document ids, best first")
    if len({document.id for document in documents}) < len(documents):
        return Problem(place, "a document appears twice in this query - keep its first place")
    return kind, str(key), documents


def best_first(scores: Mapping[str, float]) -> Documents:
    """The documents, ordered as trec_eval does."""
    kept = array("f", scores.values())
    as_bytes = [one.encode(errors="surrogatepass") for one in scores]
    ordered = sorted(zip(kept, as_bytes, scores, strict=True), reverse=True)
    return tuple([Document(id=one, score=scores[one]) for _, _, one in ordered])


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _parse_whole_json(text: str, name: str) -> Json:
    """The whole text as JSON; None where it is not one value. Raises InvalidInput where a query or
    document is there twice.
    """

    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members = dict(pairs)
        if len(members) < len(pairs):
            raise InvalidInput([Problem(Place(name), "a query or a document appears twice")])
        return members

    try:
        whole: Json = json.loads(text, object_pairs_hook=unique)
        return whole
    except (ValueError, RecursionError):
        return None
