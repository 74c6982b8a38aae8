"""The first questions: a form to fill in, or those that somebody has already (`--from`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from gate.commands.new_project.csv_questions import read_csv_questions
from gate.commands.new_project.first_suite import (
    DATASET,
    Questions,
    choose_graders,
    render_dataset,
)
from gate.commands.new_project.probe import Probed
from gate.commands.new_project.promptfoo_questions import read_promptfoo_questions
from gate.errors import UsageError
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


READERS: Mapping[str, Callable[[Path], Questions]] = {
    "csv": read_csv_questions,
    "promptfoo": read_promptfoo_questions,
}
