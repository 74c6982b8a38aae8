"""Comparisons with the baseline: which metrics are asked, and the evidence on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from gate.analysis.estimates import family_of, finite
from gate.analysis.missing_answers import PairedValues, pessimistic
from gate.analysis.pairing import Pairing
from gate.records import Comparison, Evidence, GateRule, MetricSpec, RegressionRules, Status
from gate.suites.config.levels import level_of, tolerance_of
from gate.verdict.comparability import ACCEPTED, Standing
from gate.verdict.interim_looks import find_position
from gate.verdict.levels import applicable_gates
from gate.verdict.significance import ComparisonStatus, MetricPair, judge_comparisons


def compare_all(
    standings: Sequence[Standing],
    gates: Sequence[GateRule],
    rules: RegressionRules,
    *,
    ended: bool = True,
) -> tuple[Comparison, ...]:
    """Every metric of every suite that has a baseline and could be asked. Only of a run that has
    `ended` the intervals are corrected for how it ended: that takes time.
    """
    pairs = [pair for standing in standings for pair in _pairs(standing, gates, rules)]
    tested = [pair for pair in pairs if pair.tested]
    seen = [_evidence(pair, _as_measured(pair)) for pair in tested]
    # What was made to go on after its end did not end by its looks alone.
    alone = not any(map(_decides, chain(gates, *(one.data.gates for one in standings))))
    alone = alone and not any(one.data.meta.continued for one in standings)
    judged = judge_comparisons(tested, seen, pairs, rules, ended=ended, alone=alone)
    at_worst = judged
    if any(pair.standing.lacks(pair.spec) for pair in tested):
        worst = _at_worst(tested, seen)
        at_worst = judge_comparisons(tested, worst, pairs, rules, ended=ended, alone=alone)
    by_pair = {id(pair): _settle(a, b) for pair, a, b in zip(tested, judged, at_worst, strict=True)}
    return tuple(
        by_pair[id(pair)] if pair.tested else _untested_row(pair, rules.alpha) for pair in pairs
    )


def _decides(gate: GateRule) -> bool:
    """Whether the run may go on for its sake, or end because of it."""
    return gate.has_limit and gate.level == "block"


# ------------------------------------------------------------------------------------ what is there


def _pairs(
    standing: Standing, gates: Sequence[GateRule], rules: RegressionRules
) -> list[MetricPair]:
    if standing.pairing is None or standing.error:
        return []
    rules_of_suite = applicable_gates(standing.data, gates)
    specs = {**standing.pairing.baseline.specs, **standing.pairing.current.specs}
    where = find_position(standing.data, standing.pairing)
    pairs = []
    for spec in specs.values():
        fixed, why = _untestable(standing, standing.pairing, spec)
        if fixed == "missing" and why == "":
            continue  # neither run has it
        tested = fixed is None
        if spec.name in standing.data.accepted and not standing.judge_outage(spec):
            fixed, why = "accepted", ACCEPTED
        pairs.append(
            MetricPair(
                standing=standing,
                pairing=standing.pairing,
                spec=spec,
                tolerance=tolerance_of(spec, rules),
                level="warn"
                if spec.name in standing.data.advisory
                else level_of(spec, rules_of_suite, rules),
                fixed=fixed,
                tested=tested,
                why="; ".join(filter(None, (why, standing.data.advisory.get(spec.name)))),
                where=where,
            )
        )
    return pairs


def _untestable(
    standing: Standing, pairing: Pairing, spec: MetricSpec
) -> tuple[Status | None, str]:
    """The status of a metric that cannot be compared, and why."""
    before, after = pairing.whole, standing.current
    if out := standing.judge_outage(spec):
        return "missing", out
    was, now = (bool((~np.isnan(t.values(spec))).any()) for t in (before, after))
    if not was and not now:
        return "missing", ""
    if standing.not_comparable:
        return "not_comparable", standing.not_comparable
    for column in spec.columns:
        if column in standing.data.edited:
            return "not_comparable", standing.data.edited[column]
    if not was or np.isnan(family_of(spec).reduce(before.values(spec))):
        return "new", "the baseline has no value"
    if not now and not standing.data.complete:
        return "inconclusive", "no value yet: some planned trials were not run"
    if not now:
        return "missing", "the baseline has a value, but this run measured none"
    if before.grader_hashes(spec) != after.grader_hashes(spec):
        return "not_comparable", "its grader differs from the baseline's"
    return None, ""


def _as_measured(pair: MetricPair) -> PairedValues:
    spec, pairing = pair.spec, pair.pairing
    return PairedValues(
        baseline=pairing.baseline.values(spec), current=pairing.current.values(spec)
    )


def _evidence(pair: MetricPair, arms: PairedValues) -> Evidence:
    return family_of(pair.spec).compare(
        arms.baseline,
        arms.current,
        pair.spec,
        tolerance=pair.tolerance,
        drift=pair.standing.data.compared.drift.get(pair.spec.name, 0.0),
    )


def _at_worst(pairs: Sequence[MetricPair], seen: Sequence[Evidence]) -> list[Evidence]:
    """The evidence as if what is missing had failed now and passed in the baseline, of metrics that
    miss too much.
    """
    worst = []
    for pair, evidence in zip(pairs, seen, strict=True):
        if lacking := pair.standing.lacks(pair.spec):
            arms = (pair.pairing.baseline, pair.pairing.current)
            evidence = _evidence(pair, pessimistic(*arms, pair.spec, lacking))
        worst.append(evidence)
    return worst


# ---------------------------------------------------------------------------------------- rows


def _settle(judged: ComparisonStatus, at_worst: ComparisonStatus) -> Comparison:
    """What is reported: inconclusive where the missing calls could turn the verdict."""
    pair = judged.pair
    missing = pair.standing.lacks(pair.spec)
    accepted = judged.status == "accepted"
    hides = missing and not accepted and pair.standing.hides(pair.spec)
    if hides or (missing and _weight(judged.status) != _weight(at_worst.status)):
        reason = f"{missing.could} change this verdict"
        reason = f"{missing.reason}, and their scores are unknown" if hides else reason
        lost = pair.standing.lacks_too_much(pair.spec)
        row = _comparison(judged, "missing" if lost else "inconclusive", reason)
        row = replace(row, wants="answers")
    else:
        why = judged.evidence.too_few or judged.unseen or (ACCEPTED if accepted else pair.why)
        row = _comparison(judged, judged.status, why)
    return replace(row, settled=judged.settled and at_worst.settled)


def _weight(status: Status) -> str:
    """What a status does to the outcome."""
    if status in ("suspected", "inconclusive"):
        return "inconclusive"
    return "fail" if status == "regression" else "pass"


def _comparison(judged: ComparisonStatus, status: Status, reason: str) -> Comparison:
    e, pair = judged.evidence, judged.pair
    return Comparison(
        suite=pair.standing.data.name,
        metric=pair.spec.name,
        baseline=finite(e.baseline),
        current=finite(e.current),
        delta=finite(e.delta),
        ci_low=finite(judged.interval.low),
        ci_high=finite(judged.interval.high),
        unbiased=None if judged.interval.estimate is None else finite(judged.interval.estimate),
        confidence=1.0 - 2.0 * judged.alpha,
        p_value=e.p_worse,
        p_better=e.p_better,
        p_adjusted=judged.worse,
        tolerance=judged.allowed,
        relative=judged.relative,
        status=status,
        n_paired=e.n_paired,
        mde=finite(judged.mde),
        level=pair.level,
        method=e.method,
        direction=pair.spec.direction,
        unit=pair.spec.unit,
        reason=reason,
    )


def _untested_row(pair: MetricPair, alpha: float) -> Comparison:
    """A row for what was not tested, with the two numbers where they exist."""
    family = family_of(pair.spec)
    standing = pair.standing
    was = finite(family.reduce(pair.pairing.whole.values(pair.spec)))
    now = finite(family.reduce(standing.current.values(pair.spec)))
    return Comparison(
        suite=standing.data.name,
        metric=pair.spec.name,
        baseline=was,
        current=now,
        delta=None,
        ci_low=None,
        ci_high=None,
        confidence=1.0 - 2.0 * alpha,
        p_value=None,
        p_better=None,
        p_adjusted=None,
        tolerance=pair.tolerance.value,
        relative=pair.tolerance.relative,
        status=pair.fixed or "missing",
        n_paired=pair.pairing.n_paired,
        mde=None,
        level=pair.level,
        method="",
        direction=pair.spec.direction,
        unit=pair.spec.unit,
        reason=pair.why,
        settled=not pair.is_awaited,
    )
