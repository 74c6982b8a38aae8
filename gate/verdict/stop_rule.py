"""Whether a running suite needs more trials: what a look decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.records import Comparison, GateRule, Mode, Policy, RegressionRules
from gate.verdict.comparability import Standing, SuiteData, stand
from gate.verdict.comparisons import compare_all
from gate.verdict.gates import asked_gates, at_end, at_level, by_value, certain, in_doubt, sharing
from gate.verdict.interim_looks import line, position

SETTLED = "every blocking metric is settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided:
    """`suites` need more trials; when there are none, `why` the verdict stands. `rows`: what this
    look saw.
    """

    suites: frozenset[str] = frozenset()
    why: str = ""
    rows: tuple[Comparison, ...] = ()
    over: bool = False  # whatever more trials would say


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
    del policy, mode, elsewhere  # they decide what follows from a verdict, not whether it stands
    standings = [stand(data, max_removed=regression.max_removed) for data in suites]
    compared = compare_all(standings, gates, regression)
    blocking = [row for row in compared if row.level == "block"]
    worse = next((row for row in blocking if row.status == "regression"), None)
    if worse is not None:
        why = f"`{worse.metric}` of {worse.suite} got worse"
        return Undecided(why=why, rows=compared, over=True)
    wanted = {row.suite for row in blocking if not row.settled}
    asked = asked_gates(standings, gates)
    for one, gate in asked:
        if not (gate.has_limit and gate.level == "block") or one.data.at_cap:
            continue
        found = _gate(one, gate, regression, sharing(asked))
        if found == "broken":
            why = f"the gate on `{gate.metric}` of {one.data.name} is broken"
            return Undecided(why=why, rows=compared, over=True)
        if found == "open":
            wanted.add(one.data.name)
    wanted.update(_unjudged(standings, {row.suite for row in blocking}))
    out = {one.data.name: one.error for one in standings if one.data.outage}
    if wanted and wanted <= out.keys():  # more calls would end alike
        return Undecided(why=out[min(wanted)], rows=compared, over=True)
    why = "" if wanted else SETTLED
    return Undecided(suites=frozenset(wanted), why=why, rows=compared)


def _unjudged(standings: Sequence[Standing], compared: set[str]) -> Iterator[str]:
    """Suites that nothing compares: all planned trials are wanted for their numbers. What a part of
    the cases says about how many were removed or changed is not the last word.
    """
    for one in standings:
        counted = bool(one.not_comparable) and not one.data.not_comparable
        if counted and not one.data.all_asked:
            yield one.data.name
        if one.data.name not in compared and not one.data.complete:
            yield one.data.name


# -------------------------------------------------------------------------------------------- gates


def _gate(one: Standing, gate: GateRule, regression: RegressionRules, share: int) -> str:
    """open, broken or settled. Bounds that are looked at again and again spend alpha as the
    comparisons do; a suite's mean wants an answer to each of its cases.
    """
    rule, complete = gate.effective_rule, one.data.complete
    spec = one.current.specs.get(gate.metric)
    if spec is None or one.data.accepts_all or gate.metric in one.data.accepted or one.out(spec):
        return "settled"
    decides = by_value(gate, rule, spec)
    if complete and (not decides or at_end(gate, spec)):
        return "settled"
    if decides and (found := certain(one, gate, spec)) != "open":
        return found
    if not one.data.all_asked or at_end(gate, spec):
        return "open"
    level = line(regression.alpha / share, regression.power, position(one.data, one.pairing)).harm
    if at_level(one, gate, "convicted", level).status == "fail":
        return "broken"
    if complete:
        return "open" if in_doubt(one, gate, level) else "settled"
    kept = at_level(one, gate, "proven" if decides else rule, level)
    return "settled" if kept.status == "pass" and kept.proved else "open"
