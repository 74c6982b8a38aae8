"""junit.xml: a test suite a suite, a test case a case, for everything that reads JUnit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import Report, SuiteReport
from gate.report.wording.case_totals import CaseBook, read_totals
from gate.store.row_cache import share_rows
from gate.text.escaping import clean, one_line

MESSAGE = 300  # characters
BODY = 2_000


@REPORTERS.register("junit")
@dataclass(frozen=True, slots=True, kw_only=True)
class JUnit:
    """A case fails when one of its rounds did; times are seconds."""

    filename: ClassVar[str] = "junit.xml"

    def render(self, report: Report, rows: Rows) -> str:
        books = share_rows(rows).once(read_totals)
        by_suite = {
            name: list(books[name].cases.values()) if name in books else []
            for name in {**report.suites, **books}
        }
        suites = [_suite(name, cases, report) for name, cases in by_suite.items()]
        total = _counts([_kind(case) for cases in by_suite.values() for case in cases])
        head = f"<testsuites name={_q('Agent Gate')} {total} time={_q(f'{report.duration_s:.3f}')}>"
        return "\n".join(
            ('<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", "")
        )


def _kind(case: CaseBook) -> str:
    """A case fails when one of its rounds did; empty: it passed."""
    if case.passed < case.judged:
        return "failure"
    if case.infra:
        return "error"
    return "" if case.judged else "skipped"


def _suite(name: str, cases: Sequence[CaseBook], report: Report) -> str:
    seconds = sum(case.seconds for case in cases)
    head = (
        f"<testsuite name={_q(name)} {_counts([*map(_kind, cases)])}"
        f" time={_q(f'{seconds:.3f}')} timestamp={_q(report.created_at)}>"
    )
    categories = dict.fromkeys(case.category for case in cases)
    groups = {c: _q(f"{name}.{c}" if c else name) for c in categories}
    lines = [_case(groups[case.category], case) for case in cases]
    return "\n".join((head, _properties(report.suites.get(name)), *lines, "</testsuite>"))


def _properties(suite: SuiteReport | None) -> str:
    if suite is None:
        return "<properties/>"
    pairs = [("outcome", suite.outcome), ("reason", suite.reason), ("not_run", str(suite.not_run))]
    items = "".join(f"<property name={_q(name)} value={_q(value)}/>" for name, value in pairs)
    return f"<properties>{items}</properties>"


def _case(group: str, case: CaseBook) -> str:
    """`group`: its class name, quoted."""
    kind = _kind(case)
    head = f'<testcase classname={group} name={_q(case.case_id)} time="{case.seconds:.3f}"'
    return f"{head}>{_inner(case, kind)}</testcase>" if kind else f"{head}/>"


def _inner(case: CaseBook, kind: str) -> str:
    said = case.troubles
    if kind == "failure":
        codes = ", ".join(said.failures) or "failed"
        message = f"{case.passed} of {case.judged} rounds passed: {codes}"
        mode = said.mode or next(iter(said.failures), "failed").split(":", 1)[0]
        body = _text("\n".join(said.reasons))
        return f"<failure message={_q(message)} type={_q(mode)}>{body}</failure>"
    if kind == "error":
        body = _text("\n".join(said.errors))
        message = next(iter(said.errors))
        return f"<error message={_q(message)} type={_q('infra_error')}>{body}</error>"
    why = next(iter(said.unscored), "no grader decided whether it passed")
    return f"<skipped message={_q(why)}/>"


def _counts(kinds: Sequence[str]) -> str:
    return " ".join(
        f"{name}={_q(str(number))}"
        for name, number in (
            ("tests", len(kinds)),
            ("failures", kinds.count("failure")),
            ("errors", kinds.count("error")),
            ("skipped", kinds.count("skipped")),
        )
    )


def _q(text: str) -> str:
    """An attribute's value on one line, in the quotes that it needs."""
    escaped = _escape(one_line(text, MESSAGE))
    if '"' not in escaped:
        return f'"{escaped}"'
    return f"'{escaped}'" if "'" not in escaped else '"' + escaped.replace('"', "&quot;") + '"'


def _text(text: str) -> str:
    return _escape(clean(text, BODY))


def _escape(text: str) -> str:
    """As xml.sax.saxutils has it, which imports an HTTP client."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
