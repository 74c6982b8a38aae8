"""How latency and cost spread over the trials, as SVG: the baseline's above this run's."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gate.records import Report, Spread, SpreadOf
from gate.report.session_page.charts import TALL, draw_svg, place_on, write_place
from gate.report.session_page.sentence_markup import NONE
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.html_markup import Markup, join_markup, markup

TICKS = 5  # of an axis: they fit a telephone
_LOW = 20  # pixels of an axis
_TITLES = {"latency_ms": "Time to the whole answer", "cost_usd": "Cost of a trial"}


def draw_spreads(report: Report) -> Markup:
    """Nothing where all trials are alike."""
    several = len(report.suites) > 1
    found = [
        _spread(
            f"{one_line(suite.name, 40)}: {title}" if several else title,
            suite.spreads[column],
            compared=suite.baseline.source != "none",
        )
        for suite in report.suites.values()
        for column, title in _TITLES.items()
        if column in suite.spreads
    ]
    if not found:
        return NONE
    return markup(
        '<section class="chart spread"><h2>How trials spread</h2>\n<p class="soft">The height is '
        "a share of the trials; the line is the median, the dashed one the 95th percentile.</p>\n"
        "%s</section>\n",
        join_markup(found),
    )


def _spread(title: str, spread: Spread, *, compared: bool) -> Markup:
    told = [("baseline", spread.was)] if spread.was else []
    told += [("now", spread.now)]
    tallest = max(max(of.trials) / sum(of.trials) for _, of in told)
    missing = "; the baseline has no such values" * (compared and spread.was is None)
    return markup(
        "<h3>%s</h3>\n%s%s",
        title,
        join_markup(
            markup(
                '<div class="line"><span>%s, %s</span>%s<span>median %s, p95 %s</span></div>\n',
                name,
                figures.count(sum(of.trials), "trial"),
                draw_svg([*_bars(of, tallest, name), *_quantiles(of, spread)], TALL),
                figures.value(of.median, spread.unit),
                figures.value(of.p95, spread.unit),
            )
            for name, of in told
        ),
        markup(
            '<div class="line axis"><span></span>%s<span>%s%s</span></div>\n',
            draw_svg(list(_ticks(spread)), _LOW),
            "logarithmic scale" if spread.ratios else "linear scale",
            missing,
        ),
    )


def _bars(of: SpreadOf, tallest: float, name: str) -> Iterator[Markup]:
    width, whole = 100 / len(of.trials), sum(of.trials)
    for place, trials in enumerate(of.trials):
        if trials:
            height = max(1.0, (TALL - 4) * trials / whole / tallest)
            yield markup(
                '<rect class="bar %s" x="%s%%" y="%s" width="%s%%" height="%s"/>',
                name,
                write_place(place * width),
                write_place(TALL - height),
                write_place(width),
                write_place(height),
            )


def _quantiles(of: SpreadOf, spread: Spread) -> Iterator[Markup]:
    for kind, value in (("median", of.median), ("p95", of.p95)):
        at = write_place(_at_spread(value, spread))
        template = '<line class="%s" x1="%s%%" y1="0" x2="%s%%" y2="%s"/>'
        yield markup(template, kind, at, at, TALL)


def _ticks(spread: Spread) -> Iterator[Markup]:
    for value in scale_ticks(spread.low, spread.high, ratios=spread.ratios):
        at = _at_spread(value, spread)
        yield markup(
            '<line class="tick" x1="%s%%" y1="0" x2="%s%%" y2="4"/>'
            '<text x="%s%%" y="16" text-anchor="%s">%s</text>',
            *(write_place(at), write_place(at), write_place(at)),
            "start" if at < 8 else "end" if at > 92 else "middle",
            figures.limit(value, spread.unit),
        )


def _at_spread(value: float, spread: Spread) -> float:
    if spread.ratios:
        return place_on(math.log(value), (math.log(spread.low), math.log(spread.high)))
    return place_on(value, (spread.low, spread.high))


def scale_ticks(low: float, high: float, *, ratios: bool) -> list[float]:
    """Round numbers from `low` to `high`, at most TICKS of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high))) if ratios else ()
    found: list[float] = []
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [float(f"{step}e{decade}") for decade in decades for step in steps]
        found = [value for value in found if low <= value <= high]
        if found and len(found) <= TICKS:
            return found
    if found:  # more powers of ten than there is room for
        return found[:: math.ceil(len(found) / TICKS)]
    size = math.floor(math.log10(high - low))
    for step in (float(f"{by}e{size + more}") for more in (-1, 0, 1) for by in (1, 2, 5)):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < TICKS:
            return [number * step for number in range(first, last + 1)]
    return []
