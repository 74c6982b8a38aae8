"""The parts that comment.md and report.md share, as GitHub Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gate.records import CaseChange, Comparison, Estimate, Report
from gate.text import cell, inline, markup
from gate.wording import figures
from gate.wording.checks import Check
from gate.wording.sentences import rounds
from gate.wording.spans import Line, markdown
from gate.wording.unmeasured import sentence, unmeasured

NAME = 80  # characters of a metric, a case or a suite in a table


def table(head: Sequence[str], align: str, rows: Iterable[Sequence[str]]) -> str:
    """`align`: one of `<`, `>` a column. Cells are Markdown already."""
    marks = {"<": ":--", ">": "--:"}
    lines = [head, [marks[sign] for sign in align], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def details(summary: str, body: str) -> str:
    """A folded section, nothing when its body is empty."""
    return (
        f"<details><summary>{markup(summary, NAME)}</summary>\n\n{body}\n\n</details>"
        if body
        else ""
    )


def alert(kind: str, title: str, lines: Sequence[Line]) -> str:
    """A GitHub alert (`NOTE`, `WARNING`): the title alone, with one line, or over a list."""
    shown = [markdown(line) for line in lines]
    if len(shown) == 1:
        body = [f"{title} {shown[0]}".strip()]
    else:
        body = [*([title] if title else []), *(f"- {line}" for line in shown)]
    return "\n".join(f"> {line}" for line in (f"[!{kind}]", *body))


def checks_table(report: Report, rows: Sequence[Check], first: str) -> str:
    """Gate, baseline, now, change with its interval, rule, verdict."""
    suites = len(report.suites) > 1
    head = [*(["Suite"] if suites else []), first, "baseline", "now", change_head(rows), "rule", ""]
    align = "<" * suites + "<>><<<"
    return table(head, align, (_check_row(check, suites=suites) for check in rows))


def change_head(rows: Sequence[Check]) -> str:
    """`change (99 %)` when all intervals have that confidence."""
    levels = {c.comparison.confidence for c in rows if c.comparison and c.comparison.ci_low}
    return (
        f"change ({figures.tight(figures.percent(levels.pop()))})" if len(levels) == 1 else "change"
    )


def case_table(report: Report, changes: Sequence[CaseChange], *, evidence: bool) -> str:
    """Case, rounds passed before and now, and why it failed."""
    suites = len(report.suites) > 1
    head = [*(["Suite"] if suites else []), "Case", figures.tight("baseline → now"), "why"]
    rows = (
        [
            *([inline(change.suite, NAME)] if suites else []),
            cell(change.case_id, NAME),
            figures.tight(rounds(change)),
            _why(change, evidence=evidence),
        ]
        for change in changes
    )
    return table(head, "<" * len(head), rows)


def metrics_table(report: Report, suite: str, *, changed_only: bool) -> str:
    """Every metric of a suite: baseline, now with its interval, trials, change; below it those
    without a value.
    """
    found = {c.metric: c for c in report.comparisons if c.suite == suite}
    estimates = report.suites[suite].metrics
    rows = [
        _metric_row(name, estimates.get(name), found.get(name))
        for name in sorted({*estimates, *found} - {*unmeasured(report, suite)})
        if not changed_only or (name in found and found[name].status != "no_regression")
    ]
    head = ("Metric", "baseline", "now", "interval", "n", "change", "")
    parts = [table(head, "<>><><<", rows) if rows else ""]
    if not changed_only:
        parts.append(markdown(sentence(report, suite)))
    return "\n\n".join(part for part in parts if part)


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


def _why(change: CaseChange, *, evidence: bool) -> str:
    codes = [cell(failure, 60) for failure in change.failures[: 1 if evidence else 2]]
    reason = [cell(change.reason, 100)] if evidence and change.reason else []
    return " ".join(part for part in (*codes, *reason) if part) or figures.ABSENT


def _metric_row(name: str, now: Estimate | None, found: Comparison | None) -> list[str]:
    unit = (now.unit if now else "") or (found.unit if found else "")
    value = now.value if now else found.current if found else None
    if found is not None and found.delta is not None:
        value = found.current  # weighted as the baseline beside it, where cases had unlike rounds
    was = found.baseline if found else None
    digits = figures.digits_of((was, value), unit)
    change = status = ""
    if found is not None and found.delta is not None:
        change = figures.change(found.delta, unit, relative=found.relative)
    if found is not None:
        status = found.status.replace("_", " ")
        if found.status == "no_regression" and not found.settled:
            status += " so far"
    if value is None and now is not None and now.reason:
        status = f"not measured: {now.reason}"
    return [
        cell(name, NAME),
        figures.tight(figures.value(was, unit, digits=digits)),
        figures.tight(figures.value(value, unit, digits=digits)),
        _range(now, unit, digits),
        f"{now.n:,}" if now else "",
        change or figures.ABSENT,
        inline(status),
    ]


def _range(now: Estimate | None, unit: str, digits: int) -> str:
    if now is None or now.ci_low is None or now.ci_high is None:
        return ""
    low, high = (figures.value(end, unit, digits=digits) for end in (now.ci_low, now.ci_high))
    return figures.tight(f"{low} … {high}")
