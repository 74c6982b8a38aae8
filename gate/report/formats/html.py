"""report.html: one file that needs nothing else, with a page of evidence for each case."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from gate.analysis.expected import describe_expected
from gate.plugins import REPORTERS, Rows
from gate.records import Json, Report, TrialRow
from gate.records.baseline import StoredAnswer
from gate.report.html_page import content_policy, value_text
from gate.report.page_script import read_asset
from gate.report.session_page.case_blocks import CasePacker, Change, Key
from gate.report.session_page.cases import CaseEntry, Shown
from gate.report.session_page.joined_script import join_script
from gate.report.session_page.page import page
from gate.report.wording import case_totals, evidence, metric_falls, patterns
from gate.store.row_cache import Before, share_rows
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup

SHOWN = 20  # cases that stand in the page itself, for readers without scripts and on paper
STEPS = 50  # calls of one trace of these
TEXT = 4_000  # characters of a question or an answer
VALUE = 1_000  # characters of an argument, a result or a reason

_KINDS = (
    *("newly_failing", "newly_passing", "flaky", "errored", "no_opinion", "quarantined"),
    *("added", "changed"),
)


@REPORTERS.register("html")
@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Readable without scripts and on a telephone; no request leaves the page."""

    filename: ClassVar[str] = "report.html"

    def render(self, report: Report, rows: Rows) -> str:
        books = (stored := share_rows(rows)).once(case_totals.read_totals)
        changes = _changes(report)
        ranked = _rank_all(books, changes)
        shown = {key: list[Shown]() for key in ranked[:SHOWN]}
        was: dict[Key, StoredAnswer] = {}
        before = _keep_answers(stored.answers_before, shown, was)
        packer = CasePacker(report, books, changes, before=before)
        blocks = packer.pack(_keep(stored(), shown), ranked)
        entries = (
            _entry(books[key[0]].cases[key[1]], changes.get(key), trials, was.get(key))
            for key, trials in shown.items()
        )
        style, script = read_asset("formats/report.css"), join_script()
        return page(
            report,
            books,
            tuple(entries),
            blocks,
            style=Markup(style),
            script=Markup(script),
            policy=content_policy(style, script),
        )


def _keep(rows: Iterable[TrialRow], shown: Mapping[Key, list[Shown]]) -> Iterator[TrialRow]:
    """The same rows; what the page itself shows of them is put into `shown`."""
    for row in rows:
        trials = shown.get((row["suite"], row["case_id"]))
        if trials is not None:
            trials.append(_short(row))
        yield row


def _keep_answers(before: Before, shown: Container[Key], was: dict[Key, StoredAnswer]) -> Before:
    """The same answers; those of what the page itself shows are put into `was`."""

    def read(suite: str) -> Iterator[StoredAnswer]:
        for one in before(suite):
            if (suite, one.case_id) in shown:
                was[suite, one.case_id] = one
            yield one

    return read


def _entry(
    case: case_totals.CaseBook,
    told: Change | None,
    trials: Sequence[Shown],
    was: StoredAnswer | None,
) -> CaseEntry:
    told = told or Change()
    passed = {True: ", passed", False: ", failed", None: ""}[was.passed] if was else ""
    return CaseEntry(
        case=case,
        kind=told.kind,
        change=told.change,
        trials=tuple(trials),
        worse=told.worse,
        expected=next((trial["expected"] for trial in trials if trial["expected"]), ""),
        was=(f"Base branch{passed}", value_text(was.text, TEXT)) if was else ("", ""),
    )


def _changes(report: Report) -> dict[Key, Change]:
    """What the verdict says of each case; the first kind that names it wins."""
    fallen = metric_falls.by_case(report)
    changes = {key: Change(worse=worse) for key, worse in fallen.items()}
    for kind in reversed(_KINDS):
        for change in getattr(report.cases, kind):
            key = (change.suite, change.case_id)
            changes[key] = Change(
                kind=kind.replace("_", " "), change=change, worse=fallen.get(key, ())
            )
    return changes


def _rank_all(
    books: Mapping[str, case_totals.SuiteBook], changes: Mapping[Key, Change]
) -> list[Key]:
    """All cases, the most telling first: newly failing ones, those that made a metric worse, those
    that fail, those that changed.
    """
    ranks = {}
    fallen = {key: place for place, key in enumerate(changes) if changes[key].worse}
    for suite, book in books.items():
        for case_id, case in book.cases.items():
            key = (suite, case_id)
            told = changes.get(key)
            if told is not None and told.kind == "newly failing":
                first, second = 0, 0.0
            elif key in fallen:
                first, second = 1, float(fallen[key])
            elif case.failing:
                first, second = 2, case.passed / case.judged if case.judged else 0.0
            else:
                first, second = 3, float(told is None)
            ranks[key] = (first, second, suite, case_id)
    return sorted(ranks, key=ranks.__getitem__)


def _short(row: TrialRow) -> Shown:
    """What the page shows of a trial, cut; the rest need not stay in memory."""
    calls = row.get("steps") or []
    return {
        "round": row["round"],
        "status": row["status"],
        "passed": row["passed"],
        "question": value_text(row.get("question"), TEXT),
        "expected": value_text(describe_expected(row.get("expected") or {}), TEXT),
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
