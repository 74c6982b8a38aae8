"""Whether a running suite needs more trials: what a look decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gate.analysis import family_of
from gate.plugins import Array
from gate.records import Comparison, GateRule, MetricSpec, Mode, Policy, RegressionRules
from gate.verdict.comparing import compare_all
from gate.verdict.gating import asked_gates, at_level, limits, rule_of, sharing
from gate.verdict.looking import line, position
from gate.verdict.standing import Standing, SuiteData, stand

SETTLED = "every blocking metric is settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """`suites` need more trials; when there are none, `why` the verdict stands. `rows`: what this
    look saw.
    """

    suites: frozenset[str] = frozenset()
    why: str = ""
    rows: tuple[Comparison, ...] = ()


def undecided(
    suites: Sequence[SuiteData],
    *,
    gates: Sequence[GateRule],
    regression: RegressionRules,
    policy: Policy,
    mode: Mode,
    elsewhere: frozenset[str] = frozenset(),
) -> Undecided:
    """What `decide` would still leave open; its arguments. A certain failure ends the run."""
    del policy, elsewhere  # they decide what follows from a verdict, not whether it stands
    standings = [stand(data, max_removed=regression.max_removed) for data in suites]
    compared = compare_all(standings, gates, regression)
    blocking = [row for row in compared if row.level == "block"]
    worse = next((row for row in blocking if row.status == "regression"), None)
    if worse is not None:
        return Undecided(why=f"`{worse.metric}` of {worse.suite} got worse", rows=compared)
    wanted = {row.suite for row in blocking if not row.settled}
    asked = asked_gates(standings, gates)
    for one, gate in asked:
        if not (limits(gate) and gate.level == "block") or one.data.complete:
            continue
        found = _gate(one, gate, regression, mode, sharing(asked))
        if found == "broken":
            why = f"the gate on `{gate.metric}` of {one.data.name} is broken"
            return Undecided(why=why, rows=compared)
        if found == "open":
            wanted.add(one.data.name)
    wanted.update(_unjudged(standings, {row.suite for row in blocking}))
    why = "" if wanted else SETTLED
    return Undecided(suites=frozenset(wanted), why=why, rows=compared)


def _unjudged(standings: Sequence[Standing], compared: set[str]) -> Iterator[str]:
    """Suites that nothing compares: all planned trials are wanted for their numbers."""
    for one in standings:
        if one.data.name not in compared and not one.data.complete:
            yield one.data.name


# -------------------------------------------------------------------------------------------- gates


def _gate(
    one: Standing, gate: GateRule, regression: RegressionRules, mode: Mode, share: int
) -> str:
    """open, broken or settled. Bounds that are looked at again and again spend alpha as the
    comparisons do; a suite's mean wants an answer to each of its cases.
    """
    rule = rule_of(gate, mode)
    spec = one.current.specs.get(gate.metric)
    if spec is None or gate.metric in one.data.accepted:
        return "settled"
    if gate.min == spec.high or gate.max == spec.low or rule == "point":
        return _certain(one, gate, spec)
    if one.data.made < one.data.chosen:
        return "open"
    level = line(regression.alpha / share, regression.power, position(one.data, one.pairing)).harm
    if at_level(one, gate, "convicted", level).status == "fail":
        return "broken"
    found = at_level(one, gate, rule, level)
    return "settled" if found.status == "pass" and found.proved else "open"


def _certain(one: Standing, gate: GateRule, spec: MetricSpec) -> str:
    """What the planned trials that are left cannot change, whatever they come to."""
    if spec.low is None or spec.high is None:
        return "open"
    values = one.current.column(spec.column)
    rounds = max(values.shape[1], -(-one.data.planned // max(1, one.data.chosen)))
    family, cases = family_of(spec), one.data.chosen
    ends = [family.reduce(_filled(values, cases, rounds, x)) for x in (spec.low, spec.high)]
    below = [gate.min is not None and end < gate.min for end in ends]
    above = [gate.max is not None and end > gate.max for end in ends]
    if all(below) or all(above):
        return "broken"
    return "open" if any(below + above) else "settled"


def _filled(values: Array, cases: int, rounds: int, value: float) -> Array:
    whole = np.full((max(cases, len(values)), rounds), np.nan)
    whole[: len(values), : values.shape[1]] = values
    return np.where(np.isnan(whole), value, whole)
