"""Charts of report.html as SVG: what changed and how surely, limits on their scales.
Each row of a chart is text beside a drawing, so it can be read on a telephone and by a screen
reader; places are shares of the width, so no drawing is stretched.
"""

from __future__ import annotations

from collections.abc import Sequence

from gate.records import Comparison, GateResult, Report
from gate.report.session_page.sentence_markup import NONE
from gate.report.wording.checks import Check, list_checks
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup

_HEIGHT = 24  # pixels of a row
TALL = 56  # of bars
_NARROWEST = 5.0  # percent to either side: noise must not fill the width
_EDGE = 0.04  # of a scale, free at either end

Range = tuple[float, float]


def draw_charts(report: Report) -> Markup:
    """Nothing where nothing is compared, limited or known of earlier runs."""
    checks = list_checks(report)
    parts = [_forest(report, checks), _scales(report, checks)]
    return join_markup(part for part in parts if part)


def _forest(report: Report, checks: Sequence[Check]) -> Markup:
    """A row for each comparison: its change and interval, better to the right."""
    compared = [
        (check, shift)
        for check in checks
        if check.comparison and (shift := _shift(check.comparison)) is not None
    ]
    if not compared:
        return NONE
    open_rows = [row for row in compared if row[0].blocking]
    ends = [abs(end) for _, shift in open_rows or compared for end in shift[:3]]
    reach = min(100.0, max(_NARROWEST, *ends))
    several = len(report.suites) > 1
    families: dict[str, list[tuple[Check, Shift]]] = {}
    for check, shift in compared:
        if not check.blocking:
            family = check.metric.partition(".")[0].replace("_", " ")
            families.setdefault(family, []).append((check, shift))
    folded = [
        markup(
            '<details class="more"><summary>%s: %s that %s not block</summary>%s</details>\n',
            one_line(family, 60),
            figures.count(len(rows), "metric"),
            "does" if len(rows) == 1 else "do",
            join_markup(_forest_row(*row, reach=reach, several=several) for row in rows),
        )
        for family, rows in families.items()
    ]
    return markup(
        '<section class="chart"><h2>What changed</h2>\n<p class="soft">Change since the baseline '
        "with its interval, in points or percent; better to the right. The band is what is "
        "allowed. The scale ends at ±%s.</p>\n%s%s</section>\n",
        f"{reach:.0f}",
        join_markup(_forest_row(*row, reach=reach, several=several) for row in open_rows),
        join_markup(folded),
    )


Shift = tuple[float, float, float, float]  # low, change, high, tolerance: percent, better is more


def _shift(row: Comparison) -> Shift | None:
    if row.delta is None or row.ci_low is None or row.ci_high is None:
        return None
    unit = 100.0
    if not row.relative and row.unit != "share":
        if not row.baseline:
            return None
        unit = 100.0 / abs(row.baseline)
    ends = [row.ci_low * unit, row.delta * unit, row.ci_high * unit]
    low, change, high = ends if row.direction == "higher" else [-end for end in reversed(ends)]
    return low, change, high, row.tolerance * unit


def _forest_row(check: Check, shift: Shift, *, reach: float, several: bool) -> Markup:
    low, change, high, tolerance = (50 + 50 * max(-1.0, min(1.0, x / reach)) for x in shift)
    return _row(
        check,
        [
            markup(
                '<rect class="band" x="%s%%" y="2" width="%s%%" height="20"/>',
                write_place(100 - tolerance),
                write_place(tolerance - 50),
            ),
            Markup('<line class="zero" x1="50%" y1="0" x2="50%" y2="24"/>'),
            *_interval(low, high, check.sign),
            _dot(change, check.sign),
        ],
        figures.tight(check.change),
        several=several,
    )


def _scales(report: Report, checks: Sequence[Check]) -> Markup:
    """A row for each limit: what it allows, the target, the baseline and this run."""
    rows = [
        _scale(check, check.gate, several=len(report.suites) > 1)
        for check in checks
        if check.gate is not None and check.gate.value is not None and check.gate.limits
    ]
    if not rows:
        return NONE
    return markup(
        '<section class="chart"><h2>Limits</h2>\n<p class="soft">The band is what the limit '
        "allows, the dot this run with its interval, the ring the baseline, the dashed line the "
        "target.</p>\n%s</section>\n",
        join_markup(rows),
    )


def _scale(check: Check, gate: GateResult, *, several: bool) -> Markup:
    before = check.comparison.baseline if check.comparison else None
    known = [gate.value, before, gate.ci_low, gate.ci_high, *gate.limits]
    ends = _ends([value for value in known if value is not None])
    low = place_on(gate.min, ends) if gate.min is not None else 0.0
    high = place_on(gate.max, ends) if gate.max is not None else 100.0
    parts: list[Markup] = []
    if gate.min is not None or gate.max is not None:
        parts.append(
            markup(
                '<rect class="band" x="%s%%" y="2" width="%s%%" height="20"/>',
                write_place(low),
                write_place(high - low),
            )
        )
    if gate.target is not None:
        at = write_place(place_on(gate.target, ends))
        parts.append(markup('<line class="target" x1="%s%%" y1="0" x2="%s%%" y2="24"/>', at, at))
    if gate.ci_low is not None and gate.ci_high is not None:
        parts += _interval(place_on(gate.ci_low, ends), place_on(gate.ci_high, ends), check.sign)
    if before is not None:
        parts.append(
            markup(
                '<circle class="ring" cx="%s%%" cy="12" r="5"/>',
                write_place(place_on(before, ends)),
            )
        )
    if gate.value is not None:
        parts.append(_dot(place_on(gate.value, ends), check.sign))
    was = f"{check.baseline} → " if before is not None else ""
    return _row(check, parts, f"{was}{check.current}, {check.limit}", several=several)


def _row(check: Check, parts: Sequence[Markup], said: str, *, several: bool) -> Markup:
    return markup(
        '<div class="line"><span>%s</span>%s<span>%s %s</span></div>\n',
        _name(check.suite, check.metric, several=several),
        draw_svg(parts, _HEIGHT),
        check.icon,
        said,
    )


def _name(suite: str, metric: str, *, several: bool) -> Markup:
    where = f"{one_line(suite, 40)}: " if several else ""
    return markup("%s<code>%s</code>", where, one_line(metric, 80))


def draw_svg(parts: Sequence[Markup], height: int) -> Markup:
    """Told in words beside it, so nothing is read out of it."""
    template = '<svg aria-hidden="true" focusable="false" width="100%%" height="%s">%s</svg>'
    return markup(template, height, join_markup(parts))


def _interval(low: float, high: float, sign: str) -> list[Markup]:
    line = '<line class="range %s" x1="%s%%" y1="%s" x2="%s%%" y2="%s"/>'
    ends = [(low, 12, high, 12), (low, 8, low, 16), (high, 8, high, 16)]
    return [
        markup(line, sign, write_place(x1), y1, write_place(x2), y2)
        for x1, y1, x2, y2 in ends
    ]  # fmt: skip


def _dot(at: float, sign: str) -> Markup:
    return markup('<circle class="dot %s" cx="%s%%" cy="12" r="5"/>', sign, write_place(at))


def _ends(values: Sequence[float]) -> Range:
    low, high = min(values), max(values)
    room = (high - low or abs(high) or 1.0) * _EDGE
    return low - room, high + room


def place_on(value: float, ends: Range) -> float:
    low, high = ends
    return 100 * (value - low) / (high - low)


def write_place(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")
