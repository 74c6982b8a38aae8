"""Finds the lines of findings in the repository, so that a host can show them there."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gate.errors import Place
from gate.records import CaseChange, CaseChanges, Config, GateResult, Report
from gate.run.setup import Setup
from gate.suites.cases.dataset import CasePlaces


def locate_findings(report: Report, setup: Setup) -> Report:
    """The report with the places of its gates and newly failing cases in the working tree, as paths
    from the repository's root; no place for what is not there.
    """
    folder = _folder(setup)
    if folder is None:
        return replace(report, gates=tuple(replace(gate, place=None) for gate in report.gates))
    rules = _rules(setup.place.rules.own)
    cases = {plan.name: plan.places for plan in setup.plans}
    return replace(
        report,
        gates=tuple(_gate(gate, rules, folder) for gate in report.gates),
        cases=_cases(report.cases, cases, folder),
    )


def _folder(setup: Setup) -> str | None:
    """The folder of gate.yml below the repository's top; None when it is not below it."""
    top = setup.place.where.opened.git.top if setup.place.where.opened.git else Path.cwd()
    try:
        return setup.place.rules.root.resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        return None


def _rules(config: Config) -> dict[tuple[str, str], Place]:
    """Place of each rule by suite and metric; the suite is empty for those of all suites."""
    places = {("", rule.metric): rule.place for rule in config.gates}
    for suite in config.suites:
        places |= {(suite.name, rule.metric): rule.place for rule in suite.gates}
    return places


def _gate(gate: GateResult, rules: Mapping[tuple[str, str], Place], folder: str) -> GateResult:
    place = rules.get((gate.suite, gate.metric)) or rules.get(("", gate.metric))
    return replace(gate, place=_below(folder, place))


def _cases(cases: CaseChanges, places: Mapping[str, CasePlaces], folder: str) -> CaseChanges:
    def placed(change: CaseChange) -> CaseChange:
        place = places.get(change.suite, CasePlaces()).find(change.case_id)
        return replace(change, place=_below(folder, place))

    return replace(cases, newly_failing=tuple(map(placed, cases.newly_failing)))


def _below(folder: str, place: Place | None) -> Place | None:
    """None for what no repository has: bundled and absolute files, and those further up."""
    if place is None or place.line is None or place.file.startswith("bundled "):
        return None
    file = posixpath.normpath(posixpath.join(folder, place.file.replace("\\", "/")))
    if file.startswith(("/", "../")):
        return None
    return Place(file, place.line, place.key)
