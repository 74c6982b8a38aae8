"""The first questions: a form to fill in, or those that somebody has already (`--from`)."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gate.commands.new_project.first_suite import (
    DATASET,
    Grading,
    choose_graders,
    render_dataset,
)
from gate.commands.new_project.probe import Probed
from gate.errors import UsageError
from gate.files.encoding import decode
from gate.files.plain import plain
from gate.files.yaml import scalar
from gate.importers.formats.promptfoo.assertions import GRADERS
from gate.records import Json
from gate.run.importing.run import case_lines, choose_reader
from gate.text.figures import count
from gate.text.suggestions import did_you_mean

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """A dataset, the graders that its keys need, and what was left out. `ready`: cases that run as
    they are; else they are to be filled in.
    """

    text: str
    graders: tuple[Grading, ...]
    notes: tuple[str, ...] = ()
    file: str = "datasets/questions.jsonl"
    ready: bool = True


def write_questions(template: str, asked: Probed) -> Questions:
    """Eight questions to fill in, for an agent that does what the template says."""
    graders = choose_graders(
        template,
        has_documents=asked.has_documents,
        has_texts=asked.has_texts,
        has_steps=asked.has_steps,
    )
    return Questions(text=render_dataset(graders), graders=graders, file=DATASET, ready=False)


def read_questions(form: str, path: Path) -> Questions:
    """The questions of a file. Raises UsageError for an unknown form and for a file without any."""
    if form not in READERS:
        raise UsageError(f"--from {form}: unknown form{did_you_mean(form, [*READERS])}")
    return READERS[form](path)


def _read_promptfoo(path: Path) -> Questions:
    _, importer = choose_reader("promptfoo", path, ())
    imported = importer.read(path)
    if imported.cases is None:
        raise UsageError(
            f"{path}: holds results, not tests; give the configuration (promptfooconfig.yaml), or "
            "use `gate import promptfoo`"
        )
    lines = list(case_lines(imported.cases(), path))
    keys = {key for line in lines for key, value in json.loads(line).items() if value is not None}
    graders = tuple(_grader_of_assertions(GRADERS[key]) for key in GRADERS if key in keys)
    told = [note for note in imported.notes if not note.startswith("add this to the suite")]
    return Questions(text="\n".join([*lines, ""]), graders=graders, notes=tuple(told))


def _grader_of_assertions(written: str) -> Grading:
    """`{regex: {key: patterns}}` as an item of a list: `regex: {key: patterns}`."""
    item = written[1:-1] if written.startswith("{") else written
    off = "needs a `judge` in this file: docs/judge.md" if item.startswith("judge") else ""
    return Grading(grader=item, about="from the assertions", off=off)


def _read_csv(path: Path) -> Questions:
    content = plain(path).read_bytes()
    text = decode(content, str(path))
    lines, separator = text.splitlines(keepends=True), _find_separator(text)
    rows = list(csv.DictReader(lines, delimiter=separator, skipinitialspace=True))
    head = [name for name in (rows[0] if rows else {}) if name]
    asked, expected = _find(head, ASKED), _find(head, EXPECTED)
    if asked is None:
        known = ", ".join(ASKED)
        raise UsageError(
            f"{path}:1: no column with the questions; call one of them {known} "
            f"(found: {', '.join(head) or 'nothing'})"
        )
    named, category = _find(head, IDS), _find(head, CATEGORIES)
    cases = [
        case
        for number, row in enumerate(rows, start=1)
        if (case := _case(row, number, asked, expected, named, category))["input"]
    ]
    if not cases:
        raise UsageError(f"{path}: has no question in its column {asked}")
    if doubled := next(_find_doubled(cases), None):
        raise UsageError(f"{path}: the id '{doubled}' is there twice; ids are unique")
    return Questions(
        text="".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases),
        graders=(_grader_of(cases),),
        notes=tuple(_tell_columns(head, cases, asked, expected)),
    )


def _find_separator(text: str) -> str:
    """The sign that most often parts the columns of the first line."""
    first = text.partition("\n")[0]
    return max(_SEPARATORS, key=first.count)


def _find(head: Sequence[str], names: Sequence[str]) -> str | None:
    by_name = {column.strip().lower().replace(" ", "_"): column for column in head}
    return next((by_name[name] for name in names if name in by_name), None)


def _case(
    row: Mapping[str, str],
    number: int,
    asked: str,
    expected: str | None,
    named: str | None,
    category: str | None,
) -> dict[str, object]:
    case: dict[str, object] = {
        "id": (row.get(named) or "").strip() if named else f"question-{number}",
        "input": (row.get(asked) or "").strip(),
    }
    if category and (row.get(category) or "").strip():
        case["category"] = row[category].strip()
    answer = (row.get(expected) or "").strip() if expected else ""
    case["expected_facts"] = [{"value": _value(answer)}] if 0 < len(answer) <= _SHORT else None
    if len(answer) > _SHORT:
        case["metadata"] = {"expected_answer": answer}
    return case


def _value(answer: str) -> Json:
    """A number where it is written as one, so that `1,120.9` and `1120.90` are the same."""
    found = scalar(answer)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else answer


def _find_doubled(cases: Sequence[Mapping[str, object]]) -> Iterator[object]:
    seen: set[object] = set()
    for case in cases:
        if case["id"] in seen:
            yield case["id"]
        seen.add(case["id"])


def _grader_of(cases: Sequence[Mapping[str, object]]) -> Grading:
    facts = Grading(grader="facts", about="the expected answer is in the answer")
    if any(case["expected_facts"] for case in cases):
        return facts
    return replace(facts, off="no question has a short expected answer: docs/graders.md")


def _tell_columns(
    head: Sequence[str], cases: Sequence[Mapping[str, object]], asked: str, expected: str | None
) -> Iterator[str]:
    yield f"{count(len(cases), 'question')} from the column {asked}"
    if expected is None:
        yield f"no column with expected answers; call one {EXPECTED[0]} (found: {', '.join(head)})"
        return
    long = sum("metadata" in case for case in cases)
    if long:
        yield (
            f"{count(long, 'expected answer')} of {expected} longer than {_SHORT} characters: kept "
            "as metadata and not graded, because no right answer repeats them word for word; let a "
            "judge compare them (docs/judge.md)"
        )


READERS: Mapping[str, Callable[[Path], Questions]] = {
    "csv": _read_csv,
    "promptfoo": _read_promptfoo,
}
