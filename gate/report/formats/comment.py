"""comment.md: the one comment on the pull request, and the job summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from gate.analysis.severity import by_severity
from gate.plugins import REPORTERS, Rows
from gate.records import Report
from gate.report.wording import (
    agent_tables,
    case_overview,
    causes,
    evidence,
    headline,
    metric_falls,
    people,
    plain_counts,
    rule_changes,
    sentences,
)
from gate.report.wording.checks import Check, list_checks
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import first_figures
from gate.report.wording.markdown import (
    alert,
    case_table,
    checks_table,
    details,
    metrics_table,
    name_rows,
    start_heading,
    table,
    trend_table,
    worse_table,
)
from gate.report.wording.method import method, provenance
from gate.report.wording.next_step import WHOLE, next_step
from gate.report.wording.published_scores import lines as quotations
from gate.report.wording.trend import last_runs, trends
from gate.text import figures
from gate.text.escaping import inline
from gate.text.spans import Line, code, markdown, say

MOST = 50  # failing cases of a suite that are known one by one where nothing is compared
LIMIT = 65_536  # characters and bytes that GitHub takes for certain
SUMMARY_LIMIT = 1_048_576  # bytes of a job summary
WORSE, CASES = "Cases that got worse", "Other cases that changed"
CAUSES = 2  # shown open
BAD = ("bad", "refused", "unsure")  # signs of rows that keep a run from passing
DIFFS = 3  # cases whose steps are compared
VIOLATIONS = 5  # of the log
FALLS = 3  # metrics whose worst cases stand open
LINES = 10  # rules that were loosened, and suites, shown open
FOLDED = 400  # rows that one fold can hold
BASELINES = 3  # comparison lines shown open


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much a rendering shows. Heading, loosened rules, reason, comparison line and the blocking
    rows that failed always stay: `cut` leaves out of them what no comment could hold.
    """

    failing: int = 5  # newly failing cases shown open
    evidence: bool = True  # what the graders said about them
    passing: bool = True  # rows of what is well
    folds: bool = True
    listed: int = 100  # cases of a folded list
    rows: int = 25  # rows of the blocking table shown open
    compact: bool = False  # more rows that failed are named in a line
    cut: bool = False
    reason: int = 1_000  # characters
    lost: str = ""  # what is left out, in words


_LESS = Detail(evidence=False, passing=False, listed=25)
_LEAST = replace(_LESS, folds=False, failing=0, compact=True, reason=250)
_LEVELS = (
    Detail(),
    Detail(evidence=False, lost="what the graders said"),
    replace(_LESS, listed=100, lost="what the graders said, rows of what is well"),
    replace(_LESS, lost="what the graders said, rows of what is well, most case lists"),
    replace(_LESS, folds=False, lost="all metrics, case lists, method and provenance"),
    replace(
        _LESS, folds=False, failing=3, lost="everything except the worst cases and what blocks"
    ),
    replace(_LEAST, lost="all but what blocks"),
    *(replace(_LEAST, cut=True, rows=n, lost="all but the worst") for n in (25, 12, 6, 3, 1)),
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


def step_summary(report: Report, rows: Rows, limit: int = SUMMARY_LIMIT, *, title: str = "") -> str:
    """The comment without its marker, for GITHUB_STEP_SUMMARY; at most `limit` bytes. `title`:
    words before the verdict in the heading.
    """
    return _fullest(report, limit, title)


def marker(report: Report) -> str:
    """The hidden first line: whose comment this is, and which run of which commit wrote it."""
    p = report.provenance
    name = re.sub(r"[^A-Za-z0-9._-]", "-", report.comment_id).lstrip("._-")[:64] or "gate"
    sha = p.commit if p.commit and re.fullmatch(r"[0-9a-fA-F]{1,64}", p.commit) else "unknown"
    run, attempt = (
        n if n and re.fullmatch("[0-9]{1,20}", n) else None for n in (p.run_id, p.run_attempt)
    )
    return f"<!-- agent-gate id={name} sha={sha} run={run or 0}.{attempt or 1} v=1 -->"


def _fullest(report: Report, limit: int, title: str = "") -> str:
    rows = list_checks(report)
    words = headline.headline(report)
    heading = f"## {headline.icon_of(report)} {start_heading(title)}{inline(words, 200)}"
    for level in _LEVELS:
        parts = [heading]
        room = limit - len(heading.encode()) - 1  # never fewer bytes than characters
        for part in _parts(report, rows, level):
            if part:
                parts.append(part)
                room -= len(part.encode()) + 2
            if room < 0:
                break
        else:
            return "\n\n".join(parts) + "\n"
    least = (part for part in _parts(report, rows, _LEVELS[-1]) if part)
    return _fit_lines("\n\n".join((heading, *least)) + "\n", limit)


def _fit_lines(text: str, limit: int) -> str:
    """What fits, line by line: half a code span would let loose what is in it."""
    kept = []
    for line in text.splitlines(keepends=True):
        limit -= len(line.encode())
        if limit >= 0:
            kept.append(line)
    return "".join(kept)


def _parts(report: Report, rows: Sequence[Check], detail: Detail) -> Iterator[str]:
    """Everything below the heading, from top to bottom; empty ones are no part."""
    yield from _goalposts(report, detail)
    yield _bullets(causes.lines(report)[: CAUSES if detail.evidence else 1])
    yield markdown(plain_counts.passing(report), limit=200)
    yield " ".join(part for part in _opening(report, detail) if part)
    yield markdown(headline.decision(report), limit=400)
    yield from _comparisons(report, detail)
    notes = sentences.cautions(report)[: min(detail.rows, LINES)]
    yield alert("NOTE", "", notes) if notes else ""
    yield from _suites(report, detail)
    yield from _blocking(report, [check for check in rows if check.blocking], detail)
    milder = [check for check in rows if not check.blocking and check.sign == "warn"]
    fell = headline.tells_newly_failing(report)
    worse = markdown(sentences.warn_only(milder, fell=fell), limit=120)
    yield f"⚠️ {worse}" if worse else ""
    yield agent_tables.violation_table(report, most=VIOLATIONS if detail.evidence else 0)
    groups = (first_figures(report), evidence.lines(report), people.lines(report))
    for lines in (*groups, quotations(report)):
        yield from map(markdown, lines[: LINES if detail.evidence else 0])
    yield from _cases(report, detail)
    yield markdown(last_runs(report))
    yield f"{'📥' if report.imported else '💰'} {markdown(spending(report))}"
    if detail.folds:
        yield from _folds(report, detail)
    yield _cut_note(report, detail)
    yield _next(report)


def _next(report: Report) -> str:
    steps = markdown(next_step(report), limit=WHOLE)
    run = markdown(sentences.report_links(report))
    return " · ".join(part for part in (f"**Next**: {steps}" if steps else "", run) if part)


def _goalposts(report: Report, detail: Detail) -> Iterator[str]:
    """What the change loosens, what main itself has lost, then what somebody accepted."""
    lines = rule_changes.list_loosened(report)
    if lines:
        shown = lines[: min(LINES, detail.rows)]
        more = lines[len(shown) :]
        if more and detail.cut:
            shown += (say("and {} more", f"{len(more):,}"),)
        yield alert("WARNING", f"**{inline(rule_changes.title(report))}**", shown)
        if more and not detail.cut:
            yield details(f"{len(more):,} more loosened rules", _bullets(more))
    falls = rule_changes.list_falls_of_main(report)[: min(LINES, detail.rows)]
    yield alert("WARNING", "", falls) if falls else ""
    taken = rule_changes.list_accepted(report)[: min(LINES, detail.rows)]
    yield alert("NOTE", "", taken) if taken else ""


def _bullets(lines: Sequence[Line]) -> str:
    return "\n".join(f"- {markdown(line)}" for line in lines)


def _opening(report: Report, detail: Detail) -> Iterator[str]:
    yield markdown(headline.because(report, detail.reason), limit=detail.reason)
    yield headline.list_kept_limits(report) if report.outcome == "pass" else ""


def _comparisons(report: Report, detail: Detail) -> Iterator[str]:
    lines = sentences.comparisons(report)
    shown, more = lines[:BASELINES], lines[BASELINES:]
    yield "\n".join(markdown(line, limit=160) for line in shown)
    if more and not detail.cut:
        yield details(f"{len(more):,} more baselines", _bullets(more))
    elif more:
        yield f"{len(more):,} more baselines."
    yield "\n".join(markdown(line) for line in sentences.foreseen(report)[:BASELINES])


def _suites(report: Report, detail: Detail) -> Iterator[str]:
    """One row a suite, where there are several and not all are well; the worst first."""
    if len(report.suites) < 2 or report.outcome == "pass":
        return
    suites = sorted(report.suites.values(), key=lambda suite: suite.outcome == "pass")
    if len(suites) > LINES or not detail.passing:
        suites = [suite for suite in suites if suite.outcome != "pass"]
    rows = [
        (
            inline(s.name, 60),
            f"{headline.icon_of(report, s.name)}\N{NO-BREAK SPACE}{headline.word(s.outcome)}",
            markdown(headline.in_short(s), limit=200),
        )
        for s in suites[: detail.rows]
    ]
    yield table(("Suite", "outcome", "why"), "<<<", rows)
    well = sum(suite.outcome == "pass" for suite in report.suites.values())
    hidden = [f"{len(suites) - len(rows):,} more did not pass"] if len(suites) > len(rows) else []
    if well and not any(suite.outcome == "pass" for suite in suites):
        hidden.append(f"{figures.count(well, 'suite')} passed")
    yield f"{', '.join(hidden)}." if hidden else ""


def _blocking(report: Report, rows: Sequence[Check], detail: Detail) -> Iterator[str]:
    """Rows that failed before rows that are well; only the latter are ever left out."""
    bad = [row for row in rows if row.sign in BAD]
    well = [row for row in rows if row.sign not in BAD]
    shown = [*bad, *(well if detail.passing else [])][: detail.rows]
    if shown:
        yield checks_table(report, shown, "Blocking")
    worse = bad[len(shown) :]
    if worse and detail.cut:
        yield f"**{len(worse):,} more rows** did not improve."
    elif worse:
        body = name_rows(worse, suites=len(report.suites) > 1) if detail.compact else ""
        body = body or checks_table(report, worse, "Blocking")
        yield details(f"{len(worse):,} more rows that did not improve", body)
    hidden = len(well) - max(0, len(shown) - len(bad))
    if hidden and detail.folds and detail.passing and hidden <= FOLDED:
        body = checks_table(report, well[-hidden:], "Blocking")
        yield details(f"{hidden:,} more rows without problems", body)
    elif hidden:
        yield f"{figures.count(hidden, 'more blocking row')} without problems."


def _cases(report: Report, detail: Detail) -> Iterator[str]:
    known = bool(report.causes) and headline.tells_newly_failing(report)
    yield "" if known else markdown(sentences.case_counts(report), limit=200)
    failing = case_overview.list_failing(report)
    shown = failing[: _open(report, detail)]
    changes = [case.change for case in shown if case.change]
    if any(case.texts for case in shown):
        yield case_overview.texts_table(report, shown)
    elif shown:
        yield case_table(report, changes, evidence=detail.evidence, history=False)
    more = len(failing) - len(shown) if shown else 0
    number = f"{more:,} more" if changes or len(failing) < MOST else "More"
    folded = "below" if detail.folds and changes else _where(report)
    also = markdown(sentences.other_changes(report), limit=200) if known else ""
    yield " ".join(filter(None, (f"{number} {folded}." if more else "", also)))
    for fall in metric_falls.list_open(report, most=FALLS if detail.failing else 0):
        yield worse_table(report, fall, most=detail.failing, evidence=detail.evidence)


def _open(report: Report, detail: Detail) -> int:
    """Newly failing cases shown unfolded: none of a pass, where they are noise as a rule."""
    return 0 if report.outcome == "pass" else detail.failing


def _folds(report: Report, detail: Detail) -> Iterator[str]:
    further = _bullets(causes.lines(report)[CAUSES if detail.evidence else 1 :])
    overview = case_overview.worse_overview(report, most=detail.listed)
    yield details(WORSE, "\n\n".join(filter(None, (further, overview))))
    changes = by_severity(report.cases.newly_failing)[: _open(report, detail)]
    yield details("Steps that differ", agent_tables.step_blocks(changes, most=DIFFS))
    for suite in report.suites.values():
        name = f" of {suite.name}" if len(report.suites) > 1 else ""
        body = metrics_table(report, suite.name, changed_only=not detail.passing)
        yield details(f"All metrics{name}", body)
        patterns = agent_tables.patterns_of(suite) if detail.evidence else ""
        yield details(f"Failure patterns{name}", patterns)
    yield details("Trend", trend_table(report) if len(list(trends(report))) > 1 else "")
    yield details(CASES, "\n\n".join(_lists(report, detail)))
    lines = method(report, most=detail.listed + 1)
    more = (say("and more in {}", code("report.md")),) if len(lines) > detail.listed else ()
    yield details("How this was decided", _bullets((*lines[: detail.listed], *more)))
    first, *rows = [(inline(name), markdown(value)) for name, value in provenance(report)]
    yield details("What ran", table(first, "<<", rows))


def _lists(report: Report, detail: Detail) -> Iterator[str]:
    for title, changes in sentences.case_lists(report.cases)[1:]:
        if changes:
            shown = case_table(report, changes[: detail.listed], evidence=False)
            more = len(changes) - detail.listed
            rest = f"\n\n{more:,} more {_where(report)}." if more > 0 else ""
            yield f"**{title}** ({len(changes):,})\n\n{shown}{rest}"


def _cut_note(report: Report, detail: Detail) -> str:
    sentence = f"_Shortened to fit: without {detail.lost}; the full report is {_where(report)}._"
    return sentence if detail.lost else ""


def _where(report: Report) -> str:
    page = sentences.page_link(report)
    if page.url:
        return f"in the {markdown((page,))}"
    artifact = ", an artifact of the run" if report.provenance.run_url else ""
    return f"in `report.md` and `report.html` of the session{artifact}"
