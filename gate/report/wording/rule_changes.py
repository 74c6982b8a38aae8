"""What stands directly below the heading: rules that the change loosens, and what was accepted."""

from __future__ import annotations

from gate.records import AcceptedChange, Report
from gate.text.figures import join_words
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
