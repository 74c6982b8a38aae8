"""Metrics that gate.yml calls by an old name, under the name that they have now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from gate.analysis.metric_names import current_names, describe_renamed
from gate.errors import Place
from gate.records import Config, GateRule, MetricRule
from gate.suites.config.lint import ConfigFindings, Measured


def use_current_names(config: Config, measured: Measured, findings: ConfigFindings) -> Config:
    """The config without old names, but where a suite measures a metric that is still called so.
    Each old name is added to what was `findings` once, with all its places.
    """
    names = _NamesWritten()
    everywhere = frozenset(name for specs in measured.values() for name in specs)
    changed = replace(
        config,
        gates=tuple(names.rename_gates(config.gates, everywhere)),
        suites=tuple(
            replace(one, gates=tuple(names.rename_gates(one.gates, measured.get(one.name, ()))))
            for one in config.suites
        ),
        regression=replace(
            config.regression,
            metrics={
                rule.metric: rule
                for rule in names.rename_rules([*config.regression.metrics.values()], everywhere)
            },
        ),
    )
    names.report(findings)
    return changed


class _NamesWritten:
    """Collects where old names stand."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[Place]] = {}
        self._twice: list[tuple[Place, str]] = []

    def rename_gates(
        self, gates: Sequence[GateRule], measured: Collection[str]
    ) -> Iterator[GateRule]:
        for gate in gates:
            others = [one.metric for one in gates if one is not gate]
            for name in self._find_names(gate.metric, gate.place, measured, others):
                yield replace(gate, metric=name)

    def rename_rules(
        self, rules: Sequence[MetricRule], measured: Collection[str]
    ) -> Iterator[MetricRule]:
        for rule in rules:
            others = [one.metric for one in rules if one is not rule]
            for name in self._find_names(rule.metric, rule.place, measured, others):
                yield replace(rule, metric=name)

    def _find_names(
        self, written: str, place: Place, measured: Collection[str], others: Sequence[str]
    ) -> tuple[str, ...]:
        names = current_names(written, measured)
        for name in names:
            if name != written:
                self._places.setdefault((written, name), []).append(place)
            if name != written and name in others:
                self._twice.append((place, f"{describe_renamed(written, name)}, which stands here"))
        return tuple(name for name in names if name == written or name not in others)

    def report(self, findings: ConfigFindings) -> None:
        for place, message in self._twice:
            findings.wrong(place, f"{message} too - remove one of the two")
        for (old, new), places in self._places.items():
            lines = dict.fromkeys(place.line for place in places[1:] if place.line)
            more = f" (also in line {', '.join(map(str, lines))})" if lines else ""
            findings.warn(places[0], f"{describe_renamed(old, new)}{more} - write the new name")
