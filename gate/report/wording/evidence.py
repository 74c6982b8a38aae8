"""What the server's logs say of the tool calls that answers declare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gate.records import EvidenceCounts, Report, SuiteReport, TrialRow
from gate.text import figures
from gate.text.shortening import shorten
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
    counts = suite.evidence
    if counts is None:
        return ()
    total = counts.complete + counts.incomplete + counts.unknown
    head = say("Server logs of {}: ", shorten(suite.name, 60)) if named else say("Server logs: ")
    counted = say("{} of {} verified", f"{counts.complete:,}", figures.count(total, "answer"))
    parts = [
        part for part in (counted, _describe_incomplete(counts), _describe_unknown(counts)) if part
    ]
    return join("", [head, join(", ", parts), _describe_fabricated(counts)])


def format_checked(row: TrialRow) -> tuple[str, ...] | None:
    """The cells that HEAD names, from a row of details.jsonl, hostile text; None where nothing was
    checked.
    """
    evidence = row.get("evidence")
    if evidence is None:
        return None
    why = evidence["notes"][0] if evidence["verdict"] == "unknown" and evidence["notes"] else ""
    verdict = f"{evidence['verdict']}: {why}" if why else str(evidence["verdict"])
    listed = (_names(evidence[key]) for key in ("missing", "fabricated"))
    return str(row["case_id"]), str(row["round"]), verdict, *listed


def _names(tools: Sequence[str]) -> str:
    """Each once, with how often it is there."""
    counts = Counter(shorten(str(tool), 80) for tool in tools)
    names = (f"{tool} ({n} times)" if n > 1 else tool for tool, n in counts.items())
    return figures.join_words(names, most=5)


def _describe_incomplete(counts: EvidenceCounts) -> Line:
    if not counts.incomplete:
        return ()
    return join(
        "", [say("{} incomplete", f"{counts.incomplete:,}"), _describe_calls(counts.missing_calls)]
    )


def _describe_unknown(counts: EvidenceCounts) -> Line:
    if not counts.unknown:
        return ()
    why = say(" ({})", shorten(counts.notes[0][0], _NOTE)) if counts.notes else ()
    return join("", [say("{} unknown", f"{counts.unknown:,}"), why])


def _describe_fabricated(counts: EvidenceCounts) -> Line:
    if not counts.fabricated:
        return ()
    verb = "declares" if counts.fabricated == 1 else "declare"
    many = figures.count(counts.fabricated, "answer")
    sentence = say("; {} {} a call that is in no log: ", many, verb)
    return join("", [sentence, _list_calls(counts.fabricated_calls)])


def _describe_calls(calls: Sequence[tuple[str, str]]) -> Line:
    return say(" (not logged: {})", _list_calls(calls)) if calls else ()


def _list_calls(calls: Sequence[tuple[str, str]]) -> Line:
    named = [say("{} {}", code(shorten(c, 40)), code(shorten(t, 40))) for c, t in calls[:_NAMED]]
    more = [say("...")] if len(calls) > _NAMED else []
    return join(", ", [*named, *more])
