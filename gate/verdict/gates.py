"""Gates: a metric of this run against a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gate.analysis.estimates import family_of, finite
from gate.analysis.missing_answers import find_errored_cases, pessimistic_values
from gate.analysis.noise_odds import NO_BASELINE, RunSize, estimate_odds
from gate.analysis.session_effect import is_mean
from gate.plugins import Array, Interval
from gate.records import GateResult, GateRule, GateStatus, MetricSpec, NoiseOdds, Rule
from gate.text.suggestions import did_you_mean
from gate.verdict.comparability import ACCEPTED, Standing
from gate.verdict.levels import applicable_gates

EPSILON = 1e-9  # an equal value passes, whatever its last bits say


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One side of a gate."""

    rule: Rule
    beyond: bool  # the value is on the wrong side
    broken: bool  # by this limit's rule
    proved: bool  # the whole interval is on the right side


def judge_gates(
    standings: Sequence[Standing],
    top_level: Sequence[GateRule],
    *,
    alpha: float,
    elsewhere: frozenset[str] = frozenset(),
) -> tuple[GateResult, ...]:
    """Every gate of every suite. `elsewhere`: metrics of suites that this run left out."""
    asked = asked_gates(standings, top_level)
    known = {*elsewhere, *(metric for one in standings for metric in one.data.current.specs)}
    asked += [(standings[0], gate) for gate in top_level if standings and gate.metric not in known]
    level = alpha / sharing(asked)
    return tuple(
        replace(
            _with_reason(one, _judge(one, gate, gate.effective_rule, 1.0 - 2.0 * level)),
            noise_odds=_noise_odds(one, gate, level),
        )
        for one, gate in asked
    )


def _with_reason(one: Standing, result: GateResult) -> GateResult:
    """Of a metric that may not gate it is told why."""
    why = one.data.advisory.get(result.metric)
    return replace(result, reason="; ".join(filter(None, (result.reason, why)))) if why else result


def _noise_odds(one: Standing, gate: GateRule, level: float) -> NoiseOdds | None:
    """How often an agent like the baseline's would break the limit in a run of this size."""
    spec = one.current.specs.get(gate.metric)
    if not gate.has_limit or spec is None:
        return None
    if one.pairing is None:
        return NoiseOdds(why=NO_BASELINE)
    if one.not_comparable:
        return NoiseOdds(why="the baseline is not comparable")
    before = one.pairing.baseline
    if before.grader_hashes(spec) != one.current.grader_hashes(spec):
        return NoiseOdds(why="its grader is not the baseline's")
    values, chosen = before.values(spec), max(1, one.data.chosen)
    planned = -(-one.data.planned // chosen) or one.current.rounds
    size = RunSize(
        cases=_measured_cases(one.current.values(spec)) or _measured_cases(values),
        rounds=planned,
        max_rounds=max(planned, one.data.looks.cap // chosen if one.data.looks else planned),
        level=level,
    )
    return estimate_odds(gate, spec, values, size, drift=one.data.drift.get(spec.name, 0.0))


def _measured_cases(values: Array) -> int:
    return int((~np.isnan(values)).any(axis=1).sum())


def asked_gates(
    standings: Sequence[Standing], top_level: Sequence[GateRule]
) -> list[tuple[Standing, GateRule]]:
    """Each suite's own gates and the top-level ones that it can measure."""
    return [(one, gate) for one in standings for gate in applicable_gates(one.data, top_level)]


def sharing(asked: Sequence[tuple[Standing, GateRule]]) -> int:
    """Among how many gates alpha is shared."""
    return max(1, sum(gate.has_limit and gate.level == "block" for _, gate in asked))


def _judge(one: Standing, gate: GateRule, rule: Rule, confidence: float) -> GateResult:
    result = _measured(one, gate, rule, confidence)
    spec = one.current.specs.get(gate.metric)
    if spec is not None and not one.error and (out := one.out(spec)):
        return replace(result, status="missing", reason=out)
    named = result.status != "pass" and gate.metric in one.data.accepted
    if named or (result.status == "fail" and one.data.accepts_all):
        return replace(result, status="accepted", reason=ACCEPTED)
    if one.data.cut_short and not _stands(one, gate, result, confidence):
        why = "the run ended before the planned trials of this suite could tell"
        return replace(result, status="inconclusive", reason=why, wants="trials")
    return result


def _stands(one: Standing, gate: GateRule, result: GateResult, confidence: float) -> bool:
    """Whether a gate that did not pass is as good as broken, when planned trials were not made."""
    spec = one.data.current.specs.get(gate.metric)
    if spec is None or result.status not in ("fail", "missing"):
        return True
    if by_value(gate, result.rule, spec) and certain(one, gate, spec) == "broken":
        return True
    convicted = _measured(one, gate, "convicted", confidence)
    return one.data.all_asked and convicted.status == "fail"


def _measured(one: Standing, gate: GateRule, rule: Rule, confidence: float) -> GateResult:
    result = _unmeasured(one, gate, rule)
    spec = one.data.current.specs.get(gate.metric)
    if spec is not None:
        result = replace(result, unit=spec.unit, direction=spec.direction)
    if one.error:
        why = f"not judged: {one.error}"
        return replace(result, status="inconclusive", reason=why, wants="agent")
    if spec is None:
        return replace(result, reason=_unknown(gate.metric, one))
    values = _values(one, spec)
    interval = family_of(spec).interval(values, spec, confidence=confidence)
    lost = int((~np.isnan(values[len(one.current.cases) :])).any(axis=1).sum())
    result = replace(result, as_before=lost)
    if interval is None:
        return replace(result, reason=f"{gate.metric} could not be measured")
    judged = _decided(result, gate, rule, interval, spec)
    missing = one.lacks(spec)
    if judged.status == "pass" and missing and _fails_at_worst(one, gate, judged, confidence):
        reason = f"{missing.could} break this gate"
        reason = f"{missing.reason}, which may be anything" if one.hides(spec) else reason
        status: GateStatus = "missing" if one.lacks_too_much(spec) else "inconclusive"
        return replace(judged, status=status, reason=reason, wants="answers")
    return judged


def _unknown(metric: str, one: Standing) -> str:
    near = did_you_mean(metric, [*one.data.current.specs])
    hint = near if "did you mean" in near else ""
    return f"{metric} is measured by no suite of this run{hint}"


def _unmeasured(one: Standing, gate: GateRule, rule: Rule) -> GateResult:
    return GateResult(
        suite=one.data.name,
        metric=gate.metric,
        value=None,
        min=gate.min,
        max=gate.max,
        target=gate.target,
        rule=rule,
        status="missing",
        level=gate.level,
        proved=False,
        place=gate.place,
        by_default=gate.by_default,
    )


def at_level(one: Standing, gate: GateRule, rule: Rule, level: float) -> GateResult:
    """The gate judged by bounds of this one-sided level, on what there is so far."""
    return _measured(one, gate, rule, 1.0 - 2.0 * level)


def _decided(
    result: GateResult, gate: GateRule, rule: Rule, interval: Interval, spec: MetricSpec
) -> GateResult:
    """The gate's status from the value and its interval."""
    value = interval.value
    sides = []
    if gate.min is not None:
        own = "point" if gate.min == spec.high else rule
        sides.append(
            _limit(own, value - gate.min, interval.low - gate.min, interval.high - gate.min)
        )
    if gate.max is not None:
        own = "point" if gate.max == spec.low else rule
        sides.append(
            _limit(own, gate.max - value, gate.max - interval.high, gate.max - interval.low)
        )
    status = _status(sides)
    met, met_for_sure = _target(gate, spec, interval)
    return replace(
        result,
        value=value,
        rule=sides[0].rule if sides else rule,
        status=status,
        ci_low=finite(interval.low),
        ci_high=finite(interval.high),
        proved=all(side.proved for side in sides) if sides else met_for_sure,
        target_met=met if gate.target is not None else None,
        reason=_message(gate, value, status) if status != "pass" else "",
    )


def _status(sides: Sequence[Limit]) -> GateStatus:
    """What is beyond a limit never passes."""
    if any(side.broken for side in sides):
        return "fail"
    return "warn" if any(side.beyond for side in sides) else "pass"


def _limit(rule: Rule, margin: float, at_least: float, at_most: float) -> Limit:
    """Margins are positive on the right side of the limit; the true one lies in between."""
    proved, beyond = at_least >= -EPSILON, margin < -EPSILON
    broken = {"point": beyond, "convicted": at_most < -EPSILON, "proven": not proved}
    return Limit(rule=rule, beyond=beyond, broken=broken[rule], proved=proved)


def _target(gate: GateRule, spec: MetricSpec, interval: Interval) -> tuple[bool, bool]:
    """Whether the target is met by the value, and by the whole interval."""
    if gate.target is None:
        return True, True
    if gate.min is None and (gate.max is not None or spec.direction == "lower"):
        return interval.value <= gate.target + EPSILON, interval.high <= gate.target + EPSILON
    return interval.value >= gate.target - EPSILON, interval.low >= gate.target - EPSILON


def _message(gate: GateRule, value: float, status: GateStatus) -> str:
    limits = [
        f"{name}imum: {limit:g}"
        for name, limit in (("min", gate.min), ("max", gate.max))
        if limit is not None
    ]
    word = "FAIL" if status == "fail" else "WARN"
    return f"{word}: {gate.metric} = {value:.4f} ({', '.join(limits)})"


# ------------------------------------------------------------------- what is left cannot change it


def by_value(gate: GateRule, rule: Rule, spec: MetricSpec) -> bool:
    """Whether the value alone decides."""
    return at_end(gate, spec) or rule == "point"


def at_end(gate: GateRule, spec: MetricSpec) -> bool:
    """Whether the limit is an end of the scale, so that no interval lies beyond it."""
    return gate.min == spec.high or gate.max == spec.low


def certain(one: Standing, gate: GateRule, spec: MetricSpec) -> str:
    """open, broken or settled: what the trials that are left cannot change, whatever they come to.
    Only of a mean the worst and the best that can come are known. Beyond its limit a value may
    get all trials up to the cap, within it there are the planned ones.
    """
    low = spec.low
    if low is None or not is_mean(spec):
        return "open"
    values = one.current.values(spec)
    family, cases = family_of(spec), one.data.chosen - len(one.data.new_cases)
    most = np.inf if spec.high is None else spec.high

    def sides(trials: int) -> tuple[list[bool], list[bool]]:
        """Whether the worst and the best that these trials can come to are beyond a limit."""
        rounds = max(values.shape[1], -(-trials // max(1, one.data.chosen)))
        wholes = [_filled(values, cases, rounds, end) for end in (low, most)]
        ends = [family.reduce(_with_lost(one, spec, whole, answered=True)) for whole in wholes]
        return (
            [gate.min is not None and end < gate.min - EPSILON for end in ends],
            [gate.max is not None and end > gate.max + EPSILON for end in ends],
        )

    below, above = sides(one.data.looks.cap if one.data.looks else one.data.planned)
    if all(below) or all(above):
        return "broken"
    if not one.data.complete:
        below, above = sides(one.data.planned)
    return "open" if any(below + above) else "settled"


def in_doubt(one: Standing, gate: GateRule, level: float) -> bool:
    """Whether the planned rounds left the value beyond a limit that its interval, at this one-sided
    level, still holds: such a value gets more rounds before it decides.
    """
    rounds = -(-one.data.planned // max(1, one.data.chosen))
    table = one.current
    planned = {name: values[:, :rounds] for name, values in table.columns.items()}
    current = replace(table, rounds=min(rounds, table.rounds), columns=planned)
    return at_level(replace(one, current=current), gate, "convicted", level).status == "warn"


def _filled(values: Array, cases: int, rounds: int, value: float) -> Array:
    whole = np.full((max(cases, len(values)), rounds), np.nan)
    whole[: len(values), : values.shape[1]] = values
    return np.where(np.isnan(whole), value, whole)


# ---------------------------------------------------------------------------- what must not improve


def _values(one: Standing, spec: MetricSpec) -> Array:
    """The column, and below it the baseline's newest rounds of the cases that this run lost.

    A case that was removed, edited or never answered counts as it did, so that losing a hard case
    never improves a score.
    """
    return _with_lost(one, spec, one.current.values(spec), answered=False)


def _with_lost(one: Standing, spec: MetricSpec, values: Array, *, answered: bool) -> Array:
    """`answered`: as if every case that was asked had a value."""
    if one.pairing is None or one.not_comparable:
        return values
    before = one.pairing.whole
    if before.grader_hashes(spec) != one.current.grader_hashes(spec):
        return values
    gone = {*one.pairing.removed, *one.pairing.changed}
    lost = gone if answered else {*gone, *find_errored_cases(one.pairing.current)}
    rows = [row for row, case in enumerate(before.cases) if case in lost]
    old = before.values(spec)[rows]
    old = old[:, max(0, old.shape[1] - values.shape[1]) :]
    return np.vstack([values, _widened(old, values.shape[1])]) if rows else values


def _widened(values: Array, rounds: int) -> Array:
    missing = np.full((len(values), rounds - values.shape[1]), np.nan)
    return np.hstack([values, missing])


def _fails_at_worst(one: Standing, gate: GateRule, judged: GateResult, confidence: float) -> bool:
    """Whether the gate does not pass when every unanswered call counts as failed, or where the
    baseline misses alike, what this run misses beyond it.
    """
    spec = one.current.specs[gate.metric]
    if one.hides(spec):
        return gate.has_limit
    lacking = one.lacks(spec)
    failed = pessimistic_values(one.current, spec, lacking)
    values = _with_lost(one, spec, failed, answered=lacking.beyond is None)
    interval = family_of(spec).interval(values, spec, confidence=confidence)
    return interval is None or _decided(judged, gate, judged.rule, interval, spec).status != "pass"
