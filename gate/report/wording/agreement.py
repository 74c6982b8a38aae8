"""What `gate review agreement` says: one page, for a terminal and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gate.records import Agreement, Measure
from gate.records.labels import Checked
from gate.report.wording.blocks import Block, Grid, Heading
from gate.text import figures
from gate.text.spans import Line, code, join, prose, say, strong

HEAD = ("Metric", "labels", "kappa", "people alone", "with the judge", "judge − people")


def blocks(checked: Checked) -> Iterator[Block]:
    """The page, for a terminal or as Markdown."""
    suites = dict.fromkeys((*(one.suite for one in checked.agreements), *checked.advisory))
    for suite in suites:
        yield from _suite(suite, [one for one in checked.agreements if one.suite == suite], checked)
    if checked.agreements:
        yield _how_to_read()
    else:
        yield say("No label in {} matches the current judge.", code(checked.file))
    for note in checked.notes:
        yield say("Note: {}", prose(note))
    yield from _skipped_blocks(checked)


def _suite(name: str, rows: Sequence[Agreement], checked: Checked) -> Iterator[Block]:
    yield Heading(line=say("{}: does the judge agree with people?", name))
    if rows:
        most = max(rows, key=lambda row: row.labels)
        yield say(
            "{} on {} of {}, by {}.",
            figures.count(sum(row.labels for row in rows), "label"),
            figures.count(most.answers, "answer"),
            figures.count(most.cases, "case"),
            figures.join_words(most.reviewers, most=5),
        )
        yield Grid(head=HEAD, rows=tuple(_row(row) for row in rows))
    yield from _bias(rows)
    for row in rows:
        yield from _confusion(row)
    yield from _gating(name, rows, checked)


def _bias(rows: Sequence[Agreement]) -> Iterator[Line]:
    for row in rows:
        low, high = row.bias.low, row.bias.high
        if row.bias.value is not None and low is not None and high is not None:
            word = "more" if low > 0 else "less" if high < 0 else ""
            if word:
                size = figures.value(abs(row.bias.value), "")
                yield say("The judge gives {} {} than people on {}.", size, word, code(row.metric))
    corrected = [row.metric for row in rows if row.bias.value is not None]
    if corrected:
        yield say("{} shows {} corrected by these labels.", code("gate run"), _names(corrected))
    for row in rows:
        if row.bias.value is None:
            yield say("{}: nothing is corrected ({}).", code(row.metric), row.bias.reason)


def _confusion(row: Agreement) -> Iterator[Line]:
    if row.confusion is not None and row.pass_limit is not None:
        both, people, judge, neither = (f"{number:,}" for number in row.confusion)
        yield say(
            "{} passes at {}: {} by both, {} by people only, {} by the judge only, {} by neither.",
            *(code(row.metric), figures.limit(row.pass_limit, ""), both, people, judge, neither),
        )


def _gating(suite: str, rows: Sequence[Agreement], checked: Checked) -> Iterator[Line]:
    if checked.least is None:
        if rows:
            yield say("All may gate: {} is not set.", code("judge.min_agreement"))
        return
    advisory = checked.advisory.get(suite, {})
    least = figures.limit(checked.least, "")
    may = [row.metric for row in rows if row.metric not in advisory]
    if may:
        yield say("May gate: kappa is at least {}: {}.", least, _names(may))
    by_metric = {row.metric: row for row in rows}
    alike: dict[Line, list[str]] = {}
    for metric, why in advisory.items():
        row = by_metric.get(metric)
        reason = prose(why.removeprefix("does not gate: "))
        if row is not None:
            reason = say(
                "kappa is not shown to be at least {}{}", least, _what_it_takes(row, checked.least)
            )
        alike.setdefault(reason, []).append(metric)
    for reason, metrics in alike.items():
        verb = "does not gate" if len(metrics) == 1 else "do not gate"
        yield say("{} {}: {}.", _names(metrics), strong(verb), reason)


def _what_it_takes(row: Agreement, least: float) -> str:
    """The interval shrinks with the root of the cases, if the others are like these."""
    kappa = row.kappa
    if kappa.value is None or kappa.low is None:
        return f" ({kappa.reason})"
    if kappa.value <= least:
        return ", and more labels will not change that; improve the rubric or the judge"
    cases = math.ceil(row.cases * ((kappa.value - kappa.low) / (kappa.value - least)) ** 2)
    return f"; about {figures.count(cases, 'rated case')} like these would show it"


def _names(metrics: Sequence[str]) -> Line:
    return join(", ", ((code(name),) for name in metrics))


def _row(row: Agreement) -> tuple[Line, ...]:
    return (
        (code(row.metric),),
        say(f"{row.labels:,}"),
        say(_measure(row.kappa)),
        say(_measure(row.alpha_people)),
        say(_measure(row.alpha_all)),
        say(_measure(row.bias, sign=True)),
    )


def _how_to_read() -> Line:
    return say(
        "1 means full agreement, 0 no more than chance; the 95 % interval is in brackets. "
        "kappa: of the "
        "judge and the median of people, quadratically weighted. People alone, with the judge: "
        "Krippendorff's alpha, ordinal."
    )


def _skipped_blocks(checked: Checked) -> Iterator[Block]:
    for problems, what in ((checked.wrong, "wrong"), (checked.stale, "out of date")):
        if problems:
            lines = len({problem.partition(": ")[0] for problem in problems})  # file:line
            rows = "1 row is" if lines == 1 else f"{lines:,} rows are"
            yield say(f"{rows} {what} and left out:")
            for problem in problems[:20]:
                yield say("- {}", prose(problem))
            if len(problems) > 20:
                yield say(f"- and {len(problems) - 20:,} more (--format json has all)")


def _measure(measure: Measure, *, sign: bool = False) -> str:
    """`0.74 (0.58 … 0.86)`."""
    if measure.value is None or measure.low is None or measure.high is None:
        return figures.ABSENT
    if sign:
        value = figures.change(measure.value, "", relative=False)
        return f"{value} {figures.interval(measure.low, measure.high, '', relative=False)}"
    return f"{figures.value(measure.value, '')} ({figures.span(measure.low, measure.high, '')})"
