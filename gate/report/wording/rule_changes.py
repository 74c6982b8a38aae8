"""What stands directly below the heading: rules that the change loosens, what main itself has
lost, and what was accepted.
"""

from __future__ import annotations

from collections.abc import Iterator

from gate.records import AcceptedChange, Report, SuiteReport
from gate.records.baseline import AnchorLevel, AnchorReport
from gate.text.figures import count, join_words
from gate.text.main_level import SHA, describe_fall, describe_first_seen, name_anchor
from gate.text.spans import Line, Span, code, join, link, prose, say


def title(report: Report) -> str:
    """A sentence on whose rules judged; without markup."""
    if report.unprotected:
        return (
            "This change loosens the rules and was judged by the loosened rules, because "
            "protect is off."
        )
    return "This change loosens the rules; it was judged by those of the base branch."


def list_loosened(report: Report) -> tuple[Line, ...]:
    return tuple(prose(text, 300) for text in report.loosened)


def list_falls_of_main(report: Report, *, own: bool = False) -> tuple[Line, ...]:
    """`Main itself has lost 7.5 points since v1.4.0 (...). First seen on ...`, for which no change
    is blamed; or why there is no anchor. `own`: the falls of main's own run, too, whose reason has
    them.
    """
    lines: list[Line] = []
    for suite in report.suites.values():
        if suite.anchor is not None:
            lines += _tell_missing(suite, suite.anchor)
            if own or not suite.anchor.decides:
                lines += _tell_falls(suite, suite.anchor)
    return tuple(lines)


def _tell_missing(suite: SuiteReport, anchor: AnchorReport) -> Iterator[Line]:
    if anchor.missing:
        yield (
            *prose(f"No anchor for `{suite.name}`: {anchor.missing} since {name_anchor(anchor)}."),
            *say(" Start a new one with {}.", code("gate baseline accept --anchor --reason TEXT")),
        )


def _tell_falls(suite: SuiteReport, anchor: AnchorReport) -> Iterator[Line]:
    if anchor.missing:
        return
    for level in anchor.fallen:
        fall = describe_fall(anchor, level).removeprefix("main")
        begin = "Main itself" if fall.startswith(" has lost") else "Main"
        seen = describe_first_seen(level)
        yield prose(f"{begin}{fall}. {seen[:1].upper()}{seen[1:]}{_merged(suite, level)}.", 1_000)


def _merged(suite: SuiteReport, level: AnchorLevel) -> str:
    """Where the level changed, and which commits were measured since the fall was seen."""
    runs = suite.history_runs
    turns = []
    for shift in suite.history_shifts:
        if shift.metric == level.metric and 0 < shift.at < len(runs):
            sides = [runs[at].commit for at in (shift.at - 1, shift.at)]
            named = " and ".join(f"`{commit[:SHA]}`" for commit in sides if commit)
            turns.append(f" between {named}" if named else f" on {runs[shift.at].created_at[:10]}")
    told = f"; the level changed{join_words(turns)}" if turns else ""
    seen = level.seen.at if level.seen else ""
    later = {run.commit[:SHA] for run in runs if run.commit and run.created_at > seen}
    since = count(len(later), "commit")
    return told + (f"; {since} measured since then" if seen and later else "")


def list_accepted(report: Report) -> tuple[Line, ...]:
    """`Accepted by @who: why (metrics)`; the name is code, which mentions nobody."""
    return tuple(_describe_accepted(change) for change in report.accepted)


def who_accepted(report: Report, metric: str) -> str:
    """Names of those who accepted the metric's change; empty when nobody did."""
    names = [c.who for c in report.accepted if not c.metrics or metric in c.metrics]
    return join_words(dict.fromkeys(names))


def _describe_accepted(change: AcceptedChange) -> Line:
    which = join(", ", ((code(name),) for name in change.metrics[:10]))
    if len(change.metrics) > 10:
        which = (*which, Span(f" and {len(change.metrics) - 10} more"))
    of = say(" ({})", which) if which else ()
    where = link(Span("comment"), change.url)
    shown = say(" · {}", where) if where.url else ()
    who, why = code(f"@{change.who}"), prose(change.why, 300)
    return say("Accepted by {}{}: {}{}", who, of, why, shown)
