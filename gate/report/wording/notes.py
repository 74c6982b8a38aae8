"""The findings of a verdict one by one: what annotations, check runs and SARIF all show; as
workflow commands they stand beside the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from gate.analysis.severity import by_severity
from gate.errors import Place
from gate.records import CaseChange, Report
from gate.report.wording import headline, sentences
from gate.report.wording.checks import Check, list_blocking, list_warnings
from gate.text import figures
from gate.text.escaping import command
from gate.text.spans import Line, plain, prose, say

MOST = 10  # annotations of each kind a step; the runner drops the rest

NoteLevel = Literal["error", "warning", "notice"]
OUTCOME, LOOSENED, NEWLY_FAILING = "outcome", "loosened-rule", "newly-failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One finding. `rule` and `subject` say what it is about and stay the same from run to run;
    `title` and `message` are one line each, and hostile like `subject`.
    """

    level: NoteLevel
    title: str
    message: str
    rule: str  # a metric, NEWLY_FAILING/<kind of failure>, OUTCOME or LOOSENED
    subject: tuple[str, ...] = ()  # suite, and case; hostile
    place: Place | None = None
    blocks: bool = False


def notes(report: Report) -> Iterator[Note]:
    """The outcome first, then what blocks, what was loosened, what is worth a look."""
    level: NoteLevel = "warning" if report.passed else "error"
    if report.outcome != "pass":
        yield Note(
            level=level,
            title=_plain(prose(headline.headline(report))),
            message=plain(headline.because(report), limit=1_000),
            rule=OUTCOME,
        )
    for check in list_blocking(report):
        if check.sign in ("bad", "refused"):
            yield replace(_check_note(check, level), blocks=True)
    for text in report.loosened:
        sentence = plain(prose(text))
        yield Note(
            level="warning", title="Loosened rule", message=sentence, rule=LOOSENED, subject=(text,)
        )
    doubted = (
        check for check in list_blocking(report) if check.is_doubted and check.sign == "warn"
    )
    for check in (*doubted, *list_warnings(report)):
        yield _check_note(check, "warning")
    for change in by_severity(report.cases.newly_failing):
        yield _case_note(change)


def _check_note(check: Check, level: NoteLevel) -> Note:
    rule = f" ({check.limit})" if check.limit else ""
    change = f", {check.change}" if check.change != figures.ABSENT else ""
    line = say("{}", f"{check.current}{rule}, baseline {check.baseline}{change}")
    return Note(
        level=level,
        title=_plain(say("{}: {}: {}", check.suite, check.metric, check.verdict)),
        message=_plain(line),
        rule=check.metric,
        subject=(check.suite,),
        place=check.gate.place if check.gate is not None else None,
    )


def _case_note(change: CaseChange) -> Note:
    why = change.reason or ", ".join(change.failures[:3])
    kind = change.failures[0].split(":", 1)[0] if change.failures else "failed"
    return Note(
        level="warning",
        title=_plain(say("{}: {} newly fails", change.suite, change.case_id)),
        message=_plain(say("{}: {}", sentences.rounds(change), why)),
        rule=f"{NEWLY_FAILING}/{kind}",
        subject=(change.suite, change.case_id),
        place=change.place,
    )


def _plain(line: Line) -> str:
    return plain(line, limit=600)


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
    return tuple(_command_line(note) for note in kept)


def _command_line(note: Note) -> str:
    place = note.place
    file, line = (place.file, place.line) if place and place.line else (None, None)
    return command(note.level, note.message, {"file": file, "line": line, "title": note.title})
