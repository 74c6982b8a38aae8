"""Workflow commands that put the verdict beside the code: at most ten of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gate.errors import Place
from gate.records import CaseChange, GateResult, Report
from gate.text import command
from gate.wording import headline, sentences
from gate.wording.checks import Check, blocking, warned
from gate.wording.spans import Line, plain, prose, say

MOST = 10  # of each kind a step; the runner drops the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class _Annotation:
    level: Literal["error", "warning", "notice"]
    title: str
    message: str
    place: Place | None = None


def render_annotations(report: Report) -> tuple[str, ...]:
    """Lines for standard output on a GitHub runner, errors first."""
    kept = []
    for level in ("error", "warning", "notice"):
        found = [note for note in _all(report) if note.level == level]
        shown = found[:MOST]
        if len(found) > MOST:
            more = len(found) - MOST + 1
            message = f"{more} more are in the job summary and in report.md"
            shown[-1] = _Annotation(level=level, title="Agent Gate", message=message)
        kept += shown
    return tuple(_line(note) for note in kept)


def _all(report: Report) -> Iterator[_Annotation]:
    level: Literal["error", "warning"] = "warning" if report.passed else "error"
    if report.outcome != "pass":
        message = plain(headline.because(report), limit=1_000)
        yield _Annotation(level=level, title=headline.headline(report), message=message)
    for check in blocking(report):
        if check.sign in ("bad", "refused"):
            yield _judged(check, level)
    for text in report.loosened:
        said = plain(prose(text))
        yield _Annotation(level="warning", title="Loosened rule", message=said)
    for check in warned(report):
        yield _judged(check, "warning")
    for change in sentences.by_severity(report.cases.newly_failing):
        yield _newly_failing(change)


def _judged(check: Check, level: Literal["error", "warning"]) -> _Annotation:
    line = say(f"{check.current} ({{}}), baseline {check.baseline}, {check.change}", check.limit)
    return _Annotation(
        level=level,
        title=f"{check.suite}: {check.metric}: {check.verdict}",
        message=_plain(line),
        place=_place(check.gate),
    )


def _newly_failing(change: CaseChange) -> _Annotation:
    why = change.reason or ", ".join(change.failures[:3])
    return _Annotation(
        level="warning",
        title=f"{change.suite}: {change.case_id} newly fails",
        message=_plain(say("{}: {}", sentences.rounds(change), why)),
        place=change.place,
    )


def _place(gate: GateResult | None) -> Place | None:
    return gate.place if gate is not None else None


def _plain(line: Line) -> str:
    return plain(line, limit=600)


def _line(note: _Annotation) -> str:
    place = note.place
    file, line = (place.file, place.line) if place and place.line else (None, None)
    return command(note.level, note.message, {"file": file, "line": line, "title": note.title})
