"""Ranked lists and relevance judgements as TREC, pytrec_eval and BEIR write them.

Judgements are TREC text, BEIR's table, JSON by query, or rows of a list. A run of TREC text is read
where it lies, one of JSON as a whole. Both together are trials, measured as trec_eval does it.
"""

from __future__ import annotations

import hashlib
import io
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path

from gate.agents.recordings import retrieval_run
from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.encoding import decode
from gate.files.json_values import as_object, is_integer, is_number
from gate.files.plain import MOST_JSON, json_of, plain
from gate.files.problems import Findings, refuse_file
from gate.files.rows import DatasetRow, DatasetSource, read_dataset
from gate.graders.rankings.metrics import cutoff_fault, list_lacking, ranking_metrics, relevant_of
from gate.importers.trials.build import MOST_TRIALS, ToolSuite, check_number
from gate.records import Json, Response, Trial
from gate.records.imported import ImportedSuite
from gate.stats.ranking import measures

_MOST_LINE = 64 << 10  # bytes
_COLUMNS = {4: "query iteration document grade", 3: "query-id corpus-id score"}
_HEADER = "query-id"
_LARGEST_GRADE = 1e300
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
    """What is wrong goes to `findings`. Raises UsageError for a link or for too many queries."""
    with plain(path).open("rb") as stream:
        first = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    qrels = (
        _read_json(path, findings) if first in (b"{", b"[") else _read_text(path, findings, most)
    )
    if not qrels and not findings:
        findings.add(Place(path.as_posix()), "has no judgement - give a file of judgements")
    return qrels


def _read_text(path: Path, findings: Findings, most: int) -> Qrels:
    qrels: dict[str, QueryJudgements] = {}
    for place, query, document, grade in findings.keep_good(_lines(path)):
        judged = qrels.setdefault(query, QueryJudgements(id=query))
        check_number(len(qrels), path.as_posix(), most)
        if document in judged.grades:
            findings.add(place, "the document is judged twice for this query - keep one line")
        judged.grades[document] = grade
    return qrels


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


def _read_json(path: Path, findings: Findings) -> Qrels:
    if path.stat().st_size > MOST_JSON:
        findings.add(Place(path.as_posix()), f"larger than {MOST_JSON >> 20} MB - use TREC text")
        return {}
    whole = _read_object(path)
    read = _by_query(whole, path) if whole is not None else _read_rows(path)
    qrels: dict[str, QueryJudgements] = {}
    for place, judged in findings.keep_good(read):
        if judged.id in qrels:
            findings.add(place, "the query appears twice - keep one")
        else:
            qrels[judged.id] = judged
    return qrels


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
        grades = dict.fromkeys(texts, 1.0)
        return grades if len(grades) == len(texts) else "a document appears twice - keep one"
    if not isinstance(given, dict):
        return "has no `relevant_doc_ids` (a list) or `relevance_scores` (document: grade)"
    for document, grade in given.items():
        if not is_number(grade) or not abs(grade) < _LARGEST_GRADE:
            return f"the grade of document {document[:80]} is not a finite number"
    return {str(key): float(value) for key, value in given.items()}


# --------------------------------------------------------------------------------------------- runs


MOST_DOCUMENTS = 100_000  # of one query; runs usually have 1,000


def run_of(path: Path, findings: Findings, most: int = MOST_TRIALS) -> RankedRun:
    """A run, every line checked. Raises UsageError for too many queries, InvalidInput for JSON."""
    with plain(path).open("rb") as stream:
        first = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return _json_run(path) if first in (b"{", b"[") else _text_run(path, findings, most)


@dataclass(slots=True)
class _TextRun:
    """`name`: the run's own, or "". `spans`: query -> begin and end in bytes of its blocks."""

    path: Path
    name: str = ""
    spans: dict[str, array[int]] = field(default_factory=dict)

    @property
    def queries(self) -> Collection[str]:
        return self.spans.keys()

    def of(self, query: str) -> retrieval_run.Documents:
        """What was retrieved, best first; () without the query. Raises InvalidInput for repeats."""
        scores: dict[str, float] = {}
        for line in self._lines(query):
            read = retrieval_run.trec_line(line)
            if isinstance(read, str) or read[1] in scores:
                fault = read if isinstance(read, str) else retrieval_run.TWICE
                refuse_file(self.path, f"query {query[:80]}: {fault}")
            scores[read[1]] = read[2]
        return retrieval_run.best_first(scores)

    def _lines(self, query: str) -> list[str]:
        lines: list[str] = []
        places = self.spans.get(query)
        if not places:
            return lines
        with plain(self.path).open("rb") as stream:
            for start, end in list(pairwise(places))[::2]:
                stream.seek(start)
                first = 1 if start == 0 else 2  # a byte order mark stands on the first line only
                block = decode(stream.read(end - start), self.path.as_posix(), line=first)
                lines += [line for line in block.split("\n") if line.strip()]
        return lines


@dataclass(slots=True)
class _Block:
    """Lines that follow each other and are of one query."""

    query: str | None = None
    start: int = 0
    documents: set[str] = field(default_factory=set)


def _text_run(path: Path, findings: Findings, most: int) -> _TextRun:
    run, block, at, name = _TextRun(path), _Block(), 0, path.as_posix()
    sizes: dict[str, int] = {}
    with path.open("rb") as stream:
        for number in count(1):
            line = stream.readline(_MOST_LINE + 1)
            read = _parse_line(line, name, number) if line.strip() else None
            if isinstance(read, Problem):
                findings.take(read)
            elif read is not None:
                query, document, _ = read
                if query != block.query:
                    _close(run, block, at)
                    check_number(len(run.spans), name, most)
                    block = _Block(query, at)
                    run.name = run.name or _tag(line)
                if document in block.documents:
                    findings.add(Place(name, number), retrieval_run.TWICE)
                if not line.endswith(b"\n") and _tag(line) != run.name:
                    message = "cut off in the middle - copy the file again"
                    findings.add(Place(name, number), message)
                block.documents.add(document)
                sizes[query] = sizes.get(query, 0) + 1
                if sizes[query] > MOST_DOCUMENTS:
                    message = f"more than {MOST_DOCUMENTS:,} documents of one query"
                    findings.add(Place(name, number), message)
                    break
            if not line or len(line) > _MOST_LINE:
                break
            at += len(line)
    _close(run, block, at)
    if not run.spans and not findings:
        findings.add(Place(name), "has no line of six columns, as TREC runs have - give a run file")
    _check_scattered(run, findings)
    return run


def _parse_line(line: bytes, file: str, number: int) -> tuple[str, str, float] | Problem:
    if len(line) > _MOST_LINE:
        return Problem(Place(file, number), f"longer than {_MOST_LINE >> 10} kB - not a run file")
    try:
        read = retrieval_run.trec_line(decode(line, file, line=number))
    except InvalidInput as error:
        return error.problems[0]
    return Problem(Place(file, number), read) if isinstance(read, str) else read


def _close(run: _TextRun, block: _Block, end: int) -> None:
    if block.query is not None:
        run.spans.setdefault(block.query, array("q")).extend((block.start, end))


def _tag(line: bytes) -> str:
    return line.decode(errors="replace").split()[5][:100]


def _check_scattered(run: _TextRun, findings: Findings) -> None:
    """Queries whose lines do not stand together may have a document in two places."""
    for query in [] if findings else [one for one, at in run.spans.items() if len(at) > 2]:
        try:
            run.of(query)
        except InvalidInput as error:
            findings.take(*error.problems)


@dataclass(frozen=True, slots=True)
class _JsonRun:
    found: Mapping[str, retrieval_run.Documents]
    name: str = ""

    @property
    def queries(self) -> Collection[str]:
        return self.found.keys()

    def of(self, query: str) -> retrieval_run.Documents:
        return self.found.get(query, ())


RankedRun = _TextRun | _JsonRun


def _json_run(path: Path) -> _JsonRun:
    if path.stat().st_size > MOST_JSON:
        refuse_file(path, f"larger than {MOST_JSON >> 20} MB - use TREC text")
    run = retrieval_run.parse_retrieval_run(path.read_bytes(), path.as_posix())
    queries = {**run.by_question, **run.by_id}
    large = next((query for query, given in queries.items() if len(given) > MOST_DOCUMENTS), None)
    if large is not None:
        refuse_file(path, f"query {large[:80]}: more than {MOST_DOCUMENTS:,} documents")
    return _JsonRun(queries)


# ------------------------------------------------------------------------------------------- trials


MOST_KEPT = 1_000  # retrieved documents of a query that the session keeps
_JUDGED_BY = "relevance judgements, by trec_eval's definitions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`complete`: queries not in the run count 0. `drop_same_id`: without a query's own id."""

    suite: ToolSuite
    qrels: Qrels
    run: RankedRun
    k: tuple[int, ...]
    mrr_k: tuple[int, ...] = ()
    complete: bool = True
    drop_same_id: bool = False
    questions: Mapping[str, str] = field(default_factory=dict)  # by id, where it is known

    def counted(self) -> Iterator[tuple[QueryJudgements, str | None]]:
        """Queries with a relevant document, and what the run calls them; None: it does not."""
        known = self.run.queries
        for judged in self.qrels.values():
            if any(grade > 0 for grade in judged.grades.values()):
                called = next((name for name in judged.names if name in known), None)
                if called is not None or self.complete:
                    yield judged, called

    def imported_suite(self) -> ImportedSuite:
        """Raises UsageError where no query of the run is judged."""
        queries = [called for _, called in self.counted()]
        if not any(called is not None for called in queries):
            raise UsageError(
                "no query of the run is in the judgements; give the two files of one collection"
            )
        specs = ranking_metrics(self.k, self.mrr_k)
        judged_by = f"{_JUDGED_BY}, no query's own document" if self.drop_same_id else _JUDGED_BY
        return ImportedSuite(
            cases=len(queries),
            dataset="relevance judgements",
            metrics=specs,
            graders=dict.fromkeys((spec.column for spec in specs), judged_by),
        )

    def notes(self) -> Iterator[str]:
        """What was left out or counted as 0."""
        counted = list(self.counted())
        named = {name for judged in self.qrels.values() for name in judged.names}
        unjudged = sum(query not in named for query in self.run.queries)
        judged = [any(g > 0 for g in one.grades.values()) for one in self.qrels.values()]
        absent = sum(called is None for _, called in counted)
        left = sum(judged) - len(counted)
        negative = sum(g < 0 for one in self.qrels.values() for g in one.grades.values())
        zero = "each counts as 0 (--option complete=false leaves them out)"
        for number, what in (
            (unjudged, "queries of the run are not judged: not counted"),
            (judged.count(False), "judged queries have no relevant document: not counted"),
            (absent, f"judged queries are not in the run: {zero}"),
            (left, "judged queries are not in the run: not counted (complete=false)"),
            (negative, "grades are negative: they count as 0"),
        ):
            if number:
                yield f"{number:,} {what}"

    def trials(self) -> Iterator[Trial]:
        for judged, called in self.counted():
            yield self._trial(judged, called)

    def _trial(self, judged: QueryJudgements, called: str | None) -> Trial:
        documents = () if called is None else self.run.of(called)
        own = judged.id if self.drop_same_id else None
        kept = tuple([one for one in documents if one.id != own])
        asked = self.questions.get(judged.id, judged.asked)
        case = self.suite.case(judged.id, input=asked, keys={"relevance_scores": judged.grades})
        ids = [one.id for one in kept]
        gains = relevant_of(case.keys)
        values = measures(ids, gains, cutoffs=self.k, reciprocal_cutoffs=self.mrr_k)
        missing = "; ".join(list_lacking(ids, gains, max(self.k, default=len(ids))))
        return self.suite.trial(
            case,
            values={f"retrieval.{name}": value for name, value in values.items()},
            reason=missing
            if called is not None
            else f"the run does not have this query; {missing}",
            response=Response(answer="", retrieved=kept[:MOST_KEPT]),
        )


def check_cutoffs(k: tuple[int, ...], mrr_k: tuple[int, ...]) -> None:
    """Raises UsageError for a cut-off below 1, or one that stands there twice."""
    for name, given in (("k", k), ("mrr_k", mrr_k)):
        if fault := cutoff_fault(name, given):
            raise UsageError(f"--option {name}: {fault}")
