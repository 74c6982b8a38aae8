"""The dimensions of a suite: what was measured in each, the most telling metrics first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.records import Estimate, GateResult, Report, limits_by_metric
from gate.text import figures
from gate.text.shortening import shorten
from gate.text.spans import Line, code, join, say

_OF_ALL = ("operational", "agent")  # dimensions that every run has
_MOST = 4  # metrics of a dimension

RANGE = "lowest and highest case"
NAME, TITLE = 48, 20  # characters of a metric and of a dimension

# Dimension -> its main metrics: each the first that begins with one of the words.
_MAIN: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("recall@5 recall@", "ndcg@5 ndcg@", "mrr", "precision@5 precision@"),
    "correctness": (
        "fact_accuracy",
        "judge_score",
        "factual_correctness",
        "exact_match",
        "semantic",
    ),
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
    limits: Mapping[str, tuple[float, ...]]  # metric -> what its figures are compared with

    @property
    def title(self) -> str:
        return shorten(self.name.replace("_", " "), TITLE)


def dimensions(report: Report) -> tuple[Dimension, ...]:
    """The measured dimensions of each suite, in the order of `_MAIN`, then the user's own."""
    return tuple(found for suite in report.suites for found in _suite_dimensions(report, suite))


def _suite_dimensions(report: Report, suite: str) -> Iterator[Dimension]:
    by_name: dict[str, list[Estimate]] = {name: [] for name in _MAIN}
    for name, estimate in sorted(report.suites[suite].metrics.items()):
        if estimate.value is not None:
            by_name.setdefault(name.partition(".")[0], []).append(estimate)
    judging = _judging(report, suite)
    trials = report.suites[suite].trials
    judged = limits_by_metric(report.gates).items()
    limits = {metric: held for (one, metric), held in judged if one == suite}
    for name, estimates in by_name.items():
        if estimates:
            ranked = tuple(_rank_estimates(name, estimates, judging))
            yield Dimension(suite=suite, name=name, metrics=ranked, trials=trials, limits=limits)


def by_dimension(report: Report, suite: str) -> dict[str, list[str]]:
    """Dimension -> names of the metrics that a table of all shows, those only compared too."""
    compared = {c.metric for c in report.comparisons if c.suite == suite}
    names = sorted({*report.suites[suite].metrics, *compared} - {*list_missing(report, suite)})
    grouped: dict[str, list[str]] = {name: [] for name in _MAIN}
    for name in names:
        grouped.setdefault(name.partition(".")[0], []).append(name)
    return {name: metrics for name, metrics in grouped.items() if metrics}


def in_short(dimension: Dimension, *, most: int) -> Line:
    """`recall@5` 0.93 (cases 0.00 to 1.00) · `mrr` 0.88, 540 trials · 12 more."""
    return join(" · ", pieces(dimension, most=most))


def pieces(dimension: Dimension, *, most: int) -> tuple[Line, ...]:
    """The parts of `in_short`. Trials are told where a metric has not all; once, if all have as
    many.
    """
    shown = dimension.metrics[:most]
    trials = {estimate.n for estimate in shown}
    alike = len(trials) == 1
    parts = [
        _estimate_in_words(
            estimate, 0 if alike else dimension.trials, dimension.limits.get(estimate.metric, ())
        )
        for estimate in shown
    ]
    more = len(dimension.metrics) - len(parts)
    of = next(iter(trials)) if alike else dimension.trials
    rest = [f"{more} more"] * bool(more) + [f"over {_trials(of)}"] * (of < dimension.trials)
    return (*parts, *map(say, rest))


def extremes(estimate: Estimate | None, limits: Sequence[float] = ()) -> tuple[str, str]:
    """The lowest and the highest mean of a case, as figures; empty where there are none."""
    if estimate is None or estimate.min is None or estimate.max is None:
        return "", ""
    low, high = (
        figures.value(end, estimate.unit, limits=limits) for end in (estimate.min, estimate.max)
    )
    return low, high


def interval_of(estimate: Estimate | None, gate: GateResult | None) -> str:
    """`0.89 … 0.94`: the only interval of this value that a report shows. Where the value has a
    limit it is the one that the limit was judged by.
    """
    if estimate is None:
        return ""
    if gate is None:
        return figures.span(estimate.ci_low, estimate.ci_high, estimate.unit)
    source = gate if by_its_limit(estimate, gate) else estimate
    return figures.span(source.ci_low, source.ci_high, estimate.unit, limits=gate.limits)


def by_its_limit(estimate: Estimate | None, gate: GateResult | None) -> bool:
    """Whether the limit judged this very value, and left an interval of it."""
    if estimate is None or gate is None or gate.value is None or estimate.value is None:
        return False
    bounded = gate.ci_low is not None or gate.ci_high is not None
    return bounded and abs(gate.value - estimate.value) <= figures.NOISE


def whose_intervals(report: Report, suite: str) -> str:
    """What the tables of all metrics say of their intervals; empty where none is special."""
    estimates = report.suites[suite].metrics
    judged = (gate for gate in report.gates if gate.suite == suite)
    shown = any(by_its_limit(estimates.get(gate.metric), gate) for gate in judged)
    return (
        "For a metric with a limit, the interval is the one used to judge the limit."
        if shown
        else ""
    )


def _estimate_in_words(estimate: Estimate, trials: int, limits: Sequence[float]) -> Line:
    name = estimate.metric.partition(".")[2] or estimate.metric
    shown = figures.value(estimate.value, estimate.unit, limits=limits)
    span = f" (cases {_cases(estimate, limits)})" if _holds(estimate) else ""
    number = f", {_trials(estimate.n)}" if estimate.n < trials else ""
    return say(f"{{}} {shown}{span}{number}", code(shorten(name, NAME)))


def _holds(estimate: Estimate) -> bool:
    """A p95 or a worst call lies beyond what cases come to on average: their means would look like
    an interval of it that it is not in.
    """
    low, value, high = estimate.min, estimate.value, estimate.max
    if low is None or value is None or high is None:
        return False
    return low - figures.NOISE <= value <= high + figures.NOISE


def _cases(estimate: Estimate, limits: Sequence[float]) -> str:
    return figures.span_in_words(estimate.min, estimate.max, estimate.unit, limits=limits)


def _trials(number: int) -> str:
    return figures.count(number, "trial")


def _judging(report: Report, suite: str) -> set[str]:
    """Metrics with a limit, and those that block."""
    gated = {gate.metric for gate in report.gates if gate.suite == suite}
    return gated | {c.metric for c in report.comparisons if c.suite == suite and c.level == "block"}


def _rank_estimates(name: str, estimates: list[Estimate], judging: set[str]) -> Iterator[Estimate]:
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


def first_figures(report: Report) -> tuple[Line, ...]:
    """The metrics of the tool itself, a line a dimension, where no table judges anything."""
    if report.comparisons or report.gates or not report.imported:
        return ()
    several = len(report.suites) > 1
    lines = []
    for dimension in dimensions(report):
        if dimension.name not in _OF_ALL:
            name = f"{dimension.suite}, {dimension.title}" if several else dimension.title
            lines.append(say("{}: {}", name, in_short(dimension, most=_MOST)))
    return tuple(lines)


def list_missing(report: Report, suite: str) -> dict[str, str]:
    """Metric -> why this run has no value of it; not where the baseline has one."""
    before = {c.metric for c in report.comparisons if c.suite == suite and c.baseline is not None}
    return {
        name: estimate.reason
        for name, estimate in sorted(report.suites[suite].metrics.items())
        if estimate.value is None and estimate.reason and name not in before
    }


def describe_missing(report: Report, suite: str) -> Line:
    """`Not measured: a, b (why); c (why).`; nothing when all are."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in list_missing(report, suite).items():
        by_reason.setdefault(reason, []).append(name)
    parts = [
        say("{} ({})", join(", ", [(code(name),) for name in names]), reason)
        for reason, names in by_reason.items()
    ]
    return say("Not measured: {}.", join("; ", parts)) if parts else ()
