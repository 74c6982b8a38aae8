"""One trial as a row of details.jsonl: the one place that knows its keys (docs/reports.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from gate.agents.judges.totals import sum_attempts
from gate.analysis.failures.modes import mode_of
from gate.records import (
    NOBODY_ASKED,
    Attempt,
    CheckedEvidence,
    Json,
    Judging,
    LoggedViolation,
    MetricSpec,
    Response,
    Score,
    Trial,
    TrialRow,
    Usage,
    Violation,
)
from gate.records.codec import to_json
from gate.text.credentials import without_passwords
from gate.text.redaction import Redactor

QUESTION_LIMIT = 4_000  # characters of the input that a report may show


def row_of(
    trial: Trial,
    *,
    cost_usd: float | None,
    on_agent_error: Mapping[str, float | None],
    specs: Mapping[str, MetricSpec],
    ungraded: bool = False,
) -> TrialRow:
    """`cost_usd`: of all tries, None is unknown; `on_agent_error`: column -> value of a failed
    trial; `specs`: column -> what its metric is; `ungraded`: the trial failed, and no grader says
    pass or fail of any answer to its case.
    """
    judged = trial.attempt
    failed = judged.status == "agent_error"
    attempts = [*map(_attempt, trial.attempts)]
    scores = _counting(on_agent_error if failed else _values(judged.scores), judged.passed, specs)
    row = {
        "suite": trial.suite,
        "case_id": trial.case.id,
        "case_digest": trial.case.digest,
        "category": trial.case.category,
        "tags": list(trial.case.tags),
        "round": trial.round,
        "attempts": attempts,
        "status": judged.status,
        "passed": judged.passed,
        "recovered": judged.passed is True and len(attempts) > 1 and _has_failed(trial),
        "failures": list(judged.failures),
        "scores": scores,
        "dimension_scores": _dimensions(scores, specs),
        "reasons": {name: score.reason for name, score in _telling(judged.scores) if score.reason},
        **_opinions(judged.scores),
        "judging": _judging(sum_attempts(trial.attempts, judged)),
        "latency_ms": _ms(judged.latency_ms),
        "cost_usd": cost_usd,
        "question": trial.case.question[:QUESTION_LIMIT],
        **{"error": _hide_passwords(judged.error), "transport": judged.transport},
        "started_at": trial.started_at,
        "violations": to_json(_violations(trial)),
        "evidence": to_json(_evidence(judged.scores)),
        **_answer(judged.response, attempts[trial.judged]["usage"]),
        **_details(judged.scores),
        **({"ungraded": True} if ungraded else {}),
    }
    row["mode"] = mode_of(cast("TrialRow", row))
    return cast("TrialRow", _without_leaks(row, trial))


def _has_failed(trial: Trial) -> bool:
    return any(attempt.passed is False for attempt in trial.attempts)


def _opinions(scores: Mapping[str, Score]) -> dict[str, Json]:
    return {
        "failed_by": [name for name, score in scores.items() if score.passed is False],
        "unscored": {n: s.unscored for n, s in scores.items() if s.unscored},
        "uncertain": {n: s.uncertainty for n, s in scores.items() if s.uncertainty is not None},
    }


def _details(scores: Mapping[str, Score]) -> dict[str, Json]:
    details = {name: score.details for name, score in scores.items() if score.details is not None}
    return {"details": details} if details else {}


def _counting(
    scores: Mapping[str, float | None], passed: bool | None, specs: Mapping[str, MetricSpec]
) -> dict[str, float | None]:
    """Without best values of trials that did not pass, where these are no merit: who gives up early
    needs few steps. Their other values stay.
    """
    return {
        column: None if passed is not True and _no_merit(specs.get(column), value) else value
        for column, value in scores.items()
    }


def _no_merit(spec: MetricSpec | None, value: float | None) -> bool:
    if spec is None or not spec.only_passed or value is None:
        return False
    return value == (spec.low if spec.direction == "lower" else spec.high)


def _violations(trial: Trial) -> list[LoggedViolation] | None:
    """What the agent says of itself, then what graders found. None: nobody looked."""
    judged = trial.attempt
    reported = judged.response.safety_violations if judged.response else None
    looked = {name: s.violations for name, s in judged.scores.items() if s.violations is not None}
    if reported is None and not looked:
        return None
    violations = [("", Violation(rule=text)) for text in reported or ()]
    violations += [(name, one) for name, some in looked.items() for one in some]
    return [
        LoggedViolation(
            suite=trial.suite, case_id=trial.case.id, round=trial.round, violation=one, by=by
        )
        for by, one in violations
    ]


def _evidence(scores: Mapping[str, Score]) -> CheckedEvidence | None:
    return next((s.evidence for s in scores.values() if s.evidence is not None), None)


def _without_leaks(row: dict[str, Json], trial: Trial) -> dict[str, Json]:
    """Secrets that a grader found are masked wherever the row has them: a session that is stored,
    published and sent to reviewers would leak them once more.
    """
    judged = trial.attempt
    leaks = [violation for score in judged.scores.values() for violation in score.violations or ()]
    if judged.response is None or not leaks:
        return row
    from gate.graders.safety_rules.leaks import secrets_of
    from gate.graders.safety_rules.violations import MOST

    flood = len(leaks) >= MOST  # what came behind it was not listed
    if not (flood or any(leak.rule == "secret" for leak in leaks)):
        return row
    return Redactor(secrets_of(trial.case, judged.response)).scrub(row)


def _telling(scores: Mapping[str, Score]) -> list[tuple[str, Score]]:
    """Graders that fail the answer before the others: a report shows the beginning."""
    return sorted(scores.items(), key=lambda item: item[1].passed is not False)


def _judging(judging: Judging) -> Json:
    """None where nobody was asked."""
    return None if judging == NOBODY_ASKED else to_json(judging)


def _attempt(attempt: Attempt) -> dict[str, Json]:
    return {
        "n": attempt.n,
        "status": attempt.status,
        "passed": attempt.passed,
        "failures": list(attempt.failures),
        "latency_ms": _ms(attempt.latency_ms),
        "waited_ms": _ms(attempt.waited_ms),
        "usage": to_json(attempt.response.usage) if attempt.response else None,
        "error": _hide_passwords(attempt.error),
    }


def _answer(response: Response | None, usage: Json) -> dict[str, Json]:
    if response is None:
        keys = ("usage", "model", "steps", "output", "retrieved_ids", "safety_violations", "turns")
        return {**dict.fromkeys((*keys, "finish_reason")), "omitted_steps": 0, "trace_faults": []}
    documents = response.retrieved
    return {
        "usage": usage,
        "model": response.model,
        "steps": to_json(response.steps),
        "output": response.answer if response.kept else None,
        "retrieved_ids": None if documents is None else [document.id for document in documents],
        "safety_violations": to_json(response.safety_violations),
        "turns": response.turns,
        "finish_reason": response.finish_reason,
        "omitted_steps": response.omitted_steps,
        "trace_faults": [*response.trace_faults, *_odd_cost(response.usage)],
    }


def _odd_cost(usage: Usage) -> list[str]:
    cost = usage.cost_usd
    odd = cost is not None and not 0.0 <= cost < math.inf
    return (
        ["the cost that the agent reports is not an amount of money, so the cost is unknown"]
        if odd
        else []
    )


def _hide_passwords(error: str | None) -> str | None:
    return error and without_passwords(error)


def _values(scores: Mapping[str, Score]) -> dict[str, float | None]:
    return {name: value for score in scores.values() for name, value in score.values.items()}


def _dimensions(
    scores: Mapping[str, float | None], specs: Mapping[str, MetricSpec]
) -> dict[str, float | None]:
    """Mean of a dimension's values, each on the way from its worst (0) to its best (1), so that
    scales do not mix; None where none was measured. What has no bounds has no such place.
    """
    values_by_name: dict[str, list[float]] = {}
    for name, value in scores.items():
        values = values_by_name.setdefault(name.split(".", 1)[0], [])
        place = None if value is None else _between_bounds(value, specs.get(name))
        if place is not None:
            values.append(place)
    return {
        name: sum(values) / len(values) if values else None
        for name, values in values_by_name.items()
    }


def _between_bounds(value: float, spec: MetricSpec | None) -> float | None:
    if spec is None or spec.low is None or spec.high is None:
        return None
    share = (value - spec.low) / (spec.high - spec.low)
    return share if spec.direction == "higher" else 1.0 - share


def _ms(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
