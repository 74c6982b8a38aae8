"""The first questions: a form to fill in, or those that somebody has already (`--from`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from gate.commands.new_project.csv_questions import read_csv_questions
from gate.commands.new_project.first_suite import (
    DATASET,
    Grading,
    Questions,
    choose_graders,
    render_dataset,
)
from gate.commands.new_project.probe import Probed
from gate.errors import UsageError
from gate.importers.formats.promptfoo.assertions import GRADERS
from gate.run.importing.run import case_lines, choose_reader
from gate.text.suggestions import did_you_mean


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
    cases = [json.loads(line) for line in lines]
    keys = {key for case in cases for key, value in case.items() if value is not None}
    graders = tuple(_grader_of_assertions(GRADERS[key]) for key in GRADERS if key in keys)
    told = [note for note in imported.notes if not note.startswith("add this to the suite")]
    return Questions(
        text="\n".join([*lines, ""]),
        graders=graders,
        notes=tuple(told),
        first=cases[0]["input"],
    )


def _grader_of_assertions(written: str) -> Grading:
    """`{regex: {key: patterns}}` as an item of a list: `regex: {key: patterns}`."""
    item = written[1:-1] if written.startswith("{") else written
    off = "needs a `judge` in this file: docs/judge.md" if item.startswith("judge") else ""
    return Grading(grader=item, about="from the assertions", off=off)


READERS: Mapping[str, Callable[[Path], Questions]] = {
    "csv": read_csv_questions,
    "promptfoo": _read_promptfoo,
}
