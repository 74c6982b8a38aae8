"""Metrics that gate.yml calls by an old name, under the name that they have now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from gate.analysis.metric_names import current_names, describe_renamed
from gate.errors import Place
from gate.records import Config, GateRule, MetricRule
from gate.suites.config.lint import ConfigFindings, Measured

Rule = TypeVar("Rule", GateRule, MetricRule)
_Places = dict[tuple[str, str], list[Place]]  # old name, new name -> where the old one stands


def use_current_names(config: Config, measured: Measured, findings: ConfigFindings) -> Config:
    """The config without old names, but where a suite measures a metric that is still called so.
    Each old name is added to what was `findings` once, with all its places.
    """
    everywhere = frozenset(name for specs in measured.values() for name in specs)
    places: _Places = {}
    gates = tuple(_rename(config.gates, everywhere, places, findings))
    suites = tuple(
        replace(
            suite,
            gates=tuple(_rename(suite.gates, measured.get(suite.name, ()), places, findings)),
        )
        for suite in config.suites
    )
    rules = _rename([*config.regression.metrics.values()], everywhere, places, findings)
    regression = replace(config.regression, metrics={rule.metric: rule for rule in rules})
    for (old, new), written in places.items():
        lines = dict.fromkeys(place.line for place in written[1:] if place.line)
        more = f" (also in line {', '.join(map(str, lines))})" if lines else ""
        findings.warn(written[0], f"{describe_renamed(old, new)}{more} - write the new name")
    return replace(config, gates=gates, suites=suites, regression=regression)


def _rename(
    rules: Sequence[Rule], measured: Collection[str], places: _Places, findings: ConfigFindings
) -> Iterator[Rule]:
    """The rules of one place; old names are added to `places`, a metric with two rules to what was
    `findings`.
    """
    for rule in rules:
        for name in current_names(rule.metric, measured):
            if name != rule.metric:
                places.setdefault((rule.metric, name), []).append(rule.place)
            if name != rule.metric and any(other.metric == name for other in rules):
                said = f"{describe_renamed(rule.metric, name)}, which stands here too"
                findings.wrong(rule.place, f"{said} - remove one of the two")
            else:
                yield replace(rule, metric=name)
