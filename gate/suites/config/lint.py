"""Finds rules that cannot work: unknown metrics, limits that no data can meet or break, an expired
quarantine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import date

from gate.agents.pricing import price_of, strip_date
from gate.agents.under_test import NOBODY
from gate.analysis.metric_names import CONTRACT, IMPORTED, OF_IMPORTS, RENAMED
from gate.errors import Place, Problem
from gate.records import Config, GateRule, MetricSpec, Suite, Tolerance
from gate.text.suggestions import did_you_mean

Measured = Mapping[str, Mapping[str, MetricSpec]]  # suite name -> metric name -> what it is


@dataclass(slots=True)
class ConfigFindings:
    """The result of a check: problems stop the command, warnings are shown."""

    problems: list[Problem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    complete: bool = True

    def wrong(self, place: Place, message: str) -> None:
        self.problems.append(Problem(place, message))

    def warn(self, place: Place, message: str) -> None:
        self.warnings.append(str(Problem(place, message)))

    def add(self, other: ConfigFindings) -> None:
        self.problems += other.problems
        self.warnings += other.warnings


def lint(
    config: Config, measured: Measured, today: date, *, complete: bool = True
) -> ConfigFindings:
    """Checks everything that needs no dataset. `complete`: every suite could be read; otherwise
    only misspelled metrics are reported, because a broken suite may have the others.
    """
    findings = ConfigFindings(complete=complete)
    everywhere = {name: spec for specs in measured.values() for name, spec in specs.items()}
    for gate in config.gates:
        _check_metric_name(gate.metric, gate.place, everywhere, findings)
        _limits(gate, everywhere.get(gate.metric), findings)
    for suite in config.suites:
        specs = measured.get(suite.name, {})
        for gate in suite.gates:
            _check_metric_name(gate.metric, gate.place, specs, findings)
            _limits(gate, specs.get(gate.metric), findings)
    for rule in config.regression.metrics.values():
        _check_metric_name(rule.metric, rule.place, everywhere, findings)
        _tolerance(rule.tolerance, everywhere.get(rule.metric), rule.place, findings)
    if config.regression.tolerance is not None:  # of the run: what is absolute is for shares
        _reach(config.regression.tolerance, 1.0, config.regression.place, findings)
    _rounds(config, findings)
    _prices(config, findings)
    _quarantine(config, today, findings)
    _control(config, findings)
    _retriever(config, findings)
    return findings


def lint_with_data(
    config: Config, measured: Measured, cases: Mapping[str, Set[str]]
) -> ConfigFindings:
    """Checks what needs the datasets. `cases`: the case ids of each suite that was read."""
    findings = ConfigFindings()
    ids = frozenset().union(*cases.values())
    for entry in config.quarantine:
        if entry.case not in ids and len(cases) == len(config.suites):
            hint = did_you_mean(entry.case, sorted(ids))
            findings.wrong(entry.place, f"no dataset has a case '{entry.case}'{hint}")
    for suite in config.suites:
        if suite.name in cases:
            _at_this_size(suite, config, measured[suite.name], len(cases[suite.name]), findings)
    return findings


def _check_metric_name(
    metric: str, place: Place, specs: Mapping[str, MetricSpec], findings: ConfigFindings
) -> None:
    if metric in specs:
        return
    metric = re.sub(r"(?<=\w)\[.+\]\Z", "", metric)  # of one group: a repository, a site
    number = re.search(r"(?<=[@^])[1-9]\d*$", metric)
    contract = {re.sub(r"(?<=[@^])k$", number[0] if number else "k", name) for name in CONTRACT}
    if metric in contract or metric.partition(".")[0] in IMPORTED:
        rounds = number and metric.startswith("agent.pass")
        who = f"no suite makes {number[0]} rounds" if number and rounds else "no suite measures it"
        where = "in `gate run` " if metric.partition(".")[0] in OF_IMPORTS else ""
        who = "no suite measures it; only imported results have it" if where else who
        if findings.complete:  # else a suite that is wrong may measure it
            findings.warn(place, f"{who}, so {where}it is missing (policy.missing_metric decides)")
        return
    names = sorted({*specs, *contract})
    same = [
        RENAMED[name].name if name in RENAMED else name
        for name in sorted({*names, *RENAMED})
        if name.split(".", 1)[-1] == metric.split(".", 1)[-1]
    ]
    hint = f" - did you mean '{same[0]}'?" if same else did_you_mean(metric, names)
    if findings.complete or hint:
        findings.wrong(place, f"unknown metric{hint}")


def _limits(gate: GateRule, spec: MetricSpec | None, findings: ConfigFindings) -> None:
    """A gate that no data can meet, or none can break, is no gate."""
    if gate.min is None and gate.max is None and gate.target is None:
        findings.wrong(gate.place, "needs min, max or target")
    if gate.min is not None and gate.max is not None and gate.min > gate.max:
        findings.wrong(
            gate.place, f"min {gate.min:g} is above max {gate.max:g}: nothing can meet both"
        )
    if gate.target is not None:
        _target(gate, gate.target, spec, findings)
    if spec is None:
        return
    low, high = spec.low, spec.high
    if gate.min is not None:
        if high is not None and gate.min > high:
            findings.wrong(
                gate.place,
                f"min {gate.min:g} can never be met: it is at most {high:g} - lower the limit",
            )
        elif low is not None and gate.min <= low:
            findings.wrong(
                gate.place, f"min {gate.min:g} can never be broken: it is at least {low:g}"
            )
        elif _is_turned(gate, spec):
            findings.warn(gate.place, "lower is better here - did you mean max?")
    if gate.max is not None:
        if low is not None and gate.max < low:
            findings.wrong(
                gate.place,
                f"max {gate.max:g} can never be met: it is at least {low:g} - raise the limit",
            )
        elif high is not None and gate.max >= high:
            findings.wrong(
                gate.place, f"max {gate.max:g} can never be broken: it is at most {high:g}"
            )
        elif spec.direction == "higher" and gate.min is None:
            findings.warn(gate.place, "higher is better here - did you mean min?")


def _target(
    gate: GateRule, target: float, spec: MetricSpec | None, findings: ConfigFindings
) -> None:
    """A target is beyond the limit, on the better side, and can be reached."""
    if gate.min is not None and target < gate.min:
        findings.wrong(gate.place, f"target {target:g} is below min {gate.min:g}")
    if gate.max is not None and target > gate.max:
        findings.wrong(gate.place, f"target {target:g} is above max {gate.max:g}")
    if spec is None:
        return
    if spec.high is not None and target > spec.high:
        findings.wrong(
            gate.place,
            f"target {target:g} can never be met: it is at most {spec.high:g} - lower it",
        )
    if spec.low is not None and target < spec.low:
        findings.wrong(
            gate.place,
            f"target {target:g} can never be met: it is at least {spec.low:g} - raise it",
        )


def _tolerance(
    allowed: Tolerance | None, spec: MetricSpec | None, place: Place, findings: ConfigFindings
) -> None:
    if allowed is None or spec is None or spec.low is None or spec.high is None:
        return
    _reach(allowed, 1.0 if allowed.relative else spec.high - spec.low, place, findings)


def _reach(allowed: Tolerance, reach: float, place: Place, findings: ConfigFindings) -> None:
    """Refuses a tolerance as large as the largest drop there is."""
    if allowed.value < reach:
        return
    said = f"{100 * allowed.value:g}%" if allowed.relative else f"{allowed.value:g}"
    points = "" if allowed.relative or reach != 1.0 else _as_share(allowed.value)
    findings.wrong(place, f"tolerance {said} can never be exceeded: no drop is that large{points}")


def _as_share(points: float) -> str:
    said = "1 point" if points == 1.0 else f"{points:g} points"
    return f" - for {said} write {points / 100:g}" if points < 100.0 else ""


def _rounds(config: Config, findings: ConfigFindings) -> None:
    most = config.regression.max_rounds
    for suite in config.suites:
        if most is not None and suite.rounds > most:
            message = f"{suite.rounds} rounds of '{suite.name}' are more than regression.max_rounds"
            findings.wrong(suite.place, f"{message}, {most} - raise it, or ask for fewer rounds")


def _prices(config: Config, findings: ConfigFindings) -> None:
    """A price under a name that nearly is the agent's model. One that is merely absent may be told
    by the agent itself, or be that of the model that answers under another name.
    """
    model = config.agent.options.get("model")
    if isinstance(model, str) and config.pricing and price_of(model, config.pricing) is None:
        hint = did_you_mean(strip_date(model), list(config.pricing))
        if "did you mean" in hint:
            findings.warn(config.agent.place, f"pricing has no price for the model '{model}'{hint}")


def _quarantine(config: Config, today: date, findings: ConfigFindings) -> None:
    seen: set[str] = set()
    for entry in config.quarantine:
        try:
            until = date.fromisoformat(entry.until)
        except ValueError:
            findings.wrong(entry.place, f"until: {entry.until} is not a date (YYYY-MM-DD)")
            continue
        if until < today:
            message = f"the quarantine of '{entry.case}' ended on {until} - fix the case"
            findings.wrong(entry.place, f"{message} or agree on a new date with {entry.owner}")
        if entry.case in seen:
            findings.wrong(entry.place, f"'{entry.case}' is in quarantine twice")
        seen.add(entry.case)


def _control(config: Config, findings: ConfigFindings) -> None:
    if config.control_agent is not None and config.regression.control != "fresh":
        message = "is never called - set regression.control: fresh, or remove it"
        findings.warn(config.control_agent.place, message)


def _retriever(config: Config, findings: ConfigFindings) -> None:
    """A retriever alone gives empty answers: only what it retrieved can be judged."""
    if config.agent.name != NOBODY:
        return
    if config.retriever is None:
        findings.wrong(
            config.agent.place, "type none calls no agent - configure a retriever or an agent"
        )
        return
    for suite in config.suites:
        for grader in suite.graders:
            if grader.name != "retrieval" and ":" not in grader.name:
                message = (
                    f"'{grader.name}' would grade empty answers: a retriever alone returns no "
                    "answer"
                )
                findings.warn(grader.place, f"{message} - configure an agent, or remove the grader")


def _at_this_size(
    suite: Suite,
    config: Config,
    specs: Mapping[str, MetricSpec],
    cases: int,
    findings: ConfigFindings,
) -> None:
    gated_metrics = {gate.metric for gate in suite.gates}
    gates = [*suite.gates, *(gate for gate in config.gates if gate.metric not in gated_metrics)]
    blocking = sum(gate.level == "block" for gate in gates) or 1
    trials = cases * suite.rounds
    for gate in gates:
        spec = specs.get(gate.metric)
        if spec is not None and spec.unit == "share" and (spec.low, spec.high) == (0.0, 1.0):
            _reachable(gate, suite, trials, config.regression.alpha / blocking, findings)
        if spec is not None and spec.family == "quantile" and not _is_turned(gate, spec):
            _enough_calls(gate, suite.name, spec.options.get("q", 0.95), trials, findings)


def _is_turned(gate: GateRule, spec: MetricSpec) -> bool:
    """Whether `min` stands where a larger value is worse."""
    return spec.direction == "lower" and gate.min is not None and gate.max is None


def _enough_calls(
    gate: GateRule, suite: str, q: float, trials: int, findings: ConfigFindings
) -> None:
    """A quantile needs 5 / (1 - q) calls: 100 for a p95."""
    needed = math.ceil(5 / (1 - q) - 1e-9)
    if trials < needed:
        message = (
            f"{trials} trials of '{suite}' are too few to reach a verdict: {needed} are needed"
        )
        findings.warn(gate.place, f"{message} - add cases or rounds")


def _reachable(
    gate: GateRule, suite: Suite, trials: int, alpha: float, findings: ConfigFindings
) -> None:
    """Whether even all-wrong or all-right answers clear the limit with this many trials. How far
    from its end the bound of 0 or n out of n lies: 1 - alpha^(1/n) where cases run once
    (Clopper and Pearson), else z^2 / n.
    """
    size = f"{trials} trials of '{suite.name}'"
    slack = 1 - alpha ** (1 / trials)
    if suite.rounds > 1:
        from statistics import NormalDist

        slack = min(1.0, NormalDist().inv_cdf(1 - alpha) ** 2 / trials)
    for name, limit in (("min", gate.min), ("max", gate.max)):
        if limit is None or limit in (0.0, 1.0):
            continue
        distance = limit if name == "min" else 1 - limit  # from the limit to the worst value
        if gate.rule == "convicted" and distance <= slack:
            message = f"{name} {limit:g} can never be shown to be broken with {size}"
            findings.warn(gate.place, f"{message} - add cases or rounds, or remove rule")
        if gate.rule == "proven" and 1 - distance <= slack:
            message = f"{name} {limit:g} cannot be proven with {size}"
            findings.warn(gate.place, f"{message} - add cases or rounds, or remove rule")
