"""What the server's logs say of the tool calls that answers declare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gate.records import EvidenceCounts, Report, SuiteReport, TrialRow
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.spans import Line, code, join, say

HEAD = ("Case", "round", "server logs", "not logged", "declared, not logged")
_NAMED = 3  # calls that a sentence names
_NOTE = 120  # characters


def lines(report: Report) -> list[Line]:
    """A sentence for each suite whose evidence was checked."""
    several = len(report.suites) > 1
    return [
        summary(suite, named=several)
        for suite in report.suites.values()
        if suite.evidence is not None
    ]


def summary(suite: SuiteReport, *, named: bool = False) -> Line:
    """`Server logs: 9 of 12 answers verified, 1 incomplete, 2 unknown (why)`, then what was made
    up; empty where no evidence was checked.
    """
    found = suite.evidence
    if found is None:
        return ()
    total = found.complete + found.incomplete + found.unknown
    head = say("Server logs of {}: ", one_line(suite.name, 60)) if named else say("Server logs: ")
    counted = say("{} of {} verified", f"{found.complete:,}", figures.count(total, "answer"))
    parts = [part for part in (counted, _incomplete(found), _unknown(found)) if part]
    return join("", [head, join(", ", parts), _fabricated(found)])


def checked(row: TrialRow) -> tuple[str, ...] | None:
    """Of a row of details.jsonl what HEAD names, hostile text; None where nothing was checked."""
    found = row.get("evidence")
    if found is None:
        return None
    why = found["notes"][0] if found["verdict"] == "unknown" and found["notes"] else ""
    verdict = f"{found['verdict']}: {why}" if why else str(found["verdict"])
    listed = (_names(found[key]) for key in ("missing", "fabricated"))
    return str(row["case_id"]), str(row["round"]), verdict, *listed


def _names(tools: Sequence[str]) -> str:
    """Each once, with how often it is there."""
    counts = Counter(one_line(str(tool), 80) for tool in tools)
    told = (f"{tool} ({n} times)" if n > 1 else tool for tool, n in counts.items())
    return figures.join_words(told, most=5)


def _incomplete(found: EvidenceCounts) -> Line:
    if not found.incomplete:
        return ()
    return join("", [say("{} incomplete", f"{found.incomplete:,}"), _told(found.missing_calls)])


def _unknown(found: EvidenceCounts) -> Line:
    if not found.unknown:
        return ()
    why = say(" ({})", one_line(found.notes[0][0], _NOTE)) if found.notes else ()
    return join("", [say("{} unknown", f"{found.unknown:,}"), why])


def _fabricated(found: EvidenceCounts) -> Line:
    if not found.fabricated:
        return ()
    verb = "declares" if found.fabricated == 1 else "declare"
    many = figures.count(found.fabricated, "answer")
    said = say("; {} {} a call that no log shows: ", many, verb)
    return join("", [said, _listed(found.fabricated_calls)])


def _told(calls: Sequence[tuple[str, str]]) -> Line:
    return say(" (not logged: {})", _listed(calls)) if calls else ()


def _listed(calls: Sequence[tuple[str, str]]) -> Line:
    named = [say("{} {}", code(one_line(c, 40)), code(one_line(t, 40))) for c, t in calls[:_NAMED]]
    more = [say("...")] if len(calls) > _NAMED else []
    return join(", ", [*named, *more])
