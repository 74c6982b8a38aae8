"""report.html: one file that needs nothing else, with a page of evidence for each case."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import CaseChange, Json, Report, TrialRow
from gate.report.html_page import content_policy, value_text
from gate.report.session_page.cases import CaseEntry
from gate.report.session_page.page import page
from gate.report.wording import case_totals, evidence, metric_falls, patterns
from gate.store.row_cache import SharedRows, share_rows
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup

LISTED = 5_000  # cases in the list
DETAILED = 500  # cases with questions, answers and traces; above it failing and changed ones only
STEPS = 50  # calls of one trace
TEXT = 4_000  # characters of a question or an answer
VALUE = 1_000  # characters of an argument, a result or a reason

_HERE = Path(__file__).parent
_KINDS = ("newly_failing", "newly_passing", "flaky", "errored", "quarantined", "added", "changed")

Key = tuple[str, str]  # suite, case id


@REPORTERS.register("html")
@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Readable without scripts and on a telephone; no request leaves the page."""

    filename: ClassVar[str] = "report.html"

    def render(self, report: Report, rows: Rows) -> str:
        books = (stored := share_rows(rows)).once(case_totals.read_totals)
        entries, left_out = _entries(report, books, stored)
        style, script = _asset("report.css"), _asset("report.js")
        return page(
            report,
            books,
            entries,
            left_out,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )


def _entries(
    report: Report, books: Mapping[str, case_totals.SuiteBook], rows: SharedRows
) -> tuple[tuple[CaseEntry, ...], tuple[str, ...]]:
    """The cases to list, the most telling first, and what was left out."""
    kinds, fallen = _changes(report), metric_falls.by_case(report)
    cases = [case for book in books.values() for case in book.cases.values()]
    listed = heapq.nsmallest(LISTED, cases, key=lambda case: _rank(case, kinds, fallen))
    wanted = listed
    left_out = []
    if len(cases) > DETAILED:
        telling = {**kinds, **fallen}
        wanted = [c for c in listed if c.failing or (c.suite, c.case_id) in telling][:DETAILED]
        left_out.append(
            f"Questions, answers and traces are shown for {len(wanted):,} of {len(cases):,} cases: "
            "those that fail or changed; the others are in details.jsonl."
        )
    if len(cases) > LISTED:
        left_out.append(f"{len(cases) - LISTED:,} more cases are in details.jsonl.")
    trials = _trials(rows, {(case.suite, case.case_id) for case in wanted})
    entries = (_entry(case, kinds, fallen, trials) for case in listed)
    return tuple(entries), tuple(left_out)


def _entry(
    case: case_totals.CaseBook,
    kinds: Mapping[Key, tuple[str, CaseChange]],
    fallen: Mapping[Key, tuple[str, ...]],
    trials: Mapping[Key, list[Mapping[str, Json]]],
) -> CaseEntry:
    key = (case.suite, case.case_id)
    kind, change = kinds.get(key, ("", None))
    rounds = tuple(trials.get(key, ()))
    return CaseEntry(case=case, kind=kind, change=change, trials=rounds, worse=fallen.get(key, ()))


def _changes(report: Report) -> dict[Key, tuple[str, CaseChange]]:
    """How each case changed; the first kind that names it wins."""
    changes: dict[Key, tuple[str, CaseChange]] = {}
    for kind in _KINDS:
        for change in getattr(report.cases, kind):
            changes.setdefault((change.suite, change.case_id), (kind.replace("_", " "), change))
    return changes


def _rank(
    case: case_totals.CaseBook,
    kinds: Mapping[Key, tuple[str, CaseChange]],
    fallen: Mapping[Key, tuple[str, ...]],
) -> tuple[int, float, str, str]:
    if (case.suite, case.case_id) in fallen:
        return 1, list(fallen).index((case.suite, case.case_id)), case.suite, case.case_id
    kind = kinds.get((case.suite, case.case_id), ("", None))[0].replace(" ", "_")
    first = _KINDS.index(kind) if kind == "newly_failing" else len(_KINDS)
    share = case.passed / case.judged if case.judged else 0.0
    return first, share if case.failing else 2.0 - bool(kind), case.suite, case.case_id


def _trials(rows: SharedRows, wanted: set[Key]) -> dict[Key, list[Mapping[str, Json]]]:
    trials: dict[Key, list[Mapping[str, Json]]] = {}
    for suite in sorted({suite for suite, _ in wanted}):
        for row in rows.rows_of_cases(
            suite, frozenset(case for one, case in wanted if one == suite)
        ):
            trials.setdefault((suite, str(row["case_id"])), []).append(_short(row))
    return trials


def _short(row: TrialRow) -> dict[str, Json]:
    """What the page shows of a trial, cut; the rest need not stay in memory."""
    calls = row.get("steps") or []
    return {
        "round": row["round"],
        "status": row["status"],
        "passed": row["passed"],
        "question": value_text(row.get("question"), TEXT),
        "output": value_text(row.get("output"), TEXT),
        "error": value_text(row.get("error"), VALUE),
        "failures": [one_line(str(code)) for code in row["failures"][:20]],
        "mode": patterns.words(row.get("mode")),
        "evidence": evidence.format_checked(row),
        "faults": [one_line(str(text)) for text in row.get("trace_faults") or ()],
        "scores": row["scores"],
        "reasons": {name: value_text(text, VALUE) for name, text in row["reasons"].items()},
        "unscored": {name: value_text(text, VALUE) for name, text in row["unscored"].items()},
        "retrieved": [one_line(str(name)) for name in (row.get("retrieved_ids") or [])[:20]],
        "latency": figures.value(row["latency_ms"], "ms"),
        "tokens": case_totals.total_tokens(row),
        "cost": figures.money(row.get("cost_usd")),
        "more_steps": max(0, len(calls) - STEPS) + row.get("omitted_steps", 0),
        "steps": [_step(step) for step in calls[:STEPS]],
    }


def _step(step: Mapping[str, Json]) -> dict[str, str]:
    given = step.get("arguments")
    return {
        "name": one_line(str(step.get("name"))),
        "arguments": value_text(step.get("raw_arguments") if given is None else given, VALUE),
        "result": value_text(step.get("result"), VALUE),
        "error": value_text(step.get("error"), VALUE),
    }


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
