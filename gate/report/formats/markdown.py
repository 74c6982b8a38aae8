"""report.md: the whole verdict, for every suite and for each one alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import Report, SuiteReport, limits_by_metric
from gate.report.wording import (
    agent_tables,
    case_totals,
    headline,
    patterns,
    people,
    plain_counts,
    published_scores,
    rule_changes,
    sentences,
)
from gate.report.wording.checks import list_checks, list_messages
from gate.report.wording.cost import spending
from gate.report.wording.markdown import (
    alert,
    case_table,
    checks_table,
    dimension_tables,
    dimensions_table,
    table,
    trend_table,
    worse_table,
)
from gate.report.wording.method import method, provenance
from gate.report.wording.next_step import WHOLE, next_step
from gate.report.wording.plain_counts import SUCCESS
from gate.stats.running_moments import RunningMoments
from gate.store.row_cache import share_rows
from gate.text import figures
from gate.text.escaping import cell, inline, midline
from gate.text.spans import markdown

LISTED = 1_000  # cases of one list
WORST = 20  # cases
DIFFS = 20  # cases whose steps are compared


@REPORTERS.register("markdown")
@dataclass(frozen=True, slots=True, kw_only=True)
class Markdown:
    """Everything in the order in which it is read: verdict, rules, cases, suites, method."""

    filename: ClassVar[str] = "report.md"

    def render(self, report: Report, rows: Rows) -> str:
        books = share_rows(rows).once(case_totals.read_totals)
        parts = _parts(_for_suite(report), books)
        return "\n\n".join(part for part in parts if part) + "\n"


def _for_suite(report: Report) -> Report:
    """A suite's own report speaks for the suite, whatever became of the others."""
    if len(report.suites) != 1:
        return report
    (suite,) = report.suites.values()
    same = suite.outcome == report.outcome
    return report if same else replace(report, outcome=suite.outcome, reason=suite.reason)


def _parts(report: Report, books: Mapping[str, case_totals.SuiteBook]) -> Iterator[str]:
    yield f"# {headline.icon_of(report)} {inline(headline.headline(report))}"
    yield markdown(plain_counts.passing(report), limit=1_000)
    yield markdown(headline.because(report), limit=2_000)
    yield markdown(headline.decision(report), limit=1_000)
    yield "\n\n".join(markdown(line) for line in sentences.comparisons(report))
    yield "\n\n".join(markdown(line) for line in sentences.foreseen(report))
    if lines := rule_changes.list_loosened(report):
        yield alert("WARNING", f"**{inline(rule_changes.title(report))}**", lines)
    if falls := rule_changes.list_falls_of_main(report):
        yield alert("WARNING", "", falls)
    if taken := rule_changes.list_accepted(report):
        yield alert("NOTE", "", taken)
    if notes := sentences.cautions(report):
        yield alert("NOTE", "", notes)
    yield markdown(spending(report))
    if rows := list_checks(report):
        yield f"## Limits and comparisons\n\n{checks_table(report, rows, 'Metric')}"
    yield "\n".join(f"- {cell(message)}" for message in list_messages(report))
    if table_of_all := dimensions_table(report):
        yield f"## Dimensions\n\n{table_of_all}"
    if log := agent_tables.violation_table(report, most=LISTED):
        yield f"## Safety\n\n{log}"
    if counts := markdown(sentences.case_counts(report)):
        yield f"## Cases\n\n{counts}"
    yield from _lists(report)
    for suite in report.suites.values():
        yield from _suite(report, suite, books.get(suite.name, case_totals.SuiteBook()))
    trend = trend_table(report)
    yield f"## Trend\n\n{trend}" if trend else ""
    if sentences_of_method := method(report):
        listed = "\n".join(f"- {markdown(sentence)}" for sentence in sentences_of_method)
        yield f"## How this was decided\n\n{listed}"
    named = ((inline(name), markdown(value)) for name, value in provenance(report))
    yield "## What ran\n\n" + table(("", ""), "<<", named)
    step = markdown(next_step(report), limit=WHOLE)
    yield f"**Next**: {step}" if step else ""


def _lists(report: Report) -> Iterator[str]:
    for title, changes in sentences.case_lists(report.cases):
        if changes:
            shown = case_table(report, changes[:LISTED], evidence=True)
            more = len(changes) - LISTED
            rest = f"\n\n{more:,} more are in summary.json." if more > 0 else ""
            yield f"### {title} ({len(changes):,})\n\n{shown}{rest}"
            yield agent_tables.step_diffs(changes, most=DIFFS)
    for fall in report.worse:
        shown = worse_table(report, fall, most=len(fall.worst), evidence=True)
        yield f"### Worse in {cell(fall.metric)}\n\n{shown}"


def _suite(report: Report, suite: SuiteReport, book: case_totals.SuiteBook) -> Iterator[str]:
    yield f"## Suite {inline(suite.name)}"
    word = f"{headline.icon_of(report, suite.name)} {headline.word(suite.outcome)}"
    yield f"{word}: {markdown(headline.why(suite), limit=1_000)}".rstrip(": ")
    yield table(("", ""), "<<", _numbers(report, suite, book))
    yield dimension_tables(report, suite.name)
    if suite.quoted:
        yield f"### Quoted\n\n{_published_values(suite)}"
    if suite.failures_top:
        rows = ((cell(code, 120), f"{number:,}") for code, number in suite.failures_top[:10])
        yield f"### Failures, top {min(10, len(suite.failures_top))}\n\n" + table(
            ("Code", "times"), "<>", rows
        )
    if shown := agent_tables.patterns_of(suite):
        yield f"### Failure patterns\n\n{shown}"
    if logged := agent_tables.evidence_table(suite, book):
        yield f"### Server logs\n\n{logged}"
    if sentences := "\n".join(f"- {markdown(line)}" for line in people.sentences(suite)):
        yield f"### Labels by people\n\n{sentences}"
    if categories := agent_tables.category_table(suite):
        yield f"### Categories\n\n{categories}"
    if worst := book.worst(WORST):
        yield f"### Worst cases\n\n{_worst(worst)}"


def _numbers(
    report: Report, suite: SuiteReport, book: case_totals.SuiteBook
) -> Iterator[tuple[str, str]]:
    held = limits_by_metric(report.gates)

    def shown(metric: str) -> str:
        estimate = suite.metrics.get(metric)
        limits = held.get((suite.name, metric), ())
        return figures.value(estimate.value, "share", limits=limits) if estimate else figures.ABSENT

    if shown(SUCCESS) != figures.ABSENT:
        yield "success rate", shown(SUCCESS)
        if ends := suite.success_rate_ci95:
            span = figures.span(*ends, "share", limits=held.get((suite.name, SUCCESS), ()))
            yield "cases like these", f"{span} (95 %{_how(suite)})"
        first = shown("agent.first_attempt_success_rate")
        again = shown("operational.retry_rate")
        if first != figures.ABSENT:
            rate = "" if again in (figures.ABSENT, "0.00") else f"; retry rate {again}"
            yield "first try, after retries", f"{first}, {shown(SUCCESS)}{rate}"
    if sentence := markdown(patterns.reliability(suite.reliability)):
        yield "reliability", sentence
    if suite.modes or not suite.failures_top:  # a session of before had no modes
        yield "top failure mode", patterns.top_mode(suite.modes)
    yield "trials", plain_counts.size(suite)
    yield "latency", _spread(book.latency, "ms", worst=True)
    if book.failed_calls:
        failed = _spread(book.failed_latency, "ms", worst=True, of="failed call")
        yield f"latency of {figures.count(book.failed_calls, 'failed call')}", failed
    yield "tokens", _spread(book.tokens, "tokens", worst=False)


def _published_values(suite: SuiteReport) -> str:
    rows = (
        (cell(metric, 80), *map(midline, texts)) for metric, *texts in published_scores.rows(suite)
    )
    return f"{table(published_scores.HEAD, '<>><><', rows)}\n\n{inline(published_scores.NOTE)}."


def _how(suite: SuiteReport) -> str:
    seed = suite.success_rate_seed
    facts = [inline(suite.success_rate_method), f"seed {seed}" if seed is not None else ""]
    return "; " + ", ".join(filter(None, facts)) if any(facts) else ""


def _spread(moments: RunningMoments, unit: str, *, worst: bool, of: str = "answer") -> str:
    if not moments.n:
        return "not measured"
    std = f", std {figures.value(moments.std, unit)}" if moments.std is not None else ""
    top = f", worst {figures.value(moments.worst, unit)}" if worst else ""
    return f"mean {figures.value(moments.mean, unit)}{std}{top} ({figures.count(moments.n, of)})"


def _worst(cases: list[case_totals.CaseBook]) -> str:
    rows = (
        (
            cell(case.case_id, 80),
            f"{case.passed}/{case.judged}",
            ", ".join(f"{cell(code, 80)} ({n})" for code, n in case.troubles.codes.most_common(3)),
        )
        for case in cases
    )
    return table(("Case", "passed", "failed by"), "<><", rows)
