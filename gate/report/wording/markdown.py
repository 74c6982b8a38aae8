"""The parts that comment.md and report.md share, as GitHub Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gate.analysis.metric_families import collapse
from gate.records import CaseChange, Comparison, Estimate, GateResult, MetricFall, Report
from gate.report.wording import metric_falls, patterns
from gate.report.wording.checks import Check, change_of, keys
from gate.report.wording.corrected_judge import corrections, corrections_of_checks
from gate.report.wording.dimensions import (
    RANGE,
    by_dimension,
    describe_missing,
    dimensions,
    extremes,
    in_short,
    interval_of,
    list_missing,
    whose_intervals,
)
from gate.report.wording.plain_counts import describe_weighting
from gate.report.wording.sentences import case_url, rounds
from gate.report.wording.trend import trends
from gate.text import figures
from gate.text.escaping import cell, inline, markup
from gate.text.shortening import shorten
from gate.text.spans import Line, code, link, markdown

NAME = 80  # characters of a metric, a case or a suite in a table
CASE = 48  # characters of a case id; in a longer one both ends tell it from others
REASON = 160  # of what a grader said of one metric, which is all that is known
_MOVE, _RUNS = figures.tight("baseline → now"), figures.tight("run by run")
EXCERPT = 80  # characters of evidence: two lines in a comment of usual width


def table(head: Sequence[str], align: str, rows: Iterable[Sequence[str]]) -> str:
    """`align`: one of `<`, `>` a column. Cells are Markdown already."""
    marks = {"<": ":--", ">": "--:"}
    lines = [head, [marks[sign] for sign in align], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def details(summary: str, body: str, *, limit: int = NAME) -> str:
    """A folded section, nothing when its body is empty."""
    return (
        f"<details><summary>{markup(summary, limit)}</summary>\n\n{body}\n\n</details>"
        if body
        else ""
    )


def start_heading(title: str) -> str:
    """What stands in a heading before the verdict: the title and a colon, or nothing."""
    return f"{inline(title, NAME)}: " if title else ""


def alert(kind: str, title: str, lines: Sequence[Line]) -> str:
    """A GitHub alert (`NOTE`, `WARNING`): the title over a list, or one line alone."""
    shown = [markdown(line) for line in lines]
    body = [title, *(f"- {line}" for line in shown)] if title else shown
    if len(shown) > 1 and not title:
        body = [f"- {line}" for line in shown]
    return "\n".join(f"> {line}" for line in (f"[!{kind}]", *body))


def checks_table(report: Report, rows: Sequence[Check], first: str) -> str:
    """Gate, baseline, now, change with its interval, rule, verdict."""
    suites = len(report.suites) > 1
    head = [*(["Suite"] if suites else []), first, "baseline", "now", change_head(rows), "rule", ""]
    align = "<" * suites + "<>><<<"
    shown = table(head, align, (_check_row(check, suites=suites) for check in rows))
    below = (describe_weighting(report, keys(rows)), *corrections_of_checks(report, rows))
    return "\n\n".join((shown, *(markdown(line) for line in below if line)))


def change_head(rows: Sequence[Check]) -> str:
    """`change (99 %)` when all intervals have that confidence."""
    levels = {c.comparison.confidence for c in rows if c.comparison and c.comparison.ci_low}
    return (
        f"change ({figures.tight(figures.percent(levels.pop()))})" if len(levels) == 1 else "change"
    )


def name_rows(rows: Sequence[Check], *, suites: bool) -> str:
    """Rows in a few words each: `metric` 0.93 → 0.84, regression."""
    return "\n".join(
        "- "
        + (f"{inline(check.suite, NAME)}: " if suites else "")
        + f"{cell(check.metric, NAME)} {check.baseline} → {check.current}, {inline(check.verdict)}"
        for check in rows
    )


def trend_table(report: Report) -> str:
    """The blocking metrics over the baseline's runs and this one; empty where nothing is stored."""
    lines = tuple(trends(report))
    suites = len(report.suites) > 1
    runs = max((trend.runs for trend in lines), default=0)
    head = [*(["Suite"] if suites else []), "Metric", f"last {runs} runs and this one"]
    rows = (
        [
            *([inline(trend.suite, NAME)] if suites else []),
            cell(trend.metric, NAME),
            f"{trend.bars} {figures.tight(f'{trend.first} → {trend.last}')}",
        ]
        for trend in lines
    )
    return table(head, "<" * len(head), rows) if lines else ""


def case_table(
    report: Report, changes: Sequence[CaseChange], *, evidence: bool, history: bool = True
) -> str:
    """Case, rounds passed before (of each stored run, where `history`) and now, why it failed."""
    suites = len(report.suites) > 1
    runs = history and any(change.history for change in changes)
    head = [*(["Suite"] if suites else []), "Case", *([_RUNS] if runs else []), _MOVE, "why"]
    rows = (
        [
            *([inline(change.suite, NAME)] if suites else []),
            case_cell(report, change.suite, change.case_id),
            *([_history(change)] if runs else []),
            figures.tight(rounds(change)),
            why_failed(change, evidence=evidence),
        ]
        for change in changes
    )
    return table(head, "<" * len(head), rows)


def worse_table(report: Report, fall: MetricFall, *, most: int, evidence: bool) -> str:
    """The cases that made a metric worse, and why; its title above."""
    cases = fall.worst[:most]
    rows = (
        [
            case_cell(report, fall.suite, case.case_id),
            figures.tight(metric_falls.change(fall, case)),
            (cell(case.reason, REASON) if evidence else "") or figures.ABSENT,
        ]
        for case in cases
    )
    shown = table(["Case", figures.tight("baseline → now"), "why"], "<<<", rows)
    return f"{markdown(metric_falls.title(report, fall, shown=len(cases)))}\n\n{shown}"


def metrics_table(report: Report, suite: str, *, changed_only: bool) -> str:
    """The metrics of a suite, of those that nothing judges the leading one of each family:
    baseline, now with its interval, trials, change; below it those without a value.
    """
    comparisons = {c.metric: c for c in report.comparisons if c.suite == suite}
    judged = {gate.metric: gate for gate in report.gates if gate.suite == suite}
    estimates = report.suites[suite].metrics
    trials = {estimate.n for estimate in estimates.values() if estimate.value is not None}
    alike = len(trials) == 1
    names = [
        name
        for name in sorted({*estimates, *comparisons} - {*list_missing(report, suite)})
        if not changed_only or (name in comparisons and comparisons[name].status != "no_regression")
    ]
    rows = []
    for name, alike_ones in _lead_families(names, comparisons, judged):
        row = _metric_row(
            name, estimates.get(name), comparisons.get(name), judged.get(name), counted=not alike
        )
        like_it = f" ({len(alike_ones):,} like it)" if alike_ones else ""
        rows.append([row[0] + like_it, *row[1:]])
    head = ["Metric", "baseline", "now", "interval", *([] if alike else ["trials"]), "change"]
    align = "<>><" + ">" * (not alike) + "<"
    parts = [table(head, align, rows) if rows else ""]
    if rows and alike:
        parts.append(f"Each over {figures.count(trials.pop(), 'trial')}.")
    parts.append(whose_intervals(report, suite) if rows else "")
    if not changed_only:
        parts += _below(report, suite)
    return "\n\n".join(part for part in parts if part)


def _lead_families(
    names: Sequence[str],
    comparisons: Mapping[str, Comparison],
    judged: Mapping[str, GateResult],
) -> list[tuple[str, Sequence[str]]]:
    """The metrics with a limit, that block or that are gone, and of the others the leading one of
    each family with the rest of it, by name.
    """

    def excess(name: str) -> float:
        one = comparisons.get(name)
        if one is None or one.status not in ("regression", "suspected"):
            return 0.0
        return 1.0 + abs(one.delta or 0.0) / (one.tolerance or 1.0)

    own = {
        name
        for name in names
        if name in judged
        or ((one := comparisons.get(name)) and (one.level == "block" or one.status == "missing"))
    }
    rest = [name for name in names if name not in own]
    lone: list[tuple[str, Sequence[str]]] = [(name, ()) for name in own]
    return sorted([*lone, *collapse(rest, lambda name: ("", name), excess)])


def dimensions_table(report: Report) -> str:
    """A row a dimension of each suite, its main metrics in it; empty where nothing was measured."""
    suites = len(report.suites) > 1
    rows = [
        [
            *([inline(dimension.suite, NAME)] if suites else []),
            inline(dimension.title, NAME),
            markdown(in_short(dimension, most=4)),
        ]
        for dimension in dimensions(report)
    ]
    head = [*(["Suite"] if suites else []), "Dimension", f"mean ({RANGE})"]
    return table(head, "<" * len(head), rows) if rows else ""


def dimension_tables(report: Report, suite: str) -> str:
    """`metrics_table` with the lowest and the highest case, a table a dimension."""
    compared = {c.metric: c for c in report.comparisons if c.suite == suite}
    judged = {gate.metric: gate for gate in report.gates if gate.suite == suite}
    estimates = report.suites[suite].metrics
    head = ["Metric", "baseline", "now", "interval", "lowest case", "highest case", "trials"]
    parts = []
    for dimension, names in by_dimension(report, suite).items():
        rows = []
        for name in names:
            now = estimates.get(name)
            gate = judged.get(name)
            *row, change = _metric_row(name, now, compared.get(name), gate, counted=True)
            ends = (figures.tight(end) for end in extremes(now, gate.limits if gate else ()))
            rows.append([*row[:4], *ends, row[4], change])
        title = inline(dimension.replace("_", " "), NAME)
        parts.append(f"### Metrics: {title}\n\n" + table([*head, "change"], "<>><>>><", rows))
    parts.append(whose_intervals(report, suite) if parts else "")
    parts += _below(report, suite)
    return "\n\n".join(part for part in parts if part)


def _below(report: Report, suite: str) -> Iterator[str]:
    """What a table of all metrics cannot hold: those without a value, and corrected ones."""
    estimates = report.suites[suite].metrics
    yield markdown(describe_missing(report, suite))
    yield from map(markdown, corrections(estimates[name] for name in sorted(estimates)))


def _check_row(check: Check, *, suites: bool) -> list[str]:
    now = figures.tight(check.current)
    return [
        *([inline(check.suite, NAME)] if suites else []),
        cell(check.metric, NAME),
        figures.tight(check.baseline),
        f"**{now}**" if check.sign == "bad" else now,
        figures.tight(check.change),
        figures.tight(check.limit),
        f"{check.icon}\N{NO-BREAK SPACE}{inline(check.verdict)}" if check.verdict else check.icon,
    ]


def case_cell(report: Report, suite: str, case_id: str) -> str:
    """The id, as a link to the case where report.html is hosted."""
    shown = code(shorten(shorten_id(case_id), NAME))
    return markdown((link(shown, case_url(report, suite, case_id)),))


def shorten_id(case_id: str) -> str:
    """A long id with both of its ends."""
    shown = shorten(case_id, 1_000)
    return shown if len(shown) <= CASE else f"{shown[:28]}…{shown[-19:]}"


def _history(change: CaseChange) -> str:
    """`3/3 2/3 3/3`, the oldest run first."""
    counts = " ".join(f"{passed}/{rounds}" for passed, rounds in change.history if rounds)
    return counts or figures.ABSENT


def why_failed(change: CaseChange, *, evidence: bool) -> str:
    """Mode, and what the graders said (`evidence`) or their codes."""
    codes = [cell(failure, 60) for failure in change.failures[:2]]
    reason = cell(change.reason, EXCERPT) if evidence else ""
    text = reason or " ".join(part for part in codes if part)
    return ": ".join(part for part in (patterns.words(change.mode), text) if part) or figures.ABSENT


def _metric_row(
    name: str,
    now: Estimate | None,
    comparison: Comparison | None,
    gate: GateResult | None,
    *,
    counted: bool,
) -> list[str]:
    unit = (now.unit if now else "") or (comparison.unit if comparison else "")
    value = now.value if now else comparison.current if comparison else None
    was = comparison.baseline if comparison else None
    limits = gate.limits if gate else ()
    return [
        cell(name, NAME),
        figures.tight(figures.value(was, unit, limits=limits)),
        figures.tight(figures.value(value, unit, limits=limits)),
        figures.tight(interval_of(now, gate)),
        *([f"{now.n:,}" if now else ""] if counted else []),
        _change_in_words(
            comparison, value, limits, missing=now.reason if now and value is None else ""
        ),
    ]


def _change_in_words(
    comparison: Comparison | None, value: float | None, limits: Sequence[float], *, missing: str
) -> str:
    """`−9.1 pt, regression`; no word for what did not change. `to 0.84` where what is compared is
    weighted otherwise than the value in the row.
    """
    parts = []
    if comparison is not None and comparison.delta is not None:
        shown, value_shown = (
            figures.value(number, comparison.unit, limits=limits)
            for number in (comparison.current, value)
        )
        to = f" to {shown}" if shown != value_shown else ""
        parts.append(figures.tight(change_of(comparison) + to))
    if missing:
        parts.append(inline(f"not measured: {missing}"))
    elif comparison is not None and comparison.status != "no_regression":
        parts.append(comparison.status.replace("_", " "))
    return ", ".join(parts) or figures.ABSENT
