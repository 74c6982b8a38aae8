"""Whether a running suite needs more trials: what a look decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gate.records import Comparison, GateRule, RegressionRules
from gate.verdict.comparability import Standing, stand
from gate.verdict.comparisons import compare_all
from gate.verdict.gates import (
    certain_state,
    count_sharing,
    is_at_end,
    is_by_value,
    is_in_doubt,
    judge_at_level,
    pair_gates,
)
from gate.verdict.interim_looks import find_boundary, find_position
from gate.verdict.suite_data import SuiteData

SETTLED = "every blocking metric is settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookResult:
    """`suites` need more trials; when there are none, `why` the verdict stands. `rows`: what this
    look saw.
    """

    suites: frozenset[str] = frozenset()
    why: str = ""
    rows: tuple[Comparison, ...] = ()
    over: bool = False  # whatever more trials would say


def look_at_suites(
    suites: Sequence[SuiteData],
    *,
    gates: Sequence[GateRule],
    regression: RegressionRules,
) -> LookResult:
    """The suites that need more trials, from what there is so far; a certain failure ends the run.
    `gates`: the top-level ones.
    """
    standings = [stand(data, max_removed=regression.max_removed) for data in suites]
    compared = compare_all(standings, gates, regression, ended=False)
    blocking = [row for row in compared if row.level == "block"]
    worse = next((row for row in blocking if row.status == "regression"), None)
    if worse is not None:
        why = f"`{worse.metric}` of {worse.suite} got worse"
        return LookResult(why=why, rows=compared, over=True)
    wanted = {row.suite for row in blocking if not row.settled}
    pairs = pair_gates(standings, gates)
    for standing, gate in pairs:
        if not (gate.has_limit and gate.level == "block") or standing.data.at_cap:
            continue
        state = _gate_state(standing, gate, regression, count_sharing(pairs))
        if state == "broken":
            why = f"the gate on `{gate.metric}` of {standing.data.name} is broken"
            return LookResult(why=why, rows=compared, over=True)
        if state == "open":
            wanted.add(standing.data.name)
    wanted.update(_uncompared_suites(standings, {row.suite for row in blocking}))
    out = {standing.data.name: standing.error for standing in standings if standing.data.outage}
    if wanted and wanted <= out.keys():  # more calls would end alike
        return LookResult(why=out[min(wanted)], rows=compared, over=True)
    why = "" if wanted else SETTLED
    return LookResult(suites=frozenset(wanted), why=why, rows=compared)


def _uncompared_suites(standings: Sequence[Standing], compared: set[str]) -> Iterator[str]:
    """Suites that nothing compares: all planned trials are wanted for their numbers. What a part of
    the cases says about how many were removed or changed is not the last word.
    """
    for standing in standings:
        counted = bool(standing.not_comparable) and not standing.data.compared.not_comparable
        if counted and not standing.data.all_asked:
            yield standing.data.name
        if standing.data.name not in compared and not standing.data.complete:
            yield standing.data.name


# -------------------------------------------------------------------------------------------- gates


def _gate_state(standing: Standing, gate: GateRule, regression: RegressionRules, share: int) -> str:
    """open, broken or settled. Bounds that are looked at again and again spend alpha as the
    comparisons do; a suite's mean wants an answer to each of its cases.
    """
    rule, complete = gate.effective_rule, standing.data.complete
    spec = standing.current.specs.get(gate.metric)
    if (
        spec is None
        or standing.data.accepts_all
        or gate.metric in standing.data.accepted
        or standing.judge_outage(spec)
    ):
        return "settled"
    decides = is_by_value(gate, rule, spec)
    if complete and (not decides or is_at_end(gate, spec)):
        return "settled"
    if decides and (state := certain_state(standing, gate, spec)) != "open":
        return state
    if not standing.data.all_asked or is_at_end(gate, spec):
        return "open"
    level = find_boundary(
        regression.alpha / share, regression.power, find_position(standing.data, standing.pairing)
    ).harm
    if judge_at_level(standing, gate, "convicted", level).status == "fail":
        return "broken"
    if complete:
        return "open" if is_in_doubt(standing, gate, level) else "settled"
    kept = judge_at_level(standing, gate, "proven" if decides else rule, level)
    return "settled" if kept.status == "pass" and kept.proved else "open"
