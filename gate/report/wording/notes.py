"""The findings of a verdict one by one: what annotations, check runs and SARIF all show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gate.analysis.severity import by_severity
from gate.errors import Place
from gate.records import CaseChange, Report
from gate.report.wording import headline, sentences
from gate.report.wording.checks import Check, list_blocking, list_warnings
from gate.text import figures
from gate.text.spans import Line, plain, prose, say

NoteLevel = Literal["error", "warning", "notice"]
OUTCOME, LOOSENED, NEWLY_FAILING = "outcome", "loosened-rule", "newly-failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One finding. `rule` and `subject` say what it is about and stay the same from run to run;
    `title` and `message` are clean, one line each.
    """

    level: NoteLevel
    title: str
    message: str
    rule: str  # a metric, NEWLY_FAILING/<kind of failure>, OUTCOME or LOOSENED
    subject: tuple[str, ...] = ()  # suite, and case; hostile
    place: Place | None = None


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
            yield _check_note(check, level)
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
