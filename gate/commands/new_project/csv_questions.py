"""Questions of a CSV file: columns are found by the names that people give them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.commands.new_project.csv_cells import (
    DOCUMENTS,
    FACTS,
    TAGS,
    Keys,
    find_keys,
    looks_like_several,
    make_rules,
    read_cell,
    read_number,
)
from gate.commands.new_project.first_suite import Grading, Questions
from gate.errors import Place, Problem, UsageError
from gate.files.csv_rows import read_csv
from gate.files.encoding import decode
from gate.files.plain import plain
from gate.files.problems import Findings
from gate.records import Json
from gate.text.figures import count
from gate.text.shortening import shorten

# Column of a CSV file -> key of a case; the first one that is there is taken.
ASKED = ("input", "question", "query", "prompt", "user", "message")
EXPECTED = (
    *("expected_answer", "expected", "answer", "expected_output", "ground_truth", "reference"),
    *("reference_answer", "ideal", "output", "target"),
)
IDS = ("id", "case_id", "case", "name", "key")
CATEGORIES = ("category", "topic", "type", "group", "tag")
_SEPARATORS = ",;\t|"
_ONE_OF = {FACTS: "one text", DOCUMENTS: "the id of one document", TAGS: "one tag"}
_SHORT = 60  # characters of an answer that a right one can be asked to hold as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Which column holds what; None: none does. `unused`: those of which nothing is made."""

    asked: str
    expected: str | None
    named: str | None
    category: str | None
    keys: Keys
    unused: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Read:
    """What was made of the rows so far."""

    cases: list[dict[str, Json]] = field(default_factory=list)
    lines: dict[object, int | None] = field(default_factory=dict)  # id -> line
    without: list[int | None] = field(default_factory=list)  # lines that have no question
    # Key -> lines whose one value may be several.
    several: dict[str, list[int | None]] = field(default_factory=dict)
    long: int = 0  # answers that are not graded


def read_csv_questions(path: Path) -> Questions:
    """Raises InvalidInput with each row that is wrong, UsageError for a file without questions."""
    text = decode(plain(path).read_bytes(), str(path))
    problems = Findings()
    rows = list(problems.keep_good(_rows(text, path)))
    problems.refuse()
    head = [name for name in (rows[0][1] if rows else {}) if name]
    columns = _find_columns(head, [row for _, row in rows], path)
    read, rules = _Read(), make_rules()
    for number, (place, row) in enumerate(rows, start=1):
        cells = {name: cell.strip() for name, cell in row.items()}
        if not cells[columns.asked]:
            if any(cells.values()):
                read.without.append(place.line)
            continue
        try:
            case = _case(cells, number, columns)
        except ValueError as error:
            problems.add(place, str(error))
            continue
        for fault in rules.faults(case):
            problems.add(place, fault)
        if case["id"] in read.lines:
            before = read.lines[case["id"]]
            problems.add(place, f"the id '{case['id']}' is taken by line {before}; ids are unique")
        _take(case, cells, place, columns, read)
    problems.refuse()
    if not read.cases:
        raise UsageError(f"{path}: has no question in its column {columns.asked}")
    return Questions(
        text="".join(json.dumps(case, ensure_ascii=False) + "\n" for case in read.cases),
        graders=(_grader_of(read.cases),),
        notes=tuple(_tell_columns(head, read, columns)),
        keys=frozenset(key for case in read.cases for key, value in case.items() if value),
        first=read.cases[0]["input"],
    )


def _take(
    case: dict[str, Json], cells: Mapping[str, str], place: Place, columns: _Columns, read: _Read
) -> None:
    read.cases.append(case)
    read.lines[case["id"]] = place.line
    read.long += case[FACTS] is None and bool(cells.get(columns.expected or ""))
    for key, name in columns.keys.all.items():
        if looks_like_several(key, cells[name]):
            read.several.setdefault(key, []).append(place.line)


def _rows(text: str, path: Path) -> Iterator[tuple[Place, Mapping[str, str]] | Problem]:
    lines, separator = io.StringIO(text, newline=""), _find_separator(text)
    return read_csv(lines, str(path), separator=separator, unnamed=True, spaced=True)


def _find_columns(head: Sequence[str], rows: Sequence[Mapping[str, str]], path: Path) -> _Columns:
    by_name = {column.strip().lower().replace(" ", "_"): column for column in head}
    asked = _find(by_name, ASKED)
    if asked is None:
        known = ", ".join(ASKED)
        raise UsageError(
            f"{path}:1: no column with the questions; call one of them {known} "
            f"(found: {', '.join(head) or 'nothing'})"
        )
    expected, named = _find(by_name, EXPECTED), _find(by_name, IDS)
    category = _find(by_name, CATEGORIES)
    taken = (asked, expected, named, category)
    left = {name: column for name, column in by_name.items() if column not in taken}
    keys = find_keys(left, rows)
    used = {*taken, *keys.graded.values(), *keys.further.values()}
    return _Columns(
        asked=asked,
        expected=expected,
        named=named,
        category=category,
        keys=keys,
        unused=tuple(column for column in head if column not in used),
    )


def _find_separator(text: str) -> str:
    """The sign that most often parts the columns of the first line."""
    first = text.partition("\n")[0]
    return max(_SEPARATORS, key=first.count)


def _find(by_name: Mapping[str, str], names: Sequence[str]) -> str | None:
    return next((by_name[name] for name in names if name in by_name), None)


def _case(cells: Mapping[str, str], number: int, columns: _Columns) -> dict[str, Json]:
    """Raises ValueError for a cell that cannot be read."""
    case: dict[str, Json] = {
        "id": cells.get(columns.named or "") or f"question-{number}",
        "input": cells[columns.asked],
    }
    if category := cells.get(columns.category or ""):
        case["category"] = category
    for key, name in columns.keys.further.items():
        if cells[name]:
            case[key] = read_cell(key, cells[name])
    for key, name in columns.keys.graded.items():
        case[key] = read_cell(key, cells[name]) if cells[name] else None
    return {**case, **_expect(cells.get(columns.expected or "", ""), case)}


def _expect(answer: str, case: Mapping[str, Json]) -> dict[str, Json]:
    """The keys for the expected answer. Facts that a column of their own has say more than it."""
    if case.get(FACTS):
        return {"expected_answer": answer} if answer else {}
    if len(answer) <= _SHORT:
        return {FACTS: [{"value": read_number(answer)}] if answer else None}
    metadata = case.get("metadata")
    kept = metadata if isinstance(metadata, dict) else {}
    return {FACTS: None, "metadata": {**kept, "expected_answer": answer}}


def _grader_of(cases: Sequence[Mapping[str, object]]) -> Grading:
    facts = Grading(grader="facts", about="the expected answer is in the answer")
    if any(case[FACTS] for case in cases):
        return facts
    return replace(facts, off="no question has a short expected answer: docs/graders.md")


def _tell_columns(head: Sequence[str], read: _Read, columns: _Columns) -> Iterator[str]:
    yield f"{count(len(read.cases), 'question')} from the column {columns.asked}"
    if columns.expected is None and FACTS not in columns.keys.graded:
        yield f"no column with expected answers; call one {EXPECTED[0]} (found: {', '.join(head)})"
    if read.long:
        is_or_are, it_is = ("is", "it is") if read.long == 1 else ("are", "they are")
        yield (
            f"{count(read.long, 'answer')} in the column {columns.expected} {is_or_are} longer "
            f"than {_SHORT} characters: {it_is} kept as metadata and not graded, because no right "
            "answer repeats a long text word for word; let a judge compare them (docs/judge.md)"
        )
    if read.without:
        yield (
            f"{count(len(read.without), 'row')} without a question left out: "
            f"{_name_lines(read.without)}"
        )
    for key, lines in read.several.items():
        cells = f"{count(len(lines), 'cell')} ({_name_lines(lines)})"
        taken = "is taken as" if len(lines) == 1 else "are each taken as"
        yield (
            f"the column {columns.keys.all[key]}: {cells} {taken} {_ONE_OF[key]}; write several as "
            '["a", "b"]'
        )
    if columns.unused:
        left = shorten(", ".join(columns.unused), 200)
        yield f"left out, as no key of a case has this name and form (docs/datasets.md): {left}"


def _name_lines(lines: Sequence[int | None]) -> str:
    """`line 3`, or `lines 3, 4`."""
    one_or_more = "line" if len(lines) == 1 else "lines"
    return f"{one_or_more} {shorten(', '.join(map(str, lines)), 100)}"
