"""One trial as a row of details.jsonl: the one place that knows its keys (docs/reports.md)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    expected: Mapping[str, Json] | None = None,
    listed: Sequence[str] = (),
) -> TrialRow:
    """`cost_usd`: of all tries, None is unknown; `listed`: models whose part in it is counted by
    the list of their provider; `on_agent_error`: column -> value of a failed
    trial; `specs`: column -> what its metric is; `ungraded`: the trial failed, and no grader says
    pass or fail of any answer to its case; `expected`: of the case, by key.
    """
    judged, case = trial.attempt, trial.case
    failed = judged.status == "agent_error"
    attempts = [_attempt(attempt) for attempt in trial.attempts]
    graded = _Graded(judged.scores)
    scores = _counting(on_agent_error if failed else graded.values, judged.passed, specs)
    row: dict[str, Json] = {
        "suite": trial.suite,
        "case_id": case.id,
        "case_digest": case.digest,
        "category": case.category,
        "tags": list(case.tags),
        "round": trial.round,
        "attempts": attempts,
        "status": judged.status,
        "passed": judged.passed,
        "recovered": judged.passed is True and len(attempts) > 1 and _has_failed(trial),
        "failures": list(judged.failures),
        "scores": scores,
        "dimension_scores": _dimensions(scores, specs),
        "reasons": {**graded.reasons_of_failure, **graded.reasons},
        "failed_by": graded.failed_by,
        "unscored": graded.unscored,
        "uncertain": graded.uncertain,
        "judging": _judging(sum_attempts(trial.attempts, judged)),
        "latency_ms": _ms(judged.latency_ms),
        "cost_usd": cost_usd,
        "question": case.question[:QUESTION_LIMIT],
        "error": judged.error and without_passwords(judged.error),
        "transport": judged.transport,
        "started_at": trial.started_at,
        "violations": _violations(trial, graded.violations),
        "evidence": None if graded.evidence is None else to_json(graded.evidence),
    }
    row.update(_answer(judged.response, attempts[trial.judged]["usage"]))
    if listed:
        row["listed"] = list(listed)
    if expected:
        row["expected"] = expected
    if graded.details:
        row["details"] = graded.details
    if ungraded:
        row["ungraded"] = True
    row["mode"] = mode_of(cast("TrialRow", row))
    return cast("TrialRow", _without_leaks(row, trial, graded.violations))


def _has_failed(trial: Trial) -> bool:
    return any(attempt.passed is False for attempt in trial.attempts)


class _Graded:
    """What the graders say of one answer, by kind; grader name -> what it says."""

    def __init__(self, scores: Mapping[str, Score]) -> None:
        self.values: dict[str, float | None] = {}  # by column
        self.failed_by: list[str] = []
        # Those of graders that fail the answer come first: a report shows the beginning.
        self.reasons_of_failure: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.unscored: dict[str, str] = {}
        self.uncertain: dict[str, float] = {}
        self.details: dict[str, Json] = {}
        self.violations: dict[str, tuple[Violation, ...]] = {}  # of those who looked for any
        self.evidence: CheckedEvidence | None = None  # of the first that has some
        for name, score in scores.items():
            self.values.update(score.values)
            if score.passed is False:
                self.failed_by.append(name)
            if score.reason:
                said = self.reasons_of_failure if score.passed is False else self.reasons
                said[name] = score.reason
            if score.unscored:
                self.unscored[name] = score.unscored
            if score.uncertainty is not None:
                self.uncertain[name] = score.uncertainty
            if score.details is not None:
                self.details[name] = score.details
            if score.violations is not None:
                self.violations[name] = score.violations
            self.evidence = self.evidence or score.evidence


def _counting(
    scores: Mapping[str, float | None], passed: bool | None, specs: Mapping[str, MetricSpec]
) -> dict[str, float | None]:
    """Without best values of trials that did not pass, where these are no merit: who gives up early
    needs few steps. Their other values stay.
    """
    if passed is True:
        return dict(scores)
    return {
        column: None if _no_merit(specs.get(column), value) else value
        for column, value in scores.items()
    }


def _no_merit(spec: MetricSpec | None, value: float | None) -> bool:
    if spec is None or not spec.only_passed or value is None:
        return False
    return value == (spec.low if spec.direction == "lower" else spec.high)


def _violations(trial: Trial, found: Mapping[str, tuple[Violation, ...]]) -> Json:
    """What the agent says of itself, then what graders found. None: nobody looked."""
    response = trial.attempt.response
    reported = response.safety_violations if response else None
    if reported is None and not found:
        return None
    violations = [("", Violation(rule=text)) for text in reported or ()]
    violations += [(name, one) for name, some in found.items() for one in some]
    return [
        to_json(
            LoggedViolation(
                suite=trial.suite, case_id=trial.case.id, round=trial.round, violation=one, by=by
            )
        )
        for by, one in violations
    ]


def _without_leaks(
    row: dict[str, Json], trial: Trial, found: Mapping[str, tuple[Violation, ...]]
) -> dict[str, Json]:
    """Secrets that a grader found are masked wherever the row has them: a session that is stored,
    published and sent to reviewers would leak them once more.
    """
    response = trial.attempt.response
    leaks = [violation for some in found.values() for violation in some]
    if response is None or not leaks:
        return row
    from gate.graders.safety_rules.leaks import secrets_of
    from gate.graders.safety_rules.violations import MOST

    flood = len(leaks) >= MOST  # what came behind it was not listed
    if not (flood or any(leak.rule == "secret" for leak in leaks)):
        return row
    return Redactor(secrets_of(trial.case, response)).scrub(row)


def _judging(judging: Judging) -> Json:
    """None where nobody was asked."""
    if judging == NOBODY_ASKED:
        return None
    data: dict[str, Json] = to_json(judging)
    if not judging.listed:
        del data["listed"]
    return data


def _attempt(attempt: Attempt) -> dict[str, Json]:
    return {
        "n": attempt.n,
        "status": attempt.status,
        "passed": attempt.passed,
        "failures": list(attempt.failures),
        "latency_ms": _ms(attempt.latency_ms),
        "waited_ms": _ms(attempt.waited_ms),
        "usage": to_json(attempt.response.usage) if attempt.response else None,
        "error": attempt.error and without_passwords(attempt.error),
    }


def _answer(response: Response | None, usage: Json) -> dict[str, Json]:
    if response is None:
        keys = ("usage", "model", "steps", "output", "retrieved_ids", "safety_violations", "turns")
        return {**dict.fromkeys((*keys, "finish_reason")), "omitted_steps": 0, "trace_faults": []}
    documents, violations = response.retrieved, response.safety_violations
    return {
        "usage": usage,
        "model": response.model,
        "steps": None if response.steps is None else [*map(to_json, response.steps)],
        "output": response.answer if response.kept else None,
        "retrieved_ids": None if documents is None else [document.id for document in documents],
        "safety_violations": None if violations is None else list(violations),
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
