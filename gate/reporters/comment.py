"""comment.md: the one comment on the pull request, and the job summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from gate.plugins import REPORTERS, Rows
from gate.records import CaseChange, Report
from gate.text import inline
from gate.wording import figures, headline, sentences
from gate.wording.checks import blocking, warned
from gate.wording.markdown import (
    alert,
    case_table,
    checks_table,
    details,
    metrics_table,
    table,
)
from gate.wording.method import method, provenance
from gate.wording.spans import markdown, prose

LIMIT = 65_536  # characters and bytes that GitHub takes for certain
SUMMARY_LIMIT = 1_048_576  # bytes of a job summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a rendering shows; heading, reason, comparison and blocking table always stay."""

    failing: int = 10  # newly failing cases shown open
    evidence: bool = True  # what the graders said about them
    unchanged: bool = True  # rows of metrics that did not change
    folds: bool = True
    listed: int = 100  # cases of a folded list
    rows: int = 25  # rows of the blocking table and of the warnings
    reason: int = 1_000  # characters
    lost: str = ""  # what is left out, in words


_LEVELS = (
    Detail(),
    Detail(evidence=False, lost="what the graders said"),
    Detail(evidence=False, unchanged=False, lost="what the graders said, unchanged metrics"),
    Detail(evidence=False, unchanged=False, listed=25, lost="most case lists, unchanged metrics"),
    Detail(evidence=False, folds=False, lost="all metrics, case lists, method and provenance"),
    Detail(evidence=False, folds=False, failing=3, lost="all but the worst cases and the limits"),
    *(
        Detail(
            evidence=False,
            folds=False,
            failing=0,
            rows=rows,
            reason=250,
            lost="all but the worst limits",
        )
        for rows in (25, 12, 6, 3, 1)
    ),
)


@REPORTERS.register("comment")
@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """The comment on the pull request, at most 65,536 characters and bytes."""

    filename: ClassVar[str] = "comment.md"

    def render(self, report: Report, rows: Rows) -> str:
        return render_limited(report, rows, LIMIT)


def render_limited(report: Report, rows: Rows, limit: int) -> str:
    """The fullest comment of at most `limit` characters and bytes; from about 4,000 on it fits."""
    mark = marker(report) + "\n"
    return mark + _fullest(report, limit - len(mark))


def step_summary(report: Report, rows: Rows, limit: int = SUMMARY_LIMIT) -> str:
    """The comment without its marker, for GITHUB_STEP_SUMMARY; at most `limit` bytes."""
    return _fullest(report, limit)


def marker(report: Report) -> str:
    """The hidden first line: whose comment this is, and which run of which commit wrote it."""
    p = report.provenance
    name = re.sub(r"[^A-Za-z0-9._-]", "-", report.comment_id).lstrip("._-")[:64] or "gate"
    sha = p.commit if p.commit and re.fullmatch(r"[0-9a-fA-F]{1,64}", p.commit) else "unknown"
    run, attempt = (
        n if n and re.fullmatch("[0-9]{1,20}", n) else None for n in (p.run_id, p.run_attempt)
    )
    return f"<!-- agent-gate id={name} sha={sha} run={run or 0}.{attempt or 1} v=1 -->"


def _fullest(report: Report, limit: int) -> str:
    text = ""
    for level in _LEVELS:
        text = _body(report, level)
        if len(text.encode()) <= limit:  # never fewer bytes than characters
            return text
    return _whole_lines(text, limit)


def _whole_lines(text: str, limit: int) -> str:
    """What fits, line by line: half a code span would let loose what is in it."""
    kept = []
    for line in text.splitlines(keepends=True):
        limit -= len(line.encode())
        if limit >= 0:
            kept.append(line)
    return "".join(kept)


def _body(report: Report, detail: Detail) -> str:
    return "\n\n".join(part for part in _parts(report, detail) if part) + "\n"


def _parts(report: Report, detail: Detail) -> Iterator[str]:
    yield f"## {headline.icon(report.outcome)} {inline(headline.headline(report), 200)}"
    yield " ".join(part for part in _opening(report, detail) if part)
    yield "\n".join(
        markdown(line, limit=160) for line in sentences.comparisons(report)[: detail.rows]
    )
    yield _suites(report, detail)
    yield from _warnings(report, detail)
    yield _blocking(report, detail)
    worse = markdown(sentences.warn_only(warned(report)), limit=120)
    yield f"⚠️ {worse}" if worse else ""
    yield from _cases(report, detail)
    yield f"💰 {markdown(sentences.spending(report))}"
    if detail.folds:
        yield "\n".join(fold for fold in _folds(report, detail) if fold)
    yield _shortened(report, detail)
    yield _next(report)


def _next(report: Report) -> str:
    steps = markdown(sentences.next_step(report), limit=400)
    run = markdown(sentences.run_link(report))
    return " · ".join(part for part in (f"**Next**: {steps}" if steps else "", run) if part)


def _opening(report: Report, detail: Detail) -> Iterator[str]:
    yield markdown(headline.because(report, detail.reason), limit=detail.reason)
    if report.outcome == "pass":
        yield _in_limits(report)


def _in_limits(report: Report) -> str:
    gates = [gate for gate in report.gates if gate.level == "block"]
    targets = [gate for gate in gates if gate.target is not None]
    missed = sum(not gate.target_met for gate in targets)
    if not gates:
        return ""
    wish = f", {missed} of {len(targets)} below its target" if missed else ""
    return f"{figures.count(len(gates), 'blocking limit')} kept{wish}."


def _suites(report: Report, detail: Detail) -> str:
    """One row a suite, where there are several and not all are well."""
    if len(report.suites) < 2 or report.outcome == "pass":
        return ""
    rows = [
        (
            inline(s.name, 60),
            f"{headline.icon(s.outcome)} {headline.word(s.outcome)}",
            markdown(headline.in_short(s), limit=200),
        )
        for s in list(report.suites.values())[: detail.rows]
    ]
    return table(("Suite", "outcome", "why"), "<<<", rows)


def _warnings(report: Report, detail: Detail) -> Iterator[str]:
    if report.loosened:
        title = (
            "**This change loosens the rules it is judged by**; the baseline branch's were used."
        )
        lines = [prose(text) for text in report.loosened[: detail.rows]]
        yield alert("WARNING", title, lines)
    notes = sentences.cautions(report)[: min(detail.rows, 10)]
    if notes:
        yield alert("NOTE", "", notes)


def _blocking(report: Report, detail: Detail) -> str:
    rows = blocking(report)
    if not rows:
        return ""
    text = checks_table(report, rows[: detail.rows], "Blocking")
    more = rows[detail.rows :]
    if not more:
        return text
    if detail.folds:
        fold = details(f"{len(more)} more blocking metrics", checks_table(report, more, "Blocking"))
        return f"{text}\n\n{fold}"
    return f"{text}\n\n{len(more)} more blocking metrics, none of them worse."


def _cases(report: Report, detail: Detail) -> Iterator[str]:
    failing = sentences.by_severity(report.cases.newly_failing)
    yield markdown(sentences.case_counts(report), limit=80)
    shown = failing[: _open(report, detail)]
    if shown:
        yield case_table(report, shown, evidence=detail.evidence)
        if len(failing) > len(shown):
            yield f"{len(failing) - len(shown):,} more {_where(report)}."


def _open(report: Report, detail: Detail) -> int:
    """Newly failing cases shown unfolded: none of a pass, where they are noise as a rule."""
    return 0 if report.outcome == "pass" else detail.failing


def _folds(report: Report, detail: Detail) -> Iterator[str]:
    for suite in report.suites.values():
        name = f" of {suite.name}" if len(report.suites) > 1 else ""
        body = metrics_table(report, suite.name, changed_only=not detail.unchanged)
        yield details(f"All metrics{name}", body)
    yield details("Cases that changed", "\n\n".join(_lists(report, detail)))
    yield details(
        "How this was decided", "\n".join(f"- {markdown(line)}" for line in method(report))
    )
    rows = [(name, markdown(value)) for name, value in provenance(report)]
    yield details("What ran", table(("", ""), "<<", ((inline(n), v) for n, v in rows)))


def _lists(report: Report, detail: Detail) -> Iterator[str]:
    cases = report.cases
    lists: tuple[tuple[str, tuple[CaseChange, ...]], ...] = (
        ("Newly failing", sentences.by_severity(cases.newly_failing)[_open(report, detail) :]),
        ("Newly passing", cases.newly_passing),
        ("Flaky", cases.flaky),
        ("Errored", cases.errored),
        ("Quarantined", cases.quarantined),
        ("Added", cases.added),
        ("Removed", cases.removed),
        ("Changed", cases.changed),
    )
    for title, changes in lists:
        if changes:
            shown = case_table(report, changes[: detail.listed], evidence=False)
            more = len(changes) - detail.listed
            rest = f"\n\n{more:,} more {_where(report)}." if more > 0 else ""
            yield f"**{title}** ({len(changes):,})\n\n{shown}{rest}"


def _shortened(report: Report, detail: Detail) -> str:
    if not detail.lost:
        return ""
    return f"_Shortened to fit: left out are {detail.lost}; everything is {_where(report)}._"


def _where(report: Report) -> str:
    return "in `report.md` and `report.html` of the session" + (
        ", an artifact of the run" if report.provenance.run_url else ""
    )
