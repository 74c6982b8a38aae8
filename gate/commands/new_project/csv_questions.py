"""Questions of a CSV file: columns are found by the names that people give them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate.commands.new_project.first_suite import Grading, Questions
from gate.errors import Place, Problem, UsageError
from gate.files.csv_rows import read_csv
from gate.files.encoding import decode
from gate.files.plain import plain
from gate.files.problems import Findings
from gate.files.yaml import scalar
from gate.records import Json
from gate.text.figures import count
from gate.text.late_pattern import late_pattern

# Column of a CSV file -> key of a case; the first one that is there is taken.
ASKED = ("input", "question", "query", "prompt", "user", "message")
EXPECTED = (
    *("expected_answer", "expected", "answer", "expected_output", "ground_truth", "reference"),
    *("reference_answer", "ideal", "output", "target"),
)
IDS = ("id", "case_id", "case", "name", "key")
CATEGORIES = ("category", "topic", "type", "group", "tag")
_SEPARATORS = ",;\t|"
_SHORT = 60  # characters of an answer that a right one can be asked to hold as it is
_GROUPED = late_pattern(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")  # 1,120.9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Which column holds what; None: none does."""

    asked: str
    expected: str | None
    named: str | None
    category: str | None


def read_csv_questions(path: Path) -> Questions:
    """Raises InvalidInput with each row that is wrong, UsageError for a file without questions."""
    text = decode(plain(path).read_bytes(), str(path))
    problems = Findings()
    rows = list(problems.keep_good(_rows(text, path)))
    problems.refuse()
    head = [name for name in (rows[0][1] if rows else {}) if name]
    columns = _find_columns(head, path)
    cases: list[dict[str, Json]] = []
    lines: dict[object, int | None] = {}
    for number, (place, row) in enumerate(rows, start=1):
        case = _case(row, number, columns)
        if not case["input"]:
            continue
        if case["id"] in lines:
            before = lines[case["id"]]
            problems.add(place, f"the id '{case['id']}' is taken by line {before}; ids are unique")
        lines[case["id"]] = place.line
        cases.append(case)
    problems.refuse()
    if not cases:
        raise UsageError(f"{path}: has no question in its column {columns.asked}")
    return Questions(
        text="".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases),
        graders=(_grader_of(cases),),
        notes=tuple(_tell_columns(head, cases, columns)),
        first=cases[0]["input"],
    )


def _rows(text: str, path: Path) -> Iterator[tuple[Place, Mapping[str, str]] | Problem]:
    lines, separator = io.StringIO(text, newline=""), _find_separator(text)
    return read_csv(lines, str(path), separator=separator, unnamed=True, spaced=True)


def _find_columns(head: Sequence[str], path: Path) -> _Columns:
    asked = _find(head, ASKED)
    if asked is None:
        known = ", ".join(ASKED)
        raise UsageError(
            f"{path}:1: no column with the questions; call one of them {known} "
            f"(found: {', '.join(head) or 'nothing'})"
        )
    return _Columns(
        asked=asked,
        expected=_find(head, EXPECTED),
        named=_find(head, IDS),
        category=_find(head, CATEGORIES),
    )


def _find_separator(text: str) -> str:
    """The sign that most often parts the columns of the first line."""
    first = text.partition("\n")[0]
    return max(_SEPARATORS, key=first.count)


def _find(head: Sequence[str], names: Sequence[str]) -> str | None:
    by_name = {column.strip().lower().replace(" ", "_"): column for column in head}
    return next((by_name[name] for name in names if name in by_name), None)


def _case(row: Mapping[str, str], number: int, columns: _Columns) -> dict[str, Json]:
    cells = {name: cell.strip() for name, cell in row.items()}
    case: dict[str, Json] = {
        "id": cells.get(columns.named or "") or f"question-{number}",
        "input": cells[columns.asked],
    }
    if category := cells.get(columns.category or ""):
        case["category"] = category
    answer = cells.get(columns.expected or "", "")
    case["expected_facts"] = [{"value": _value(answer)}] if 0 < len(answer) <= _SHORT else None
    if len(answer) > _SHORT:
        case["metadata"] = {"expected_answer": answer}
    return case


def _value(answer: str) -> Json:
    """A number where it is written as one, so that `1,120.9` and `1120.90` are the same."""
    found = scalar(answer.replace(",", "") if _GROUPED.fullmatch(answer) else answer)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else answer


def _grader_of(cases: Sequence[Mapping[str, object]]) -> Grading:
    facts = Grading(grader="facts", about="the expected answer is in the answer")
    if any(case["expected_facts"] for case in cases):
        return facts
    return replace(facts, off="no question has a short expected answer: docs/graders.md")


def _tell_columns(
    head: Sequence[str], cases: Sequence[Mapping[str, object]], columns: _Columns
) -> Iterator[str]:
    yield f"{count(len(cases), 'question')} from the column {columns.asked}"
    if columns.expected is None:
        yield f"no column with expected answers; call one {EXPECTED[0]} (found: {', '.join(head)})"
        return
    long = sum("metadata" in case for case in cases)
    if long:
        is_or_are, it_is = ("is", "it is") if long == 1 else ("are", "they are")
        yield (
            f"{count(long, 'answer')} in the column {columns.expected} {is_or_are} longer than "
            f"{_SHORT} characters: {it_is} kept as metadata and not graded, because no right "
            "answer repeats a long text word for word; let a judge compare them (docs/judge.md)"
        )
