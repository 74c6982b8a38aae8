"""report.html: one file that needs nothing else, with a page of evidence for each case."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from jinja2 import Template
from markupsafe import Markup

from gate.plugins import REPORTERS, Rows
from gate.records import CaseChange, Json, Report
from gate.report.html_page import templates, value_text
from gate.report.wording import case_totals as casebook
from gate.report.wording import (
    categories,
    evidence,
    headline,
    patterns,
    sentences,
    steps,
    violations,
)
from gate.report.wording import metric_falls as worse
from gate.report.wording import missing_metrics as unmeasured
from gate.report.wording import published_scores as quoted
from gate.report.wording import rule_changes as goalposts
from gate.report.wording.checks import checks
from gate.report.wording.corrected_judge import in_words
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import RANGE, by_dimension, dimensions, extremes, pieces
from gate.report.wording.method import method, provenance
from gate.report.wording.next_step import next_step
from gate.store.row_cache import SharedRows, shared
from gate.text import figures
from gate.text.escaping import one_line

LISTED = 5_000  # cases in the list
DETAILED = 500  # cases with questions, answers and traces; above it failing and changed ones only
STEPS = 50  # calls of one trace
TEXT = 4_000  # characters of a question or an answer
VALUE = 1_000  # characters of an argument, a result or a reason

_HERE = Path(__file__).parent
_KINDS = ("newly_failing", "newly_passing", "flaky", "errored", "quarantined", "added", "changed")

Key = tuple[str, str]  # suite, case id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One case of the list; `trials` is empty where details are left out."""

    case: casebook.CaseBook
    kind: str  # how it changed, in words; empty when it did not
    change: CaseChange | None
    trials: tuple[Mapping[str, Json], ...] = ()
    worse: tuple[str, ...] = ()  # metrics that it made worse, and how

    @property
    def state(self) -> str:
        """What the filter asks for."""
        failing = "failing " if self.case.failing else "passing "
        return failing + ("changed" if self.kind or self.worse else "")

    @property
    def diff(self) -> tuple[str, tuple[str, ...]]:
        """What its steps are beside those of before: a title, and lines as in a diff."""
        found = self.change.steps if self.change else None
        if found is None or self.change is None:
            return "", ()
        return steps.summary(self.change, found), tuple(steps.lines(found))

    @property
    def history(self) -> str:
        """`3/3 2/3`, run by run; empty where nothing is stored."""
        runs = self.change.history if self.change else ()
        return " ".join(f"{passed}/{rounds}" for passed, rounds in runs if rounds)

    @property
    def rounds(self) -> str:
        now = f"{self.case.passed}/{self.case.judged}" if self.case.judged else figures.ABSENT
        found = self.change
        if found is None or found.baseline_passed is None:
            return now
        return f"{found.baseline_passed}/{found.baseline_rounds} → {now}"


@REPORTERS.register("html")
@dataclass(frozen=True, slots=True, kw_only=True)
class Html:
    """Readable without scripts and on a telephone; no request leaves the page."""

    filename: ClassVar[str] = "report.html"

    def render(self, report: Report, rows: Rows) -> str:
        books = (stored := shared(rows)).once(casebook.read)
        entries, left_out = _entries(report, books, stored)
        style, script = _asset("report.css"), _asset("report.js")
        return _template().render(
            report=report,
            title=headline.headline(report),
            icon=headline.icon(report.outcome),
            because=headline.because(report),
            comparisons=sentences.comparisons(report),
            loosened=goalposts.loosened(report),
            loosened_title=goalposts.loosened_title(report),
            accepted=goalposts.accepted(report),
            cautions=sentences.cautions(report),
            counts=sentences.case_counts(report),
            worse=worse.titles(report),
            decision=headline.decision(report),
            **_of_agents(report),
            spending=spending(report),
            next_step=next_step(report),
            run_link=sentences.run_link(report),
            **_of_checks(report),
            dimensions=dimensions(report),
            by_dimension=by_dimension,
            pieces=pieces,
            extremes=extremes,
            range=RANGE,
            outcomes=headline.OUTCOMES,
            why=headline.why,
            entries=entries,
            left_out=left_out,
            books=books,
            method=method(report),
            provenance=provenance(report),
            unmeasured_told=unmeasured.sentence,
            quoted=quoted,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            policy=_policy(style, script),
        )


def _of_checks(report: Report) -> dict[str, Any]:
    """What blocks or calls for a look, apart from all the rest."""
    found = checks(report)
    loud = [check for check in found if check.blocking or check.sign != "good"]
    return {"checks": loud, "quiet": [check for check in found if check not in loud]}


def _of_agents(report: Report) -> dict[str, Any]:
    """How the agent went about it."""
    log = violations.logged(report)
    return {
        "patterns": patterns,
        "categories": categories,
        "evidence": evidence,
        "violations": tuple(violations.rows(log, suites=len(report.suites) > 1)),
        "violation_head": violations.HEAD,
        "violation_title": violations.title(report, shown=len(log)),
    }


def _entries(
    report: Report, books: Mapping[str, casebook.SuiteBook], rows: SharedRows
) -> tuple[tuple[_Entry, ...], tuple[str, ...]]:
    """The cases to list, the most telling first, and what was left out."""
    kinds, fallen = _changes(report), worse.by_case(report)
    cases = [case for book in books.values() for case in book.cases.values()]
    cases.sort(key=lambda case: _rank(case, kinds, fallen))
    wanted = cases
    left_out = []
    if len(cases) > DETAILED:
        telling = [c for c in cases if c.failing or (c.suite, c.case_id) in {**kinds, **fallen}]
        wanted = telling[:DETAILED]
        left_out.append(
            f"Questions, answers and traces are shown for {len(wanted):,} of {len(cases):,} cases: "
            "those that fail or changed; the others are in details.jsonl."
        )
    if len(cases) > LISTED:
        left_out.append(f"{len(cases) - LISTED:,} more cases are in details.jsonl.")
    trials = _trials(rows, {(case.suite, case.case_id) for case in wanted})
    entries = (_entry(case, kinds, fallen, trials) for case in cases[:LISTED])
    return tuple(entries), tuple(left_out)


def _entry(
    case: casebook.CaseBook,
    kinds: Mapping[Key, tuple[str, CaseChange]],
    fallen: Mapping[Key, tuple[str, ...]],
    trials: Mapping[Key, list[Mapping[str, Json]]],
) -> _Entry:
    key = (case.suite, case.case_id)
    kind, change = kinds.get(key, ("", None))
    told = tuple(trials.get(key, ()))
    return _Entry(case=case, kind=kind, change=change, trials=told, worse=fallen.get(key, ()))


def _changes(report: Report) -> dict[Key, tuple[str, CaseChange]]:
    """How each case changed; the first kind that names it wins."""
    found: dict[Key, tuple[str, CaseChange]] = {}
    for kind in _KINDS:
        for change in getattr(report.cases, kind):
            found.setdefault((change.suite, change.case_id), (kind.replace("_", " "), change))
    return found


def _rank(
    case: casebook.CaseBook,
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
    found: dict[Key, list[Mapping[str, Json]]] = {}
    for suite in sorted({suite for suite, _ in wanted}):
        for row in rows.of(suite, frozenset(case for one, case in wanted if one == suite)):
            found.setdefault((suite, str(row["case_id"])), []).append(_short(row))
    return found


def _short(row: Mapping[str, Json]) -> dict[str, Json]:
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
        "evidence": evidence.checked(row),
        "faults": [one_line(str(text)) for text in row.get("trace_faults") or ()],
        "scores": row["scores"],
        "reasons": {name: value_text(text, VALUE) for name, text in row["reasons"].items()},
        "unscored": {name: value_text(text, VALUE) for name, text in row["unscored"].items()},
        "retrieved": [one_line(str(name)) for name in (row.get("retrieved_ids") or [])[:20]],
        "latency": figures.value(row["latency_ms"], "ms"),
        "tokens": casebook.total_tokens(row),
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
def _template() -> Template:
    made = templates(_HERE)
    made.filters.update(
        shown=one_line,
        words=lambda name: name.replace("_", " "),
        number=figures.value,
        change=figures.change,
        count=figures.count,
        corrected=in_words,
        absent=lambda text: text or figures.ABSENT,
        tight=figures.tight,
    )
    return made.get_template("report.html.j2")


@cache
def _asset(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Only our own style and script, by their hashes: injected markup could neither run nor load
    anything.
    """
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
