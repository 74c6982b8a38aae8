"""Writes every report of a session: the same records give the same bytes, today and in a year."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gate.plugins import REPORTERS, Rows
from gate.records import CaseChanges, Json, Report, ReportOptions, TrialRow
from gate.records.codec import json_text
from gate.records.trial_row import RowsOf
from gate.report.in_short import count_all, shorten_metrics
from gate.report.wording import case_totals
from gate.store.code_marks import take_marks
from gate.store.row_cache import Before, SharedRows, no_answers
from gate.store.session import SUMMARY

Write = Callable[[str, str], object]  # file name in the session folder, its text
VIOLATIONS = "violations.jsonl"  # a line a safety violation, in the order of details.jsonl
OPTIONAL = ("html", "junit", "sarif")  # keys under `report:` that turn a reporter off


def write_reports(
    write: Write,
    report: Report,
    rows: Rows,
    options: ReportOptions,
    some: RowsOf | None = None,
    before: Before = no_answers,
) -> None:
    """summary.json, every reporter's file, the violation log where somebody looked for violations,
    and a folder a suite with its own report and summary. `some`: reads the rows of some cases only.
    `before`: what the base branch answered to the cases of a suite.
    """
    rows = SharedRows(rows, some, before)
    write(SUMMARY, summary(report))
    texts = {}
    for name in REPORTERS:
        if name in OPTIONAL and not getattr(options, name):
            continue
        reporter = REPORTERS.get_class(name)()
        texts[name] = reporter.render(report, rows)
        write(reporter.filename, texts[name])
    if any(book.guarded for book in rows.once(case_totals.read_totals).values()):
        write(VIOLATIONS, render_violations(rows()))
    alone = len(report.suites) == 1  # its own report is the whole one
    for name in report.suites:
        part = report_of_suite(report, name)
        write(f"{name}/{SUMMARY}", summary(part))
        markdown = REPORTERS.get_class("markdown")()
        text = texts["markdown"] if alone else markdown.render(part, rows.only(name))
        write(f"{name}/report.md", text)


def summary(report: Report) -> str:
    """summary.json (docs/reports.md)."""
    told = take_marks(report)
    return json_text(replace(told, counts=count_all(report), metrics=shorten_metrics(report)))


def report_of_suite(report: Report, name: str) -> Report:
    """The report of one suite: its outcome and numbers; the exit code stays the run's."""
    mine = {
        field: tuple(change for change in getattr(report.cases, field) if change.suite == name)
        for field in CaseChanges.__dataclass_fields__
    }
    return replace(
        report,
        outcome=report.suites[name].outcome,
        reason=report.suites[name].reason,
        suites={name: report.suites[name]},
        comparisons=tuple(c for c in report.comparisons if c.suite == name),
        gates=tuple(g for g in report.gates if g.suite == name),
        cases=CaseChanges(**mine),
        baseline=report.suites[name].baseline,
        overall=None,
    )


def render_violations(rows: Iterable[TrialRow]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for row in rows for one in _flat(row))


def _flat(row: TrialRow) -> Iterator[Json]:
    for violation in row.get("violations") or ():
        yield {
            **{key: value for key, value in violation.items() if key != "violation"},
            **violation["violation"],
        }
