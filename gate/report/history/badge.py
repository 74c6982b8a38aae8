"""The success rate of a suite's newest run as a badge: an SVG, and JSON for shields.io."""

from __future__ import annotations

import json

from gate.records.history import SuiteHistory
from gate.report.history import cells
from gate.store.history import SUCCESS
from gate.text.escaping import one_line
from gate.text.html_markup import escape_html

_COLORS = {"red": "#c5221f", "green": "#188038", "grey": "#5f6368"}
_LETTER = 7  # pixels that a letter takes, about
_EDGE = 12  # pixels around each of the two texts


def color(suite: SuiteHistory) -> str:
    """`red` where the success rate fell when its level last changed and nobody accepted that;
    `grey` where it is not known; else `green`.
    """
    if not suite.runs or suite.runs[-1].success_rate is None:
        return "grey"
    last = next((c for c in reversed(suite.changes) if c.metric == SUCCESS.name), None)
    fell = last is not None and last.after < last.before and not last.accepted
    return "red" if fell else "green"


def as_shields(suite: SuiteHistory) -> str:
    """JSON in the form of https://shields.io/badges/endpoint-badge."""
    label, message = _texts(suite)
    data = {"schemaVersion": 1, "label": label, "message": message, "color": color(suite)}
    return json.dumps(data, ensure_ascii=False)


def as_svg(suite: SuiteHistory) -> str:
    label, message = _texts(suite)
    left, right = (len(text) * _LETTER + _EDGE for text in (label, message))
    shown, value = escape_html(label), escape_html(message)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{shown}: {value}"><title>{shown}: {value}</title>'
        f'<rect width="{left}" height="20" fill="#3c4043"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLORS[color(suite)]}"/>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">'
        f'<text x="{left / 2:g}" y="14">{shown}</text>'
        f'<text x="{left + right / 2:g}" y="14">{value}</text></g></svg>'
    )


def _texts(suite: SuiteHistory) -> tuple[str, str]:
    newest = cells.HEADLINES[0].newest(suite)
    known = suite.runs and suite.runs[-1].success_rate is not None
    return f"{one_line(suite.suite, 40)} success rate", newest if known else "unknown"
