"""junit.xml: a test suite a suite, a test case a case, for everything that reads JUnit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import Report, SuiteReport, TrialRow
from gate.text.escaping import xml

MESSAGE = 300  # characters
BODY = 2_000


@dataclass(slots=True)
class _Case:
    """One case over its rounds; counts its first failed and its first unanswered round."""

    category: str
    seconds: float = 0.0
    judged: int = 0
    passed: int = 0
    failures: dict[str, None] = field(default_factory=dict)  # codes in order of appearance
    reasons: dict[str, None] = field(default_factory=dict)
    errors: dict[str, None] = field(default_factory=dict)
    unscored: dict[str, None] = field(default_factory=dict)
    mode: str = ""  # of the first failed round

    def add(self, row: TrialRow) -> None:
        self.seconds += (row["latency_ms"] or 0.0) / 1000
        self.judged += row["passed"] is not None
        self.passed += row["passed"] is True
        if row["status"] == "infra_error":
            self.errors[str(row["error"] or "no answer")] = None
        elif row["passed"] is False:
            self.failures |= dict.fromkeys(map(str, row["failures"]))
            self.mode = self.mode or str(row.get("mode") or "")
            texts = [f"{name}: {text}" for name, text in row["reasons"].items()]
            self.reasons |= dict.fromkeys([*texts, *([str(row["error"])] if row["error"] else [])])
        for grader, why in row["unscored"].items():
            self.unscored[f"{grader}: {why}"] = None

    @property
    def kind(self) -> str:
        if self.passed < self.judged:
            return "failure"
        if self.errors:
            return "error"
        return "" if self.judged else "skipped"


@REPORTERS.register("junit")
@dataclass(frozen=True, slots=True, kw_only=True)
class JUnit:
    """A case fails when one of its rounds did; times are seconds."""

    filename: ClassVar[str] = "junit.xml"

    def render(self, report: Report, rows: Rows) -> str:
        by_suite: dict[str, dict[str, _Case]] = {name: {} for name in report.suites}
        for row in rows():
            cases = by_suite.setdefault(str(row["suite"]), {})
            case = cases.setdefault(str(row["case_id"]), _Case(str(row.get("category") or "")))
            case.add(row)
        suites = [_suite(name, by_suite[name], report) for name in by_suite]
        total = _counts(case for cases in by_suite.values() for case in cases.values())
        head = f"<testsuites name={_q('Agent Gate')} {total} time={_q(f'{report.duration_s:.3f}')}>"
        return "\n".join(
            ('<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", "")
        )


def _suite(name: str, cases: Mapping[str, _Case], report: Report) -> str:
    seconds = sum(case.seconds for case in cases.values())
    head = (
        f"<testsuite name={_q(name)} {_counts(cases.values())} time={_q(f'{seconds:.3f}')}"
        f" timestamp={_q(report.created_at)}>"
    )
    lines = [_case(name, case_id, cases[case_id]) for case_id in cases]
    return "\n".join((head, _properties(report.suites.get(name)), *lines, "</testsuite>"))


def _properties(suite: SuiteReport | None) -> str:
    if suite is None:
        return "<properties/>"
    pairs = [("outcome", suite.outcome), ("reason", suite.reason), ("not_run", str(suite.not_run))]
    items = "".join(f"<property name={_q(name)} value={_q(value)}/>" for name, value in pairs)
    return f"<properties>{items}</properties>"


def _case(suite: str, case_id: str, case: _Case) -> str:
    group = f"{suite}.{case.category}" if case.category else suite
    head = f"<testcase classname={_q(group)} name={_q(case_id)} time={_q(f'{case.seconds:.3f}')}"
    inner = _inner(case)
    return f"{head}>{inner}</testcase>" if inner else f"{head}/>"


def _inner(case: _Case) -> str:
    if case.kind == "failure":
        codes = ", ".join(case.failures) or "failed"
        message = f"{case.passed} of {case.judged} rounds passed: {codes}"
        body = "\n".join(case.reasons)
        kind = case.mode or next(iter(case.failures), "failed").split(":", 1)[0]
        return f"<failure message={_q(message)} type={_q(kind)}>{_text(body)}</failure>"
    if case.kind == "error":
        message = next(iter(case.errors))
        return (
            f"<error message={_q(message)} type={_q('infra_error')}>"
            f"{_text(chr(10).join(case.errors))}</error>"
        )
    if case.kind == "skipped":
        why = next(iter(case.unscored), "no grader decided whether it passed")
        return f"<skipped message={_q(why)}/>"
    return ""


def _counts(cases: Iterable[_Case]) -> str:
    kinds = [case.kind for case in cases]
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
    escaped = _escape(" ".join(xml(text, MESSAGE).split()))
    if '"' not in escaped:
        return f'"{escaped}"'
    return f"'{escaped}'" if "'" not in escaped else '"' + escaped.replace('"', "&quot;") + '"'


def _text(text: str) -> str:
    return _escape(xml(text, BODY))


def _escape(text: str) -> str:
    """As xml.sax.saxutils has it, which imports an HTTP client."""
    return text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
