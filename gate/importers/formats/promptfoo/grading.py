"""What promptfoo's assertions said of a row: scores by name, failure codes, what had no say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gate.files.json_schema import SchemaCheck
from gate.files.json_values import as_amount, as_list, as_object, as_objects
from gate.importers.formats.promptfoo.evaluation import ASSERTION, COMPONENT, TOOL, EvalRow
from gate.importers.formats.promptfoo.templates import render_template
from gate.importers.trials.names import metric_name, snake_case
from gate.records import CheckedJson, Json, Score
from gate.text.escaping import one_line

SCORE = f"{TOOL}.score"
BELOW = "below_threshold"
_SHOWN = 300  # characters of a reason
_SET = "assert-set"
# Assertions that are code of the user, and what promptfoo says where that code broke off.
_BROKEN = {
    "javascript": "Custom function threw error",
    "python": "Python code execution failed",
    "ruby": "Ruby code execution failed",
    "webhook": "Webhook error",
}
_CHECK = SchemaCheck(COMPONENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionResult:
    """One assertion's result. `name`: its metric, or its type; `why`: it could not judge."""

    name: str
    kind: str
    passed: bool
    score: float | None
    weight: float = 1.0
    reason: str = ""
    why: str | None = None
    judge: str = ""
    inside: tuple[AssertionResult, ...] = ()

    def failing(self) -> Iterator[str]:
        """Codes of what failed in it: of a set the assertions that did."""
        if self.passed or self.why:
            return
        inner = [code for part in self.inside for code in part.failing()]
        yield from inner or [snake_case(self.kind)]

    def broken(self) -> bool:
        return self.why is not None or any(part.broken() for part in self.inside)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGrade:
    """`passed` is None where an assertion that decides could not judge."""

    passed: bool | None
    scores: Mapping[str, Score]
    failures: tuple[str, ...] = ()
    judges: Mapping[str, frozenset[str]] = field(default_factory=dict)  # column -> models


def grade_row(row: EvalRow) -> RowGrade:
    result = row.mapping("gradingResult")
    parts = tuple(_parts(as_list(result.get("componentResults")), row))
    named = as_object(row.data.get("namedScores") or result.get("namedScores"))
    threshold = row.case.get("threshold") is not None
    failures = [code for part in parts for code in part.failing()]
    broken = any(part.broken() for part in parts)
    failed = row.reason == ASSERTION
    undecided = failed and broken and (threshold or not failures)
    passed = None if undecided else not failed
    whys = (part.why for part in _all(parts) if part.why)
    own = Score(
        values={} if undecided else {SCORE: row.data.get("score")},
        reason=_first_line(result.get("reason")) if failed else "",
        unscored=next(whys, "an assertion ended in an error") if undecided else None,
    )
    return RowGrade(
        passed=passed,
        scores={TOOL: own, **_scores(parts, named, failed=passed is False)},
        failures=tuple(dict.fromkeys(failures or [BELOW])) if passed is False else (),
        judges=_judges(parts),
    )


@lru_cache(maxsize=4096)
def _column(name: str) -> str:
    return metric_name(TOOL, name)


def grade_unjudged(why: str) -> RowGrade:
    """The grade of an answer whose assertions broke off together."""
    own = Score(unscored=one_line(why, _SHOWN) or "an assertion ended in an error")
    return RowGrade(passed=None, scores={TOOL: own})


def score_failed_answer(row: EvalRow) -> dict[str, Score]:
    """What an answer that never came scores: 0 under each name that its test would have had."""
    names = {SCORE, *(_column(name) for name in _planned_names(row.asserts, row.vars))}
    return {TOOL: Score(values=dict.fromkeys(sorted(names), 0.0))}


def _planned_names(asserts: Sequence[Json], known: Mapping[str, Json]) -> Iterator[str]:
    for assertion in as_objects(asserts):
        yield _name(assertion, known)
        yield from _planned_names(as_list(assertion.get("assert")), known)


def _name(assertion: Mapping[str, Json], known: Mapping[str, Json]) -> str:
    metric = assertion.get("metric")
    if isinstance(metric, str) and metric.strip():
        return render_template(metric, known) or metric
    kind = assertion.get("type")
    return kind if isinstance(kind, str) else _SET


def _parts(written: Sequence[Json], row: EvalRow) -> Iterator[AssertionResult]:
    """One by one; behind a set stand its assertions once more, which are left out."""
    skip = 0
    for one in written:
        if skip or not isinstance(one, dict):
            skip = max(0, skip - 1)
            continue
        inner = as_list(one.get("componentResults"))
        skip = len(inner)
        yield _part(one, inner, row)


def _part(one: Mapping[str, CheckedJson], inner: Sequence[Json], row: EvalRow) -> AssertionResult:
    metadata = as_object(one.get("metadata"))
    assertion = as_object(metadata.get("assertionSet")) | as_object(one.get("assertion"))
    kind = str(assertion.get("type") or _SET)
    reason = "" if one["pass"] else _first_line(one.get("reason"))
    broken = not one["pass"] and _broke(kind, metadata, reason)
    weight = as_amount(assertion.get("weight"))
    return AssertionResult(
        name=_name(assertion, row.vars),
        kind=kind,
        passed=bool(one.get("pass")),
        score=None if broken else one.get("score"),
        weight=1.0 if weight is None else weight,
        reason=reason,
        why=reason or "no reason given" if broken else None,
        judge=_model(assertion.get("provider")),
        inside=tuple(_parts([part for part in inner if _is_result(part)], row)),
    )


def _is_result(part: Json) -> bool:
    """Whether it is a result like those at the top, which were checked."""
    return isinstance(part, dict) and _CHECK.fits(part)


def _broke(kind: str, metadata: Mapping[str, Json], reason: str) -> bool:
    """Whether the grader failed, not the answer."""
    if metadata.get("graderError") is True:
        return True
    begins = _BROKEN.get(kind.removeprefix("not-"))
    return begins is not None and reason.startswith(begins)


def _first_line(reason: Json) -> str:
    """Below it stands the stack, or the answer."""
    return one_line(str(reason or "").strip().partition("\n")[0], _SHOWN)


def _model(provider: Json) -> str:
    if isinstance(provider, dict):
        provider = provider.get("id")
    return re.sub(r"\s+", " ", provider)[:100] if isinstance(provider, str) else ""


def _scores(
    parts: Sequence[AssertionResult], named: Mapping[str, CheckedJson], *, failed: bool
) -> dict[str, Score]:
    """By column: the mean of those of one name by their weights, which is how promptfoo has it."""
    groups: dict[str, list[AssertionResult]] = {}
    for part in _all(parts):
        groups.setdefault(_column(part.name), []).append(part)
    found = {column: _one(column, group, failed=failed) for column, group in groups.items()}
    for name, value in named.items():
        column = _column(name)
        if column not in found:
            found[column] = Score(values={column: value})
    return found


def _all(parts: Sequence[AssertionResult]) -> Iterator[AssertionResult]:
    for part in parts:
        yield part
        yield from _all(part.inside)


def _one(column: str, group: Sequence[AssertionResult], *, failed: bool) -> Score:
    why = next((part.why for part in group if part.why), None)
    if why:
        return Score(unscored=why)
    told = [(part.score, part.weight) for part in group if part.score is not None]
    weight = sum(weight for _, weight in told)
    value: float | None = None
    if weight:
        value = sum(score * own for score, own in told) / weight
    elif told:
        value = sum(score for score, _ in told) / len(told)
    fails = not all(part.passed for part in group)
    return Score(
        values={column: value},
        passed=(False if failed else None) if fails else True,
        reason=next((part.reason for part in group if not part.passed), ""),
    )


def _judges(parts: Sequence[AssertionResult]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for part in _all(parts):
        if part.judge:
            column = _column(part.name)
            found[column] = found.get(column, frozenset()) | {part.judge}
    return found
