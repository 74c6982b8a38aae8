"""junit.xml: a test suite a suite, a test case a case, for everything that reads JUnit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import Report, SuiteReport
from gate.report.wording.case_totals import CaseBook, SuiteBook, read_totals
from gate.store.code_marks import take_marks
from gate.store.row_cache import share_rows
from gate.text.escaping import clean, one_line

MESSAGE = 300  # characters
BODY = 2_000
# KnownFailures -> the kind of test case; empty: as it is
_KNOWN = {"skipped": "known", "properties": "known_property", "failures": ""}


@REPORTERS.register("junit")
@dataclass(frozen=True, slots=True, kw_only=True)
class JUnit:
    """A case fails when one of its rounds did; times are seconds. What fails on the base branch
    too is shown as `report.junit.known_failures` says, so that the file of a gate that passes has
    no failure unless that asks for it.
    """

    filename: ClassVar[str] = "junit.xml"

    def render(self, report: Report, rows: Rows) -> str:
        report = take_marks(report)
        books = share_rows(rows).once(read_totals)
        by_suite = {
            name: list(_kinds(books[name], name, report)) if name in books else []
            for name in {**report.suites, **books}
        }
        suites = [_suite(name, cases, report) for name, cases in by_suite.items()]
        kinds = [kind for cases in by_suite.values() for _, kind in cases]
        total, time = _counts(kinds), _q(f"{report.duration_s:.3f}")
        head = f"<testsuites name={_q('Agent Gate')} {total} time={time}>"
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


def _kinds(book: SuiteBook, name: str, report: Report) -> Iterator[tuple[CaseBook, str]]:
    """Cases and what they are: `known`, if they fail and the change is not to blame."""
    blamed = _blamed(name, report)
    for case in book.cases.values():
        kind = _kind(case)
        spared = kind in ("failure", "error") and blamed is not None and case.case_id not in blamed
        yield case, _KNOWN[report.known_failures] or kind if spared else kind


def _blamed(name: str, report: Report) -> Set[str] | None:
    """The cases that fail by the change; None: all that fail. Of a suite that passes it is none;
    else those that newly fail and new ones, or all where a limit is broken without either.
    """
    suite, cases = report.suites.get(name), report.cases
    if suite is not None and suite.outcome == "pass":
        return frozenset()
    new = {c.case_id for c in (*cases.newly_failing, *cases.added) if c.suite == name}
    return new if any(c.suite == name for c in cases.newly_failing) else None


def _suite(name: str, cases: Sequence[tuple[CaseBook, str]], report: Report) -> str:
    seconds, kinds = sum(case.seconds for case, _ in cases), [kind for _, kind in cases]
    skipped = kinds.count("skipped") + kinds.count("known")
    head = (
        f"<testsuite name={_q(name)} {_counts(kinds)} skipped={_q(str(skipped))}"
        f" time={_q(f'{seconds:.3f}')} timestamp={_q(report.created_at)}>"
    )
    categories = dict.fromkeys(case.category for case, _ in cases)
    groups = {c: _q(f"{name}.{c}" if c else name) for c in categories}
    lines = [_case(groups[case.category], case, kind) for case, kind in cases]
    return "\n".join((head, _properties(report.suites.get(name)), *lines, "</testsuite>"))


def _properties(suite: SuiteReport | None) -> str:
    if suite is None:
        return "<properties/>"
    pairs = [("outcome", suite.outcome), ("reason", suite.reason), ("not_run", str(suite.not_run))]
    return f"<properties>{''.join(_property(*pair) for pair in pairs)}</properties>"


def _property(name: str, value: str) -> str:
    return f"<property name={_q(name)} value={_q(value)}/>"


def _case(group: str, case: CaseBook, kind: str) -> str:
    """`group`: its class name, quoted."""
    head = f'<testcase classname={group} name={_q(case.case_id)} time="{case.seconds:.3f}"'
    return f"{head}>{_inner(case, kind)}</testcase>" if kind else f"{head}/>"


def _inner(case: CaseBook, kind: str) -> str:
    said = case.troubles
    codes = ", ".join(said.failures) or "failed"
    message = f"{case.passed} of {case.judged} rounds passed: {codes}"
    if kind.startswith("known"):
        message = message if _kind(case) == "failure" else next(iter(said.errors))
        if kind == "known":
            return f"<skipped message={_q(f'known failure: {message}')}/>"
        return f"<properties>{_property('known_failure', message)}</properties>"
    if kind == "failure":
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
    """What the file and each suite have; the schema of Jenkins has no `skipped` of the whole."""
    return " ".join(
        f"{name}={_q(str(number))}"
        for name, number in (
            ("tests", len(kinds)),
            ("failures", kinds.count("failure")),
            ("errors", kinds.count("error")),
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
