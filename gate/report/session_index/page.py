"""The list of sessions as one HTML file. It carries what it was made of, so that the next session
to end need not read the others again.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO

from gate.files.json_schema_quick import compile_check
from gate.records import CheckedJson
from gate.records.codec import from_json, json_line, parse_json, schema_of, to_json
from gate.records.session_list import SessionEntry
from gate.report.html_page import content_policy
from gate.report.page_script import join_modules, read_asset
from gate.store.session_list import MOST, PAGE
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup
from gate.text.shortening import shorten

MODULES = (
    *(f"session_page/script/{name}" for name in ("elements", "hidden", "words")),
    *(f"session_index/script/{name}" for name in ("table", "pairs", "answers", "compare")),
)
_OPENING = '<script type="application/gzip;base64" id="known">'
_KNOWN = re.compile(rf"{re.escape(_OPENING)}([\w+/=]*)</script>", re.ASCII)
_MOST = 64 << 20  # bytes that it may expand to
_DAMAGED = (OSError, EOFError, zlib.error, ValueError, RecursionError)  # OSError: no gzip
_COLUMNS = (  # key, title, whether it is a number
    ("date", "Date (UTC)", False),
    ("outcome", "Outcome", False),
    ("suites", "Suites", False),
    ("cases", "Cases", True),
    ("failed", "Failed", True),
    ("rate", "Success rate", True),
    ("cost", "Cost", True),
    ("time", "Duration", True),
    ("commit", "Commit", False),
)
_SIGNS = {"pass": "✓", "fail": "✗", "error": "!"}


def render(entries: Sequence[SessionEntry]) -> str:
    """The whole file, the newest session first."""
    style = read_asset("formats/report.css") + read_asset("session_index/index.css")
    script = join_modules(MODULES)
    told = figures.count(len(entries), "session")
    if len(entries) >= MOST:
        told = f"The newest {MOST:,} sessions"
    body = _table(entries) if entries else markup("<p>No session here came to a verdict.</p>\n")
    return join_markup(
        [
            markup(
                '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                '<meta http-equiv="Content-Security-Policy" content="%s">\n'
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                '<meta name="referrer" content="no-referrer">\n'
                '<meta name="color-scheme" content="light dark">\n'
                "<title>Sessions</title>\n<style>%s</style>\n</head>\n<body>\n"
                '<header>\n<h1>Sessions</h1>\n<p class="lead">%s</p>\n'
                '<p>A date opens the report. <span id="how" hidden>Tick two sessions to compare '
                "them.</span></p>\n</header>\n<main>\n",
                content_policy(style, script, frames="'self' file:"),
                Markup(style),
                told,
            ),
            body,
            Markup('<section id="pair" hidden aria-live="polite"></section>\n</main>\n'),
            markup("%s%s</script>\n", Markup(_OPENING), _pack(entries)),
            markup("<script>%s</script>\n</body>\n</html>\n", Markup(script)),
        ]
    )


def read_entries(text: str) -> tuple[SessionEntry, ...] | None:
    """The sessions that a page was made of, as far as they can be read; None where it is no page of
    ours.
    """
    found = _KNOWN.search(text)
    return None if found is None else tuple(_unpack(found[1]))


def _pack(entries: Sequence[SessionEntry]) -> str:
    lines = "\n".join(json_line(to_json(entry)) for entry in entries)
    packed = gzip.compress(lines.encode("utf-8", "backslashreplace"), mtime=0)
    return base64.b64encode(packed).decode()


def _unpack(block: str) -> Iterator[SessionEntry]:
    fits = compile_check(schema_of(SessionEntry))
    try:
        with gzip.open(BytesIO(base64.b64decode(block))) as file:
            for line in file.read(_MOST).splitlines():
                row: CheckedJson = parse_json(line)
                if fits(row):
                    yield from_json(SessionEntry, row)
    except _DAMAGED:
        return


def _table(entries: Sequence[SessionEntry]) -> Markup:
    heads = join_markup(
        markup(
            '<th scope="col"%s data-key="%s">%s</th>',
            Markup(' class="n"') if is_number else "",
            key,
            title,
        )
        for key, title, is_number in _COLUMNS
    )
    return markup(
        '<div class="wide" role="region" aria-label="All sessions" tabindex="0">'
        '<table id="sessions">\n<thead><tr><td class="pick" hidden></td>%s</tr></thead><tbody>\n'
        "%s</tbody></table></div>\n",
        heads,
        join_markup(map(_row, entries)),
    )


def _row(entry: SessionEntry) -> Markup:
    date = _date(entry.created_at)
    commit = shorten(entry.commit or "", 40)[:7] or figures.ABSENT
    if entry.pull_request is not None:
        commit = f"{commit}, #{entry.pull_request}"
    numbers = (
        (entry.cases, f"{entry.cases:,}"),
        (entry.failed, figures.ABSENT if entry.failed is None else f"{entry.failed:,}"),
        (entry.success_rate, figures.value(entry.success_rate, "share")),
        (entry.cost_usd, figures.value(entry.cost_usd, "USD")),
        (entry.duration_s, _duration(entry.duration_s)),
    )
    return markup(
        '<tr data-folder="%s"><td class="pick" hidden></td><th scope="row" data-value="%s">%s</th>'
        '<td class="%s"><span aria-hidden="true">%s</span> %s</td><td>%s</td>%s'
        "<td><code>%s</code></td></tr>\n",
        entry.folder,
        one_line(entry.created_at, 40),
        markup('<a href="%s/%s">%s</a>', entry.folder, PAGE, date) if entry.has_page else date,
        entry.outcome,
        _SIGNS.get(entry.outcome, "?"),
        entry.outcome.replace("_", " "),
        one_line(", ".join(entry.suites), 120),
        join_markup(
            markup('<td class="n" data-value="%s">%s</td>', "" if n is None else f"{n:.9g}", shown)
            for n, shown in numbers
        ),
        commit,
    )


def _date(created_at: str) -> str:
    """`2026-11-21 03:17:09`."""
    return one_line(created_at[:19].replace("T", " "), 20)


def _duration(seconds: float) -> str:
    """`41 s`, `12 min 05 s`, `3 h 07 min`."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 9.95 or not seconds else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes:02} min"
