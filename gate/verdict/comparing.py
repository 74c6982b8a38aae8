"""Comparisons with the baseline: evidence for each metric, Holm over what blocks, a status each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gate.analysis import MIN_PAIRED, Arms, Pairing, family_of, pessimistic
from gate.analysis.estimates import finite
from gate.plugins import Evidence
from gate.records import Comparison, GateRule, Level, MetricSpec, RegressionRules, Status, Tolerance
from gate.stats.multiplicity import benjamini_hochberg, holm
from gate.verdict.levels import applicable_gates, level_of, tolerance_of
from gate.verdict.standing import Standing

EPSILON = 1e-9  # 0.82 - 0.80 is no more than 0.02
SUSPICIOUS = 0.05  # raw p-value from which a drop is mentioned


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One metric of one suite. `fixed`: its status, whatever a test says."""

    standing: Standing
    pairing: Pairing
    spec: MetricSpec
    tolerance: Tolerance
    level: Level
    fixed: Status | None
    tested: bool  # there are numbers to compare
    why: str

    @property
    def blocks(self) -> bool:
        return self.level == "block" and self.fixed is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A pair with its evidence, p-values for worse and better adjusted together with the others."""

    pair: Pair
    evidence: Evidence
    worse: float
    better: float
    alpha: float
    status: Status


def compare_all(
    standings: Sequence[Standing], gates: Sequence[GateRule], rules: RegressionRules
) -> tuple[Comparison, ...]:
    """Every metric of every suite that has a baseline and could be asked."""
    pairs = [pair for one in standings for pair in _pairs(one, gates, rules)]
    tests = max(1, sum(pair.blocks for pair in pairs))
    tested = [pair for pair in pairs if pair.tested]
    seen = [_evidence(pair, _as_measured(pair), rules, tests) for pair in tested]
    judged = _judge(tested, seen, rules.alpha)
    at_worst = _judge(tested, _at_worst(tested, seen, rules, tests), rules.alpha)
    final = [_settled(a, b) for a, b in zip(judged, at_worst, strict=True)]
    by_pair = {id(pair): one for pair, one in zip(tested, final, strict=True)}
    return tuple(
        by_pair[id(pair)] if pair.tested else _untested(pair, rules.alpha) for pair in pairs
    )


# ------------------------------------------------------------------------------------ what is there


def _pairs(one: Standing, gates: Sequence[GateRule], rules: RegressionRules) -> list[Pair]:
    if one.pairing is None or one.error:
        return []
    own = applicable_gates(one.data, gates)
    specs = {**one.pairing.baseline.specs, **one.pairing.current.specs}
    found = []
    for spec in specs.values():
        fixed, why = _untestable(one, one.pairing, spec)
        if fixed == "missing" and why == "":
            continue  # neither run has it
        tested = fixed is None
        if spec.name in one.data.accepted:
            fixed, why = "accepted", "this change was accepted"
        found.append(
            Pair(
                standing=one,
                pairing=one.pairing,
                spec=spec,
                tolerance=tolerance_of(spec, rules),
                level=level_of(spec, own, rules),
                fixed=fixed,
                tested=tested,
                why=why,
            )
        )
    return found


def _untestable(one: Standing, pairing: Pairing, spec: MetricSpec) -> tuple[Status | None, str]:
    """The status of a metric that cannot be compared, and why."""
    before, after = pairing.whole, one.current
    was, now = (bool((~np.isnan(t.column(spec.column))).any()) for t in (before, after))
    if not was and not now:
        return "missing", ""
    if one.not_comparable:
        return "not_comparable", one.not_comparable
    if not was:
        return "new", "the baseline has no value"
    if not now:
        return "missing", "the baseline has it, this run measured none"
    if before.graders.get(spec.column) != after.graders.get(spec.column):
        return "not_comparable", "its grader is not the baseline's"
    return None, ""


def _as_measured(pair: Pair) -> Arms:
    column, pairing = pair.spec.column, pair.pairing
    return Arms(baseline=pairing.baseline.column(column), current=pairing.current.column(column))


def _evidence(pair: Pair, arms: Arms, rules: RegressionRules, tests: int) -> Evidence:
    found = family_of(pair.spec).compare(
        arms.baseline,
        arms.current,
        pair.spec,
        tolerance=pair.tolerance,
        alpha=rules.alpha,
        power=rules.power,
        tests=tests if pair.blocks else 1,
    )
    if found.too_few or found.n_paired >= MIN_PAIRED:
        return found
    few = f"{found.n_paired} of the {MIN_PAIRED} cases that a comparison needs"
    return replace(found, too_few=few)


def _at_worst(
    pairs: Sequence[Pair], seen: Sequence[Evidence], rules: RegressionRules, tests: int
) -> list[Evidence]:
    """The evidence as if unanswered calls had failed now and passed in the baseline, in suites
    where too many are missing.
    """
    found = []
    for pair, evidence in zip(pairs, seen, strict=True):
        if pair.standing.missing:
            arms = pessimistic(pair.pairing.baseline, pair.pairing.current, pair.spec)
            evidence = _evidence(pair, arms, rules, tests)
        found.append(evidence)
    return found


# ---------------------------------------------------------------------------------------- statuses


def _judge(pairs: Sequence[Pair], seen: Sequence[Evidence], alpha: float) -> list[Judged]:
    worse = _adjusted(pairs, seen, [e.p_worse for e in seen])
    better = _adjusted(pairs, seen, [e.p_better for e in seen])
    return [
        Judged(
            pair=pair,
            evidence=evidence,
            worse=w,
            better=b,
            alpha=alpha,
            status="accepted" if pair.fixed else _status(pair, evidence, w, b, alpha),
        )
        for pair, evidence, w, b in zip(pairs, seen, worse, better, strict=True)
    ]


def _adjusted(
    pairs: Sequence[Pair], seen: Sequence[Evidence], p_values: Sequence[float]
) -> list[float]:
    """Holm over the blocking pairs of the run; false discovery rate over those only shown."""
    usable = [pair.blocks and not e.too_few for pair, e in zip(pairs, seen, strict=True)]
    blocking = iter(holm([p for p, use in zip(p_values, usable, strict=True) if use]))
    rest = [p for p, use in zip(p_values, usable, strict=True) if not use]
    others = iter(benjamini_hochberg(rest).tolist())
    return [next(blocking) if use else next(others) for use in usable]


def _status(pair: Pair, e: Evidence, worse: float, better: float, alpha: float) -> Status:
    """docs/semantics.md 1, on the scale of the evidence; harm is positive."""
    if e.too_few:
        return "inconclusive"
    allowed = allowed_change(e, pair.tolerance)
    higher = pair.spec.direction == "higher"
    harm = -e.delta if higher else e.delta
    harm_at_most = -e.low if higher else e.high
    if worse <= alpha and harm >= allowed - EPSILON and harm > 0.0:
        return "regression"
    if better <= alpha and -harm >= allowed - EPSILON and harm < 0.0:
        return "improvement"
    if worse <= alpha and harm > 0.0 and harm_at_most < allowed - EPSILON:
        return "within_tolerance"
    if e.p_worse <= SUSPICIOUS and harm >= allowed - EPSILON and harm > 0.0:
        return "suspected"
    return "no_regression"


def allowed_change(e: Evidence, tolerance: Tolerance) -> float:
    """The tolerance on the scale of the evidence."""
    if tolerance.relative and not e.relative:
        return tolerance.value * abs(e.baseline)
    return tolerance.value


def _settled(judged: Judged, at_worst: Judged) -> Comparison:
    """What is reported: inconclusive where the missing calls could turn the verdict."""
    pair = judged.pair
    status, reason = judged.status, judged.evidence.too_few or pair.why
    if _weight(judged.status) != _weight(at_worst.status):
        status = "inconclusive"
        reason = f"{pair.standing.missing}; counted as failures they would turn this verdict"
    return _comparison(judged, status, reason)


def _weight(status: Status) -> str:
    """What a status does to the outcome."""
    if status in ("suspected", "inconclusive"):
        return "inconclusive"
    return "fail" if status == "regression" else "pass"


def _comparison(judged: Judged, status: Status, reason: str) -> Comparison:
    e, pair = judged.evidence, judged.pair
    alpha = judged.alpha
    return Comparison(
        suite=pair.standing.data.name,
        metric=pair.spec.name,
        baseline=finite(e.baseline),
        current=finite(e.current),
        delta=finite(e.delta),
        ci_low=finite(e.low),
        ci_high=finite(e.high),
        confidence=1.0 - 2.0 * alpha,
        p_value=e.p_worse,
        p_better=e.p_better,
        p_adjusted=judged.worse,
        tolerance=allowed_change(e, pair.tolerance),
        relative=e.relative,
        status=status,
        n_paired=e.n_paired,
        mde=finite(e.mde),
        level=pair.level,
        method=e.method,
        direction=pair.spec.direction,
        unit=pair.spec.unit,
        reason=reason,
    )


def _untested(pair: Pair, alpha: float) -> Comparison:
    """A row for what was not tested, with the two numbers where they exist."""
    family = family_of(pair.spec)
    one = pair.standing
    was = finite(family.reduce(pair.pairing.whole.column(pair.spec.column)))
    now = finite(family.reduce(one.current.column(pair.spec.column)))
    return Comparison(
        suite=one.data.name,
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
        n_paired=pair.pairing.paired,
        mde=None,
        level=pair.level,
        method="",
        direction=pair.spec.direction,
        unit=pair.spec.unit,
        reason=pair.why,
    )
