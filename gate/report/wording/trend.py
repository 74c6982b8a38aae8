"""How the blocking metrics went from run to run: a line of block characters, no image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.records import Report, limits_by_metric
from gate.text import figures

BARS = "▁▂▃▄▅▆▇█"
UNKNOWN = "·"
FLAT = 0.10  # of the largest value: less up and down does not fill the whole height


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """`bars`: one sign a run, oldest first, this run last."""

    suite: str
    metric: str
    bars: str
    first: str
    last: str
    runs: int  # of the baseline


def trends(report: Report) -> Iterator[Trend]:
    """The course of every metric with at least two known values before this run's."""
    limits = limits_by_metric(report.gates)
    for suite in report.suites.values():
        for metric, past in suite.history.items():
            now = suite.metrics.get(metric)
            if now is None or now.value is None:
                continue
            values = (*past, now.value)
            measured = [value for value in values if value is not None]
            if len(measured) < 3:
                continue
            ends = (measured[0], measured[-1])
            held = limits.get((suite.name, metric), ())
            first, last = (figures.value(end, now.unit, limits=held) for end in ends)
            yield Trend(
                suite=suite.name,
                metric=metric,
                bars=sparkline(values),
                first=first,
                last=last,
                runs=len(past),
            )


def sparkline(values: Sequence[float | None]) -> str:
    """One block character a value."""
    top = len(BARS) - 1
    return "".join(
        UNKNOWN if height is None else BARS[round(top * height)] for height in heights(values)
    )


def heights(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Each value's height from 0 to 1. The scale reaches over the values, and at least over `FLAT`
    of the largest: chance alone must not look like mountains.
    """
    measured = [value for value in values if value is not None]
    low, high = min(measured, default=0.0), max(measured, default=0.0)
    span = max(high - low, FLAT * max(abs(low), abs(high)), 1e-12)
    bottom = (low + high - span) / 2
    return tuple(None if value is None else (value - bottom) / span for value in values)
