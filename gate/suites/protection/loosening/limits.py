"""Compares gates, levels and tolerances as they apply to each metric of each suite. A gate that
moves from the top of gate.yml into its suites is not looser, and a missing tolerance is the default
of the metric's scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gate.errors import Place
from gate.records import (
    Config,
    GateRule,
    Level,
    MetricSpec,
    RegressionRules,
    Rule,
    Suite,
    Tolerance,
)
from gate.suites.config.levels import level_of, tolerance_of
from gate.text import figures

# How strict a rule is (docs/semantics.md 3).
_STRICTNESS: dict[Rule | None, int] = {"convicted": 0, "point": 1, None: 1, "proven": 2}
_ROUNDING = 1.0 + 1e-9
SHOWN = 5  # metrics named in one sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looser:
    """`words` has `{}` where the metric stands; what is alike becomes one sentence."""

    words: str
    metric: str
    suite: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """What one gate.yml says about the metrics of a suite."""

    gates: Mapping[str, GateRule]
    regression: RegressionRules

    def level(self, spec: MetricSpec) -> Level:
        return level_of(spec, tuple(self.gates.values()), self.regression)

    def tolerance(self, spec: MetricSpec) -> Tolerance:
        return tolerance_of(spec, self.regression)

    def place(self, metric: str) -> Place | None:
        """The place where gate.yml speaks of the metric's comparison."""
        rule = self.regression.metrics.get(metric)
        if rule is not None:
            return rule.place
        return self.regression.place if self.regression.tolerance else None


def limits(
    head: Config, base: Config, measured: Mapping[str, Mapping[str, MetricSpec]]
) -> Iterator[str]:
    """A sentence for each loosened limit. `measured`: suite of the base -> metric -> its
    MetricSpec.
    """
    head_suites = {suite.name: suite for suite in head.suites}
    kept = [suite for suite in base.suites if suite.name in head_suites]
    looser: list[_Looser] = []
    for suite in kept:
        specs = measured.get(suite.name, {})
        now, before = _side(head_suites[suite.name], head, specs), _side(suite, base, specs)
        gates = list(_gates(suite.name, now.gates, before.gates))
        looser += gates
        gated_metrics = {gate.metric for gate in gates}
        looser += _comparisons(suite.name, now, before, specs, gated_metrics)
    everywhere = {name for specs in measured.values() for name in specs}
    looser += _gates("", _strays(head, everywhere), _strays(base, everywhere))
    yield from _sentences(looser, {suite.name for suite in kept})


def _side(suite: Suite, config: Config, specs: Mapping[str, MetricSpec]) -> _Side:
    shared = {gate.metric: gate for gate in config.gates if gate.metric in specs}
    suite_gates = {gate.metric: gate for gate in suite.gates}
    return _Side(gates={**shared, **suite_gates}, regression=config.regression)


def _strays(config: Config, measured: set[str]) -> dict[str, GateRule]:
    """Top-level gates that no suite can measure: they are missing, which blocks too."""
    return {gate.metric: gate for gate in config.gates if gate.metric not in measured}


def _gates(
    suite: str, head: Mapping[str, GateRule], base: Mapping[str, GateRule]
) -> Iterator[_Looser]:
    """One of level warn blocks nothing, whatever becomes of it."""
    for metric, before in base.items():
        now = head.get(metric)
        if before.level == "warn":
            continue
        if now is None:
            yield _Looser(words="removes the gate on {}", metric=metric, suite=suite)
            continue
        for words in _easier(now, before):
            yield _Looser(words=words, metric=metric, suite=suite, place=now.place)


def _easier(now: GateRule, before: GateRule) -> Iterator[str]:
    if before.min is not None and (now.min is None or now.min < before.min):
        yield f"{{}} min {_limit(before.min)} -> {_limit(now.min)}"
    if before.max is not None and (now.max is None or now.max > before.max):
        yield f"{{}} max {_limit(before.max)} -> {_limit(now.max)}"
    if now.level == "warn":
        yield "{} level block -> warn"
    if _STRICTNESS[now.rule] < _STRICTNESS[before.rule]:
        yield f"{{}} rule {before.rule or 'default'} -> {now.rule or 'default'}"


def _comparisons(
    suite: str, now: _Side, before: _Side, specs: Mapping[str, MetricSpec], gated_metrics: set[str]
) -> Iterator[_Looser]:
    """`gated_metrics`: metrics whose gate says enough about a lower level."""
    for metric, spec in specs.items():
        named = metric in before.regression.metrics
        if before.level(spec) == "block" and now.level(spec) == "warn":
            if metric not in gated_metrics:
                yield _weaker(suite, metric, now, before)
            continue
        was, allowed = before.tolerance(spec), now.tolerance(spec)
        if (named or before.level(spec) == "block") and _wider(allowed, was, spec):
            words = f"tolerance of {{}} {amount(was)} -> {amount(allowed)}"
            yield _Looser(words=words, metric=metric, suite=suite, place=now.place(metric))


def _weaker(suite: str, metric: str, now: _Side, before: _Side) -> _Looser:
    gone = metric in before.regression.metrics and metric not in now.regression.metrics
    words = "removes {} from `regression.metrics`" if gone else "{} level block -> warn"
    gate = now.gates.get(metric)
    place = now.place(metric) or (gate.place if gate else None)
    return _Looser(words=words, metric=metric, suite=suite, place=None if gone else place)


def _wider(now: Tolerance, before: Tolerance, spec: MetricSpec) -> bool:
    """Whether more harm may be allowed. An absolute and a relative one are compared over all values
    that the metric can have: what may be wider somewhere counts as wider.
    """
    if now.relative == before.relative:
        return now.value > before.value * _ROUNDING
    return _extent(now, spec)[1] > _extent(before, spec)[0] * _ROUNDING


def _extent(tolerance: Tolerance, spec: MetricSpec) -> tuple[float, float]:
    """The least and the most harm that it allows, in the metric's unit."""
    if not tolerance.relative or not tolerance.value:
        return tolerance.value, tolerance.value
    low = -math.inf if spec.low is None else spec.low
    high = math.inf if spec.high is None else spec.high
    least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
    return tolerance.value * least, tolerance.value * max(abs(low), abs(high))


def _sentences(looser: Sequence[_Looser], suites: set[str]) -> Iterator[str]:
    """One sentence for all that is alike; suites are named where it is not so in all of them."""
    where: dict[tuple[str, str, Place | None], set[str]] = {}
    for change in looser:
        where.setdefault((change.words, change.metric, change.place), set()).add(change.suite)
    alike: dict[tuple[str, tuple[str, ...], Place | None], list[str]] = {}
    for (words, metric, place), names in where.items():
        suite_names = () if names in (suites, {""}) else tuple(sorted(names))
        alike.setdefault((words, suite_names, place), []).append(metric)
    for (words, suite_names, place), metrics in alike.items():
        of = f" of {_format_names(suite_names)}" if suite_names else ""
        for group in [metrics] if words.startswith("tolerance") else [[m] for m in metrics]:
            yield words.format(_format_names(group) + of) + at(place)


def _format_names(names: Sequence[str]) -> str:
    some = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return some if len(names) <= SHOWN else f"{some} and {len(names) - SHOWN} more"


def _limit(amount: float | None) -> str:
    """As the tables of a report have it."""
    return "none" if amount is None else figures.limit(amount, "")


def at(place: Place | None) -> str:
    """` in gate.yml:31`, with the file in backticks; empty if the line is unknown."""
    return f" in `{place.file}:{place.line}`" if place is not None and place.line else ""


def number(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def amount(tolerance: Tolerance) -> str:
    """The tolerance as gate.yml has it: `0.02`, `5%`."""
    return f"{100 * tolerance.value:g}%" if tolerance.relative else f"{tolerance.value:g}"
