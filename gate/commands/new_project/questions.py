"""The first questions: a form to fill in, or those that somebody has already (`--from`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from gate.commands.new_project.csv_cells import DOCUMENTS
from gate.commands.new_project.csv_questions import read_csv_questions
from gate.commands.new_project.first_suite import (
    DATASET,
    TEMPLATES,
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


def fit_graders(read: Questions, template: str, asked: Probed) -> Questions:
    """The questions of a file with the graders of the template, too, and those of keys that the
    file has. A grader whose key no question has is off; the notes say so.
    """
    choose = partial(
        choose_graders,
        has_documents=asked.has_documents,
        has_texts=asked.has_texts,
        has_steps=asked.has_steps,
    )
    known = {one.grader for one in read.graders}
    of_template = choose(template) if template != TEMPLATES[0] else ()
    graders, notes = list(read.graders), list(read.notes)
    for one in dict.fromkeys((*of_template, *chain.from_iterable(map(choose, TEMPLATES)))):
        key = one.needs.partition(":")[0]
        has_key = key in read.keys or (key == DOCUMENTS and "relevance_scores" in read.keys)
        if one.grader in known or not (has_key or one in of_template):
            continue
        off = f"no question has `{key}`: docs/graders.md" if key and not has_key else one.off
        graders.append(replace(one, off=off))
        if off:
            notes.append(f"{one.grader.partition(':')[0]} is off in gate.yml: {off}")
    return replace(read, graders=tuple(graders), notes=tuple(notes))


def read_questions(form: str, path: Path) -> Questions:
    """The questions of a file. Raises UsageError for an unknown form and for a file without any."""
    if form not in READERS:
        raise UsageError(f"--from {form}: unknown form{did_you_mean(form, [*READERS])}")
    return READERS[form](path)


READERS: Mapping[str, Callable[[Path], Questions]] = {
    "csv": read_csv_questions,
    "promptfoo": read_promptfoo_questions,
}
