"""Relevance judgements: TREC text, BEIR's table, JSON by query, or rows of a list."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.encoding import decode
from gate.files.json_values import as_object, is_integer, is_number
from gate.files.plain import MOST_JSON, json_of, plain
from gate.files.problems import Findings
from gate.files.rows import DatasetRow, DatasetSource, read_dataset
from gate.importers.trials.build import MOST_TRIALS, check_number
from gate.records import Json

_MOST_LINE = 64 << 10  # bytes
_COLUMNS = {4: "query iteration document grade", 3: "query-id corpus-id score"}
_HEADER = "query-id"
_LONGEST = 200  # characters of a query that is its own id
_IDS = ("id", "case_id", "query_id", "qid")
_QUERIES = ("query", "question", "input")
_RELEVANT = ("relevance_scores", "relevant_doc_ids", "relevant")


@dataclass(slots=True, kw_only=True)
class QueryJudgements:
    """One query. `asked`: its text, where the file has it; `names`: what a run may call it."""

    id: str
    grades: dict[str, float] = field(default_factory=dict)
    asked: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.id, self.asked) if self.asked else (self.id,)


Qrels = Mapping[str, QueryJudgements]  # by id, in the order of the file
_Line = tuple[Place, str, str, float]  # query, document, grade


def qrels_of(path: Path, findings: Findings, most: int = MOST_TRIALS) -> Qrels:
    """What is wrong with it is among the findings. Raises UsageError for what is no plain file, or
    has more queries than that.
    """
    with plain(path).open("rb") as stream:
        first = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    found = (
        _read_json(path, findings) if first in (b"{", b"[") else _read_text(path, findings, most)
    )
    if not found and not findings:
        findings.add(Place(path.as_posix()), "has no judgement - give a file of judgements")
    return found


# --------------------------------------------------------------------------------------------- text


def _read_text(path: Path, findings: Findings, most: int) -> Qrels:
    found: dict[str, QueryJudgements] = {}
    for place, query, document, grade in findings.keep_good(_lines(path)):
        judged = found.setdefault(query, QueryJudgements(id=query))
        check_number(len(found), path.as_posix(), most)
        if document in judged.grades:
            findings.add(place, "the document is judged twice for this query - keep one line")
        judged.grades[document] = grade
    return found


def _lines(path: Path) -> Iterator[_Line | Problem]:
    columns, name = 4, path.as_posix()
    with path.open("rb") as stream:
        for number in count(1):
            line = stream.readline(_MOST_LINE + 1)
            if not line:
                return
            place = Place(name, number)
            if len(line) > _MOST_LINE:
                yield Problem(place, f"longer than {_MOST_LINE >> 10} kB - not a judgement")
                return
            try:
                text = decode(line, place.file, line=number).strip("\r\n")
            except InvalidInput as error:
                yield error.problems[0]
                continue
            if number == 1 and text.startswith(_HEADER):
                columns = 3
            elif text.strip():
                yield _judgement(text, columns, place)


def _judgement(text: str, columns: int, place: Place) -> _Line | Problem:
    """BEIR's columns are parted by tabs, so that its ids may have spaces."""
    cells = text.split("\t") if columns == 3 else text.split()
    if len(cells) != columns:
        wanted = f"{columns}: {_COLUMNS[columns]}"
        return Problem(place, f"has {len(cells)} columns instead of {wanted}")
    try:
        return place, cells[0], cells[-2], float(int(cells[-1]))
    except (ValueError, OverflowError):
        return Problem(place, "the grade (last column) is not a whole number")


# --------------------------------------------------------------------------------------------- JSON


def _read_json(path: Path, findings: Findings) -> Qrels:
    if path.stat().st_size > MOST_JSON:
        findings.add(Place(path.as_posix()), f"larger than {MOST_JSON >> 20} MB - use TREC text")
        return {}
    whole = _read_object(path)
    read = _by_query(whole, path) if whole is not None else _read_rows(path)
    found: dict[str, QueryJudgements] = {}
    for place, judged in findings.keep_good(read):
        if judged.id in found:
            findings.add(place, "the query appears twice - keep one")
        else:
            found[judged.id] = judged
    return found


def _read_object(path: Path) -> Mapping[str, Json] | None:
    """An object of objects; None for rows."""
    try:
        data = json_of(path)
    except InvalidInput:
        return None  # a line each, or what is wrong is told of the line
    found = as_object(data)
    return found if data == found and all(isinstance(one, dict) for one in found.values()) else None


_Read = tuple[Place, QueryJudgements]


def _by_query(data: Mapping[str, Json], path: Path) -> Iterator[_Read | Problem]:
    for query, given in data.items():
        place = Place(path.as_posix(), key=query[:80])
        grades = _grades(given)
        if isinstance(grades, str):
            yield Problem(place, grades)
        else:
            yield place, QueryJudgements(id=query, grades=grades)


def _read_rows(path: Path) -> Iterator[_Read | Problem]:
    name = path.as_posix()
    content = path.read_bytes()
    for row in read_dataset(DatasetSource(name=f"{name}.jsonl", open=lambda: io.BytesIO(content))):
        if isinstance(row, Problem):
            yield Problem(Place(name, row.place.line), row.message)
        else:
            yield _read_row(row, Place(name, row.line))


def _read_row(row: DatasetRow, place: Place) -> _Read | Problem:
    data = as_object(row.data)
    ids, asked = (list(_iterate_texts(data, keys)) for keys in (_IDS, _QUERIES))
    given = next((data[key] for key in _RELEVANT if data.get(key) is not None), None)
    if not ids and not asked:
        return Problem(place, "has neither `id` nor `query`")
    grades = _grades(given)
    if isinstance(grades, str):
        return Problem(place, grades)
    question = asked[0] if asked else ""
    return place, QueryJudgements(
        id=ids[0] if ids else _shorten(question), grades=grades, asked=question
    )


def _iterate_texts(data: Mapping[str, Json], keys: Iterable[str]) -> Iterator[str]:
    for value in (data.get(key) for key in keys):
        if isinstance(value, str) and value.strip():
            yield value
        elif is_integer(value):
            yield str(value)


def _shorten(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{text[: _LONGEST - 20]}... {mark}"


def _grades(given: Json) -> dict[str, float] | str:
    """Document -> grade; what is wrong with it."""
    if isinstance(given, list):
        texts = [str(one) for one in given if isinstance(one, (str, int))]
        if len(texts) < len(given):
            return "a document's id is not a string or a number"
        found = dict.fromkeys(texts, 1.0)
        return found if len(found) == len(texts) else "a document appears twice - keep one"
    if not isinstance(given, dict):
        return "has no `relevant_doc_ids` (a list) or `relevance_scores` (document: grade)"
    wrong = next((key for key, value in given.items() if not _is_grade(value)), None)
    if wrong is not None:
        return f"the grade of document {wrong[:80]} is not a finite number"
    return {str(key): float(value) for key, value in given.items()}


def _is_grade(value: Json) -> bool:
    return is_number(value) and abs(value) < 1e300 and math.isfinite(value)
