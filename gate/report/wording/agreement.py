"""What `gate review agreement` says: one page, for a terminal and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gate.records import Agreement, Measure
from gate.records.labels import Checked
from gate.report.wording.blocks import Block, Grid, Heading, markdown_of, text_of
from gate.text import figures
from gate.text.spans import Line, code, join, prose, say, strong

HEAD = ("Metric", "labels", "kappa", "people alone", "with the judge", "judge − people")


def as_text(found: Checked, *, width: int) -> str:
    """For a terminal of `width` columns."""
    return text_of(_blocks(found), width=width)


def as_markdown(found: Checked) -> str:
    return markdown_of(_blocks(found))


def _blocks(found: Checked) -> Iterator[Block]:
    suites = dict.fromkeys((*(one.suite for one in found.agreements), *found.advisory))
    for suite in suites:
        yield from _suite(suite, [one for one in found.agreements if one.suite == suite], found)
    if found.agreements:
        yield _how_to_read()
    else:
        yield say("No label in {} is about a judge as it is now.", code(found.file))
    for note in found.notes:
        yield say("Note: {}", prose(note))
    yield from _left_out(found)


def _suite(name: str, rows: Sequence[Agreement], found: Checked) -> Iterator[Block]:
    yield Heading(line=say("{}: does the judge agree with people?", name))
    if rows:
        most = max(rows, key=lambda one: one.labels)
        yield say(
            "{} on {} of {}, by {}.",
            figures.count(sum(one.labels for one in rows), "label"),
            figures.count(most.answers, "answer"),
            figures.count(most.cases, "case"),
            figures.join_words(most.reviewers, most=5),
        )
        yield Grid(head=HEAD, rows=tuple(_row(one) for one in rows))
    yield from _bias(rows)
    for one in rows:
        yield from _confusion(one)
    yield from _gating(name, rows, found)


def _bias(rows: Sequence[Agreement]) -> Iterator[Line]:
    for one in rows:
        low, high = one.bias.low, one.bias.high
        if one.bias.value is not None and low is not None and high is not None:
            word = "more" if low > 0 else "less" if high < 0 else ""
            if word:
                size = figures.value(abs(one.bias.value), "")
                yield say("The judge gives {} {} than people on {}.", size, word, code(one.metric))
    corrected = [one.metric for one in rows if one.bias.value is not None]
    if corrected:
        yield say("{} shows {} corrected by these labels.", code("gate run"), _names(corrected))
    for one in rows:
        if one.bias.value is None:
            yield say("{}: nothing is corrected ({}).", code(one.metric), one.bias.reason)


def _confusion(one: Agreement) -> Iterator[Line]:
    if one.confusion is not None and one.pass_limit is not None:
        both, people, judge, neither = (f"{number:,}" for number in one.confusion)
        yield say(
            "{} passes at {}: {} by both, {} by people only, {} by the judge only, {} by neither.",
            *(code(one.metric), figures.limit(one.pass_limit, ""), both, people, judge, neither),
        )


def _gating(suite: str, rows: Sequence[Agreement], found: Checked) -> Iterator[Line]:
    if found.least is None:
        if rows:
            yield say("All may gate: {} is not set.", code("judge.min_agreement"))
        return
    advisory = found.advisory.get(suite, {})
    least = figures.limit(found.least, "")
    may = [one.metric for one in rows if one.metric not in advisory]
    if may:
        yield say("May gate, since kappa is surely at least {}: {}.", least, _names(may))
    by_metric = {one.metric: one for one in rows}
    alike: dict[Line, list[str]] = {}
    for metric, why in advisory.items():
        one = by_metric.get(metric)
        told = prose(why.removeprefix("does not gate: "))
        if one is not None:
            told = say("kappa is not surely at least {}{}", least, _what_it_takes(one, found.least))
        alike.setdefault(told, []).append(metric)
    for told, metrics in alike.items():
        verb = "does not gate" if len(metrics) == 1 else "do not gate"
        yield say("{} {}: {}.", _names(metrics), strong(verb), told)


def _what_it_takes(one: Agreement, least: float) -> str:
    """The interval shrinks with the root of the cases, if the others are like these."""
    kappa = one.kappa
    if kappa.value is None or kappa.low is None:
        return f" ({kappa.reason})"
    if kappa.value <= least:
        return ", and more labels alone will not change that; improve the rubric or the judge"
    cases = math.ceil(one.cases * ((kappa.value - kappa.low) / (kappa.value - least)) ** 2)
    return f"; about {figures.count(cases, 'rated case')} like these would show it"


def _names(metrics: Sequence[str]) -> Line:
    return join(", ", ((code(name),) for name in metrics))


def _row(one: Agreement) -> tuple[Line, ...]:
    return (
        (code(one.metric),),
        say(f"{one.labels:,}"),
        say(_measure(one.kappa)),
        say(_measure(one.alpha_people)),
        say(_measure(one.alpha_all)),
        say(_measure(one.bias, sign=True)),
    )


def _how_to_read() -> Line:
    return say(
        "1 is full agreement, 0 no more than chance, in brackets the 95 % interval. kappa: of the "
        "judge and the median of people, quadratically weighted. People alone, with the judge: "
        "Krippendorff's alpha, ordinal."
    )


def _left_out(found: Checked) -> Iterator[Block]:
    for problems, what in ((found.wrong, "wrong"), (found.stale, "out of date")):
        if problems:
            lines = len({problem.partition(": ")[0] for problem in problems})  # file:line
            rows = "1 row is" if lines == 1 else f"{lines:,} rows are"
            yield say(f"{rows} {what} and left out:")
            for problem in problems[:20]:
                yield say("- {}", prose(problem))
            if len(problems) > 20:
                yield say(f"- and {len(problems) - 20:,} more (--format json has all)")


def _measure(found: Measure, *, sign: bool = False) -> str:
    """`0.74 (0.58 … 0.86)`."""
    if found.value is None or found.low is None or found.high is None:
        return figures.ABSENT
    if sign:
        value = figures.change(found.value, "", relative=False)
        return f"{value} {figures.interval(found.low, found.high, '', relative=False)}"
    return f"{figures.value(found.value, '')} ({figures.span(found.low, found.high, '')})"
