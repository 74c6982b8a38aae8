"""The dimensions of a suite: what was measured in each, the most telling metrics first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gate.records import Estimate, Report
from gate.report.wording.missing_metrics import unmeasured
from gate.text import figures
from gate.text.escaping import one_line
from gate.text.spans import Line, code, join, say

_ZEROS = re.compile(r"\.0+(?!\d)")  # 1.00 of an end of a scale

RANGE = "lowest … highest case"
NAME, TITLE = 48, 20  # characters of a metric and of a dimension

# Dimension -> its main metrics: each the first that begins with one of the words.
_MAIN: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("recall@5 recall@", "ndcg@5 ndcg@", "mrr", "precision@5 precision@"),
    "correctness": ("fact_accuracy", "judge_score", "correctness", "exact_match", "semantic"),
    "response_quality": ("structure", "readability", "conciseness", "coherence", "format"),
    "operational": ("p95_latency", "error_rate", "hallucination_rate", "estimated_cost"),
    "agent": (
        *("success_rate", "tool_call_accuracy", "trajectory_efficiency", "trajectory_score"),
        *("safety_violations", "cost_per_task", "avg_steps"),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """What a suite measured of one kind."""

    suite: str
    name: str
    metrics: tuple[Estimate, ...]  # with a value; those that judge the suite before the main ones
    trials: int  # of the suite

    @property
    def title(self) -> str:
        return one_line(self.name.replace("_", " "), TITLE)


def dimensions(report: Report) -> tuple[Dimension, ...]:
    """Of each suite those of which something was measured, in the order of `_MAIN`, the user's own
    after them.
    """
    return tuple(found for suite in report.suites for found in _measured(report, suite))


def _measured(report: Report, suite: str) -> Iterator[Dimension]:
    found: dict[str, list[Estimate]] = {name: [] for name in _MAIN}
    for name, estimate in sorted(report.suites[suite].metrics.items()):
        if estimate.value is not None:
            found.setdefault(name.partition(".")[0], []).append(estimate)
    judging = _judging(report, suite)
    trials = report.suites[suite].trials
    for name, estimates in found.items():
        if estimates:
            ranked = tuple(_ranked(name, estimates, judging))
            yield Dimension(suite=suite, name=name, metrics=ranked, trials=trials)


def by_dimension(report: Report, suite: str) -> dict[str, list[str]]:
    """Dimension -> names of the metrics that a table of all shows, those only compared too."""
    compared = {c.metric for c in report.comparisons if c.suite == suite}
    names = sorted({*report.suites[suite].metrics, *compared} - {*unmeasured(report, suite)})
    found: dict[str, list[str]] = {name: [] for name in _MAIN}
    for name in names:
        found.setdefault(name.partition(".")[0], []).append(name)
    return {name: metrics for name, metrics in found.items() if metrics}


def in_short(found: Dimension, *, most: int) -> Line:
    """`recall@5` 0.93 (0 … 1) · `mrr` 0.88 (0.10 … 1), 540 trials · 12 more."""
    return join(" · ", pieces(found, most=most))


def pieces(found: Dimension, *, most: int) -> tuple[Line, ...]:
    """The parts of `in_short`. Trials are told where a metric has not all; once, if all have as
    many.
    """
    shown = found.metrics[:most]
    known = {estimate.n for estimate in shown}
    alike = len(known) == 1
    told = [_told(estimate, 0 if alike else found.trials) for estimate in shown]
    more = len(found.metrics) - len(told)
    of = next(iter(known)) if alike else found.trials
    rest = [f"{more} more"] * bool(more) + [f"over {_trials(of)}"] * (of < found.trials)
    return (*told, *map(say, rest))


def extremes(estimate: Estimate | None, *, digits: int = 2) -> tuple[str, str]:
    """The lowest and the highest value of a case, as figures; empty where there are none."""
    if estimate is None or estimate.min is None or estimate.max is None:
        return "", ""
    low, high = (
        figures.value(end, estimate.unit, digits=digits) for end in (estimate.min, estimate.max)
    )
    return low, high


def _told(estimate: Estimate, trials: int) -> Line:
    name = estimate.metric.partition(".")[2] or estimate.metric
    shown = figures.tight(figures.value(estimate.value, estimate.unit))
    low, high = (_ZEROS.sub("", end) for end in extremes(estimate))
    number, _, unit = low.partition(" ")
    low = number if unit and high.endswith(f" {unit}") else low
    span = f" {figures.tight(f'{low} … {high}').join('()')}" if low else ""
    known = f", {_trials(estimate.n)}" if estimate.n < trials else ""
    return say(f"{{}} {shown}{span}{known}", code(one_line(name, NAME)))


def _trials(number: int) -> str:
    return figures.tight(figures.count(number, "trial"))


def _judging(report: Report, suite: str) -> set[str]:
    """Metrics with a limit, and those that block."""
    gated = {gate.metric for gate in report.gates if gate.suite == suite}
    return gated | {c.metric for c in report.comparisons if c.suite == suite and c.level == "block"}


def _ranked(name: str, estimates: list[Estimate], judging: set[str]) -> Iterator[Estimate]:
    left = {estimate.metric.partition(".")[2]: estimate for estimate in estimates}
    mains = [start for starts in _MAIN.get(name, ()) for start in starts.split()]

    def place(short: str) -> int:
        return next((n for n, start in enumerate(mains) if short.startswith(start)), len(mains))

    for short in sorted((s for s, e in left.items() if e.metric in judging), key=place):
        yield left.pop(short)
    for starts in _MAIN.get(name, ()):
        fitting = (short for start in starts.split() for short in left if short.startswith(start))
        short = next(fitting, "")
        if short:
            yield left.pop(short)
    yield from sorted(left.values(), key=lambda one: "[" in one.metric)  # groups last
