"""Workflow commands that put the verdict beside the code: at most ten of each kind."""

from __future__ import annotations

from dataclasses import replace

from gate.records import Report
from gate.report.wording.notes import Note, notes
from gate.text.escaping import command

MOST = 10  # of each kind a step; the runner drops the rest


def render_annotations(report: Report) -> tuple[str, ...]:
    """Lines for standard output on a GitHub runner, errors first."""
    kept: list[Note] = []
    for level in ("error", "warning", "notice"):
        findings = [note for note in notes(report) if note.level == level]
        shown = findings[:MOST]
        if len(findings) > MOST:
            more = len(findings) - MOST + 1
            message = f"{more} more in the job summary and in report.md"
            shown[-1] = replace(shown[-1], title="Agent Gate", message=message, place=None)
        kept += shown
    return tuple(_line(note) for note in kept)


def _line(note: Note) -> str:
    place = note.place
    file, line = (place.file, place.line) if place and place.line else (None, None)
    return command(note.level, note.message, {"file": file, "line": line, "title": note.title})
