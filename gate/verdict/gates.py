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
class GateLimit:
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
    pairs = pair_gates(standings, top_level)
    level = alpha / count_sharing(pairs)  # a metric that nobody measured has no interval
    metrics = {
        *elsewhere,
        *(metric for standing in standings for metric in standing.data.current.specs),
    }
    pairs += [
        (standings[0], gate) for gate in top_level if standings and gate.metric not in metrics
    ]
    return tuple(
        replace(
            _with_reason(standing, _judge(standing, gate, gate.effective_rule, 1.0 - 2.0 * level)),
            noise_odds=_noise_odds(standing, gate, level),
        )
        for standing, gate in pairs
    )


def _with_reason(standing: Standing, result: GateResult) -> GateResult:
    """The result; that of a metric that may not gate says why."""
    why = standing.data.advisory.get(result.metric)
    return replace(result, reason="; ".join(filter(None, (result.reason, why)))) if why else result


def _noise_odds(standing: Standing, gate: GateRule, level: float) -> NoiseOdds | None:
    """How often an agent like the baseline's would break the limit in a run of this size."""
    spec = standing.current.specs.get(gate.metric)
    if not gate.has_limit or spec is None:
        return None
    if standing.pairing is None:
        return NoiseOdds(why=NO_BASELINE)
    if standing.not_comparable:
        return NoiseOdds(why="the baseline is not comparable")
    before = standing.pairing.baseline
    if before.grader_hashes(spec) != standing.current.grader_hashes(spec):
        return NoiseOdds(why="its grader differs from the baseline's")
    values, chosen = before.values(spec), max(1, standing.data.chosen)
    planned = -(-standing.data.planned // chosen) or standing.current.rounds
    size = RunSize(
        cases=_count_measured(standing.current.values(spec)) or _count_measured(values),
        rounds=planned,
        max_rounds=max(planned, standing.data.cap // chosen),
        level=level,
    )
    return estimate_odds(
        gate, spec, values, size, drift=standing.data.compared.drift.get(spec.name, 0.0)
    )


def _count_measured(values: Array) -> int:
    return int((~np.isnan(values)).any(axis=1).sum())


def pair_gates(
    standings: Sequence[Standing], top_level: Sequence[GateRule]
) -> list[tuple[Standing, GateRule]]:
    """Each suite's own gates and the top-level ones that it can measure."""
    return [(one, gate) for one in standings for gate in applicable_gates(one.data, top_level)]


def count_sharing(pairs: Sequence[tuple[Standing, GateRule]]) -> int:
    """Among how many gates alpha is shared."""
    return max(1, sum(gate.has_limit and gate.level == "block" for _, gate in pairs))


def _judge(standing: Standing, gate: GateRule, rule: Rule, confidence: float) -> GateResult:
    result = _judge_value(standing, gate, rule, confidence)
    spec = standing.current.specs.get(gate.metric)
    if spec is not None and not standing.error and (out := standing.judge_outage(spec)):
        return replace(result, status="missing", reason=out)
    named = result.status != "pass" and gate.metric in standing.data.accepted
    if named or (result.status == "fail" and standing.data.accepts_all):
        return replace(result, status="accepted", reason=ACCEPTED)
    if standing.data.cut_short and not _stands(standing, gate, result, confidence):
        why = "the run ended before enough trials of this suite were made"
        return replace(result, status="inconclusive", reason=why, wants="trials")
    return result


def _stands(standing: Standing, gate: GateRule, result: GateResult, confidence: float) -> bool:
    """Whether a gate that did not pass is as good as broken, when planned trials were not made."""
    spec = standing.data.current.specs.get(gate.metric)
    if spec is None or result.status not in ("fail", "missing"):
        return True
    if is_by_value(gate, result.rule, spec) and certain_state(standing, gate, spec) == "broken":
        return True
    convicted = _judge_value(standing, gate, "convicted", confidence)
    return standing.data.all_asked and convicted.status == "fail"


def _judge_value(standing: Standing, gate: GateRule, rule: Rule, confidence: float) -> GateResult:
    result = _missing_result(standing, gate, rule)
    spec = standing.data.current.specs.get(gate.metric)
    if spec is not None:
        result = replace(result, unit=spec.unit, direction=spec.direction)
    if standing.error:
        why = f"not judged: {standing.error}"
        return replace(result, status="inconclusive", reason=why, wants="agent")
    if spec is None:
        return replace(result, reason=_unknown_reason(gate.metric, standing))
    values = _values(standing, spec)
    interval = family_of(spec).interval(values, spec, confidence=confidence)
    lost = int((~np.isnan(values[len(standing.current.cases) :])).any(axis=1).sum())
    result = replace(result, as_before=lost)
    if interval is None:
        return replace(result, reason=f"{gate.metric} could not be measured")
    judged = _decide(result, gate, rule, interval, spec)
    missing = standing.lacks(spec)
    if judged.status == "pass" and missing and _fails_at_worst(standing, gate, judged, confidence):
        reason = f"{missing.could} break this gate"
        if standing.hides(spec):
            reason = f"{missing.reason}, and their scores are unknown"
        status: GateStatus = "missing" if standing.lacks_too_much(spec) else "inconclusive"
        return replace(judged, status=status, reason=reason, wants="answers")
    return judged


def _unknown_reason(metric: str, standing: Standing) -> str:
    near = did_you_mean(metric, [*standing.data.current.specs])
    hint = near if "did you mean" in near else ""
    return f"{metric} is not measured by any suite of this run{hint}"


def _missing_result(standing: Standing, gate: GateRule, rule: Rule) -> GateResult:
    return GateResult(
        suite=standing.data.name,
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


def judge_at_level(standing: Standing, gate: GateRule, rule: Rule, level: float) -> GateResult:
    """The gate judged by bounds of this one-sided level, on what there is so far."""
    return _judge_value(standing, gate, rule, 1.0 - 2.0 * level)


def _decide(
    result: GateResult, gate: GateRule, rule: Rule, interval: Interval, spec: MetricSpec
) -> GateResult:
    """The gate's status from the value and its interval."""
    value = interval.value
    sides = []
    if gate.min is not None:
        rule_at_end = "point" if gate.min == spec.high else rule
        sides.append(
            _limit(rule_at_end, value - gate.min, interval.low - gate.min, interval.high - gate.min)
        )
    if gate.max is not None:
        rule_at_end = "point" if gate.max == spec.low else rule
        sides.append(
            _limit(rule_at_end, gate.max - value, gate.max - interval.high, gate.max - interval.low)
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


def _status(sides: Sequence[GateLimit]) -> GateStatus:
    """What is beyond a limit never passes."""
    if any(side.broken for side in sides):
        return "fail"
    return "warn" if any(side.beyond for side in sides) else "pass"


def _limit(rule: Rule, margin: float, at_least: float, at_most: float) -> GateLimit:
    """Margins are positive on the right side of the limit; the true one lies in between."""
    proved, beyond = at_least >= -EPSILON, margin < -EPSILON
    broken = {"point": beyond, "convicted": at_most < -EPSILON, "proven": not proved}
    return GateLimit(rule=rule, beyond=beyond, broken=broken[rule], proved=proved)


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


def is_by_value(gate: GateRule, rule: Rule, spec: MetricSpec) -> bool:
    """Whether the value alone decides."""
    return is_at_end(gate, spec) or rule == "point"


def is_at_end(gate: GateRule, spec: MetricSpec) -> bool:
    """Whether the limit is an end of the scale, so that no interval lies beyond it."""
    return gate.min == spec.high or gate.max == spec.low


def certain_state(standing: Standing, gate: GateRule, spec: MetricSpec) -> str:
    """open, broken or settled: what the trials that are left cannot change, whatever they come to.
    Only of a mean the worst and the best that can come are known. Beyond its limit a value may
    get all trials up to the cap, within it there are the planned ones.
    """
    low = spec.low
    if low is None or not is_mean(spec):
        return "open"
    values = standing.current.values(spec)
    family, cases = family_of(spec), standing.data.chosen - len(standing.data.new_cases)
    most = np.inf if spec.high is None else spec.high

    def sides(trials: int) -> tuple[list[bool], list[bool]]:
        """Whether the worst and the best that these trials can come to are beyond a limit."""
        rounds = max(values.shape[1], -(-trials // max(1, standing.data.chosen)))
        wholes = [_fill(values, cases, rounds, end) for end in (low, most)]
        ends = [family.reduce(_with_lost(standing, spec, whole, answered=True)) for whole in wholes]
        return (
            [gate.min is not None and end < gate.min - EPSILON for end in ends],
            [gate.max is not None and end > gate.max + EPSILON for end in ends],
        )

    below, above = sides(standing.data.cap)
    if all(below) or all(above):
        return "broken"
    if not standing.data.complete:
        below, above = sides(standing.data.planned)
    return "open" if any(below + above) else "settled"


def is_in_doubt(standing: Standing, gate: GateRule, level: float) -> bool:
    """Whether the planned rounds left the value beyond a limit that its interval, at this one-sided
    level, still holds: such a value gets more rounds before it decides.
    """
    rounds = -(-standing.data.planned // max(1, standing.data.chosen))
    table = standing.current
    planned = {name: values[:, :rounds] for name, values in table.columns.items()}
    current = replace(table, rounds=min(rounds, table.rounds), columns=planned)
    return (
        judge_at_level(replace(standing, current=current), gate, "convicted", level).status
        == "warn"
    )


def _fill(values: Array, cases: int, rounds: int, value: float) -> Array:
    filled = np.full((max(cases, len(values)), rounds), np.nan)
    filled[: len(values), : values.shape[1]] = values
    return np.where(np.isnan(filled), value, filled)


# ---------------------------------------------------------------------------- what must not improve


def _values(standing: Standing, spec: MetricSpec) -> Array:
    """The column, and below it the baseline's newest rounds of the cases that this run lost.

    A case that was removed, edited or never answered counts as it did, so that losing a hard case
    never improves a score.
    """
    return _with_lost(standing, spec, standing.current.values(spec), answered=False)


def _with_lost(standing: Standing, spec: MetricSpec, values: Array, *, answered: bool) -> Array:
    """`answered`: as if every case that was asked had a value."""
    if standing.pairing is None or standing.not_comparable:
        return values
    before = standing.pairing.whole
    if before.grader_hashes(spec) != standing.current.grader_hashes(spec):
        return values
    gone = {*standing.pairing.removed, *standing.pairing.changed}
    lost = gone if answered else {*gone, *find_errored_cases(standing.pairing.current)}
    rows = [row for row, case in enumerate(before.cases) if case in lost]
    old = before.values(spec)[rows]
    old = old[:, max(0, old.shape[1] - values.shape[1]) :]
    return np.vstack([values, _widen(old, values.shape[1])]) if rows else values


def _widen(values: Array, rounds: int) -> Array:
    missing = np.full((len(values), rounds - values.shape[1]), np.nan)
    return np.hstack([values, missing])


def _fails_at_worst(
    standing: Standing, gate: GateRule, judged: GateResult, confidence: float
) -> bool:
    """Whether the gate does not pass when every unanswered call counts as failed, or where the
    baseline misses alike, what this run misses beyond it.
    """
    spec = standing.current.specs[gate.metric]
    if standing.hides(spec):
        return gate.has_limit
    lacking = standing.lacks(spec)
    failed = pessimistic_values(standing.current, spec, lacking)
    values = _with_lost(standing, spec, failed, answered=lacking.beyond is None)
    interval = family_of(spec).interval(values, spec, confidence=confidence)
    return interval is None or _decide(judged, gate, judged.rule, interval, spec).status != "pass"
