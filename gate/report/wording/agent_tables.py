"""Tables about how an agent went about it, as GitHub Markdown: steps, violations, patterns."""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import CaseChange, Report, SuiteReport
from gate.report.wording import case_totals, categories, evidence, patterns, steps, violations
from gate.report.wording.markdown import NAME, REASON, details, table
from gate.text import figures
from gate.text.escaping import block, cell, inline
from gate.text.spans import markdown

SUMMARY = 240  # characters of the title of a fold


def step_diffs(changes: Sequence[CaseChange], *, most: int) -> str:
    """A fold a case with what the agent did otherwise; empty where nothing is known."""
    diffs = [(change, change.steps) for change in changes if change.steps is not None][:most]
    return "\n".join(
        details(
            steps.summary(change, diff),
            block("\n".join(steps.lines(diff)), language="diff"),
            limit=SUMMARY,
        )
        for change, diff in diffs
    )


def step_blocks(changes: Sequence[CaseChange], *, most: int) -> str:
    """The same for a fold that holds them all, without the steps that stayed."""
    diffs = [(change, change.steps) for change in changes if change.steps is not None][:most]
    return "\n\n".join(
        f"{cell(change.case_id, NAME)}\n\n"
        + block("\n".join(steps.lines(diff, changed_only=True)), language="diff")
        for change, diff in diffs
    )


def violation_table(report: Report, *, most: int) -> str:
    """The violation log, its title above; empty where there is none."""
    log = violations.merge_log(report)[:most]
    if not violations.total(report):
        return ""
    rows = (
        [cell(case, NAME), inline(step), cell(rule, NAME), cell(what, REASON)]
        for case, step, rule, what in violations.rows(log, suites=len(report.suites) > 1)
    )
    shown = table(violations.HEAD, "<<<<", rows) if log else ""
    title = markdown(violations.title(report, shown=len(log)))
    return "\n\n".join(part for part in (title, shown) if part)


def patterns_of(suite: SuiteReport) -> str:
    """Why trials failed, and what looks alike; empty where none did."""
    return "\n\n".join(part for part in (_modes(suite), _clusters(suite)) if part)


def _modes(suite: SuiteReport) -> str:
    rows = patterns.mode_rows(suite)
    return table(("Failure mode", "cases", "trials"), "<>>", rows) if rows else ""


def _clusters(suite: SuiteReport) -> str:
    rows = [
        (mode, cell(label, REASON), cases, cell(ids, REASON))
        for mode, label, cases, ids in patterns.cluster_rows(suite.clusters)
    ]
    return table(("Mode", "failures that look alike", "cases", ""), "<<><", rows) if rows else ""


def evidence_table(suite: SuiteReport, book: case_totals.SuiteBook) -> str:
    """What the logs say of each trial, a sentence on all above; empty where nothing was checked."""
    rows = (
        [
            cell(case, NAME),
            number,
            inline(verdict, REASON),
            *(inline(names, REASON) or figures.ABSENT for names in (missing, made_up)),
        ]
        for case, number, verdict, missing, made_up in book.checked
    )
    shown = table(evidence.HEAD, "<><<<", rows) if book.checked else ""
    rest = f"{book.unlisted:,} more are in details.jsonl." if book.unlisted else ""
    parts = (markdown(evidence.summary(suite)), shown, rest)
    return "\n\n".join(part for part in parts if part)


def category_table(suite: SuiteReport) -> str:
    rows = [(inline(name, NAME), *rest) for name, *rest in categories.rows(suite)]
    return table(categories.HEAD, "<>>>>><", rows) if rows else ""
