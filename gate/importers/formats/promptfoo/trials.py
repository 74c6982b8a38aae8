"""A row of promptfoo as a trial: whose failure it was, the answer, what the assertions said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from gate.agents.traces.plain import step
from gate.agents.traces.values import as_text
from gate.errors import AgentFailure
from gate.files.json_schema import SchemaCheck
from gate.files.json_values import (
    as_amount,
    as_list,
    as_object,
    as_objects,
    as_strings,
    string_or_none,
)
from gate.importers.formats.promptfoo import evaluation
from gate.importers.formats.promptfoo.assertions import map_assertions
from gate.importers.trials.build import usage_of
from gate.importers.trials.names import metric_name, snake_case
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import (
    Case,
    CheckedJson,
    Json,
    Response,
    Score,
    ToolCall,
    Trial,
    TrialStatus,
    Usage,
)
from gate.text.shortening import tidy

FAILED, TIMEOUT, NO_OUTPUT = "provider_error", "timeout", "no_output"
_SHOWN = 500  # characters of an error
_FRAMES = 10  # lines of a stack, which V8 writes at the end
_FRAME = re.compile(r"\s{2,}at ")
_GRADING = re.compile(r"at (?:async )?(?:Object\.)?(?:runAssertion|callGradingProvider)\w*\b")
_STATUS = re.compile(r'"status":\s?(\d{3})\b')
_NODE = re.compile(  # how Node says that nobody was there
    r"\bE(?:CONNREFUSED|CONNRESET|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b|socket hang up"
    r"|fetch failed|^(?:Error: )?(?:Queue disposed|Aborted\b)"
)
_TIMED_OUT = re.compile(r"timed out|time-?out", re.IGNORECASE)
_COMMAND = re.compile(r"^Error: Command failed")  # of an exec provider, with all that it was given
_TRANSFORM = re.compile(r"^Error: Failed to transform response")  # quotes the whole answer
_MODEL = re.compile(r"(?!https?:|wss?:|exec:|file:|python:|package:|webhook)[a-z][\w-]*:(.+)")


def trial(placed: evaluation.PlacedRow, grade: RowGrade | None) -> Trial:
    """`grade`: the row's `verdict`."""
    row = placed.result
    if grade is None:
        return _failed_trial(placed)
    # out of promptfoo's own cache: its time is not the provider's
    cached = row.mapping("response").get("cached") is True
    return placed.suite.trial(
        case_for(placed),
        round=placed.round,
        passed=grade.passed,
        failures=grade.failures,
        scores=grade.scores,
        response=answer_of(row),
        latency_ms=None if cached else as_amount(row.data.get("latencyMs")),
    )


def verdict(row: evaluation.EvalRow) -> RowGrade | None:
    """What was said of its answer; None where none came."""
    if row.reason == evaluation.ERROR:
        return grade_unjudged(_first_line(row)) if _grading_broke(row) else None
    return grade_row(row)


def _failed_trial(placed: evaluation.PlacedRow) -> Trial:
    row = placed.result
    status, code = _whose(row)
    return placed.suite.trial(
        case_for(placed),
        round=placed.round,
        status=status,
        failures=(code,) if status == "agent_error" else (),
        scores=score_failed_answer(row) if status == "agent_error" else {},
        error=_first_line(row) or "failed without a message",
    )


def case_for(placed: evaluation.PlacedRow) -> Case:
    """The case's hash is of variables and assertions, not of the prompt, which is what changes."""
    row = placed.result
    prompt = row.data.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    mapped = map_assertions(row.asserts, row.vars, threshold=row.case.get("threshold") is not None)
    return placed.suite.case(
        placed.case_id,
        input=as_text(raw),
        keys=mapped.keys,
        category=string_or_none(row.metadata.get("category"), 200),
        tags=[tag[:200] for tag in as_strings(row.metadata.get("tags"))],
        digest=placed.digest,
        place=row.place,
    )


def answer_of(row: evaluation.EvalRow) -> Response:
    response = row.mapping("response")
    output = response.get("output")
    steps, faults = _steps(output)
    reason = response.get("finishReason")
    return Response(
        answer=as_text(output),
        steps=steps,
        usage=_usage(row, response),
        model=_model(row),
        finish_reason=string_or_none(reason, 80),
        trace_faults=faults,
    )


def _steps(output: Json) -> tuple[tuple[ToolCall, ...] | None, tuple[str, ...]]:
    """An output that is a list of calls, as OpenAI writes them."""
    calls = as_list(output)
    if not calls or not all(isinstance(call, dict) and "function" in call for call in calls):
        return None, ()
    try:
        return tuple(step(one, f"output[{n}]") for n, one in enumerate(calls)), ()
    except AgentFailure as error:
        return None, (tidy(str(error), 200),)


def _usage(row: evaluation.EvalRow, response: Mapping[str, Json]) -> Usage:
    """Zeros are what promptfoo writes where a provider says nothing."""
    tokens = response.get("tokenUsage")
    tokens = tokens if isinstance(tokens, dict) else row.mapping("tokenUsage")
    details = as_object(tokens.get("completionDetails"))
    told = any(as_amount(tokens.get(key)) for key in ("prompt", "completion"))
    cost = response.get("cost")
    total, cached = as_amount(tokens.get("total")), as_amount(tokens.get("cached"))
    return usage_of(
        total=total if total and not cached else None,  # of promptfoo's cache: nobody was asked
        input=tokens.get("prompt") if told else None,
        output=tokens.get("completion") if told else None,
        reasoning=details.get("reasoning") or None,
        cached=details.get("cacheReadInputTokens") or None,
        cost_usd=cost if as_amount(cost) is not None else row.data.get("cost") or None,
    )


def _model(row: evaluation.EvalRow) -> str | None:
    """`openai:chat:gpt-5` is gpt-5; of a command or an address nobody knows."""
    provider = row.data.get("provider")
    written = provider.get("id") if isinstance(provider, dict) else provider
    match = _MODEL.fullmatch(written) if isinstance(written, str) else None
    return match[1].rpartition(":")[2][:200] if match else None


def _grading_broke(row: evaluation.EvalRow) -> bool:
    """An error of an assertion, not of the provider: the answer is there, or the stack says so. The
    last lines alone are the stack; above them an agent could have written what it likes.
    """
    response = row.mapping("response")
    if response:
        return not response.get("error") and response.get("output") is not None
    if row.data.get("gradingResult"):
        return False
    last = str(row.data.get("error") or "").splitlines()[-_FRAMES:]
    return any(_FRAME.match(line) and _GRADING.search(line) for line in last)


def _whose(row: evaluation.EvalRow) -> tuple[TrialStatus, str]:
    said = str(row.data.get("error") or "")
    http = _http(row)
    if _COMMAND.match(said):
        return "agent_error", FAILED
    if _TRANSFORM.match(said):
        spoken = _STATUS.search(said)
        said, http = "", int(spoken[1]) if spoken else http
    line = _without_stack(said)
    if is_nobodys(line, http) or _NODE.search(line):
        return "infra_error", FAILED
    if said == "No output":
        return "agent_error", NO_OUTPUT
    return "agent_error", TIMEOUT if _TIMED_OUT.search(line) else FAILED


def _http(row: evaluation.EvalRow) -> int | None:
    for place in (row.mapping("response").get("metadata"), row.data.get("metadata")):
        status = as_object(as_object(place).get("http")).get("status")
        if isinstance(status, int) and 100 <= status <= 999:
            return status
    return None


def _without_stack(said: str) -> str:
    """The message: names in the stack, such as RateLimitRegistry, say nothing of the error."""
    lines = said[:20_000].splitlines()
    return "\n".join(line for line in lines if not _FRAME.match(line))


def _first_line(row: evaluation.EvalRow) -> str:
    return tidy(_without_stack(str(row.data.get("error") or "")), _SHOWN)


# ------------------------------------------------------------------------------------------- grades


SCORE = f"{evaluation.TOOL}.score"
BELOW = "below_threshold"
_SHOWN_REASON = 300  # characters of a reason
_SET = "assert-set"
# Assertions that are code of the user, and what promptfoo says where that code broke off.
_BROKEN = {
    "javascript": "Custom function threw error",
    "python": "Python code execution failed",
    "ruby": "Ruby code execution failed",
    "webhook": "Webhook error",
}
_CHECK = SchemaCheck(evaluation.COMPONENT)


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


def grade_row(row: evaluation.EvalRow) -> RowGrade:
    result = row.mapping("gradingResult")
    parts = tuple(_parts(as_list(result.get("componentResults")), row))
    named = as_object(row.data.get("namedScores") or result.get("namedScores"))
    threshold = row.case.get("threshold") is not None
    failures = [code for part in parts for code in part.failing()]
    broken = any(part.broken() for part in parts)
    failed = row.reason == evaluation.ASSERTION
    undecided = failed and broken and (threshold or not failures)
    passed = None if undecided else not failed
    whys = (part.why for part in _all(parts) if part.why)
    own = Score(
        values={} if undecided else {SCORE: row.data.get("score")},
        reason=_shorten_reason(result.get("reason")) if failed else "",
        unscored=next(whys, "an assertion ended in an error") if undecided else None,
    )
    return RowGrade(
        passed=passed,
        scores={evaluation.TOOL: own, **_scores(parts, named, failed=passed is False)},
        failures=tuple(dict.fromkeys(failures or [BELOW])) if passed is False else (),
        judges=_judges(parts),
    )


@lru_cache(maxsize=4096)
def _column(name: str) -> str:
    return metric_name(evaluation.TOOL, name)


def grade_unjudged(why: str) -> RowGrade:
    """The grade of an answer whose assertions broke off together."""
    own = Score(unscored=tidy(why, _SHOWN_REASON) or "an assertion ended in an error")
    return RowGrade(passed=None, scores={evaluation.TOOL: own})


def score_failed_answer(row: evaluation.EvalRow) -> dict[str, Score]:
    """What an answer that never came scores: 0 under each name that its test would have had."""
    names = {SCORE, *(_column(name) for name in _planned_names(row.asserts, row.vars))}
    return {evaluation.TOOL: Score(values=dict.fromkeys(sorted(names), 0.0))}


def _planned_names(asserts: Sequence[Json], known: Mapping[str, Json]) -> Iterator[str]:
    for assertion in as_objects(asserts):
        yield _name(assertion, known)
        yield from _planned_names(as_list(assertion.get("assert")), known)


def _name(assertion: Mapping[str, Json], known: Mapping[str, Json]) -> str:
    metric = assertion.get("metric")
    if isinstance(metric, str) and metric.strip():
        return evaluation.render_template(metric, known) or metric
    kind = assertion.get("type")
    return kind if isinstance(kind, str) else _SET


def _parts(written: Sequence[Json], row: evaluation.EvalRow) -> Iterator[AssertionResult]:
    """One by one; behind a set stand its assertions once more, which are left out."""
    skip = 0
    for item in written:
        if skip or not isinstance(item, dict):
            skip = max(0, skip - 1)
            continue
        inner = as_list(item.get("componentResults"))
        skip = len(inner)
        yield _part(item, inner, row)


def _part(
    one: Mapping[str, CheckedJson], inner: Sequence[Json], row: evaluation.EvalRow
) -> AssertionResult:
    metadata = as_object(one.get("metadata"))
    assertion = as_object(metadata.get("assertionSet")) | as_object(one.get("assertion"))
    kind = str(assertion.get("type") or _SET)
    reason = "" if one["pass"] else _shorten_reason(one.get("reason"))
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
        judge=_judge_model(assertion.get("provider")),
        inside=tuple(_parts([part for part in as_objects(inner) if _CHECK.fits(part)], row)),
    )


def _broke(kind: str, metadata: Mapping[str, Json], reason: str) -> bool:
    """Whether the grader failed, not the answer."""
    if metadata.get("graderError") is True:
        return True
    begins = _BROKEN.get(kind.removeprefix("not-"))
    return begins is not None and reason.startswith(begins)


def _shorten_reason(reason: Json) -> str:
    """Below it stands the stack, or the answer."""
    return tidy(str(reason or "").strip().partition("\n")[0], _SHOWN_REASON)


def _judge_model(provider: Json) -> str:
    if isinstance(provider, dict):
        provider = provider.get("id")
    return re.sub(r"\s+", " ", provider)[:100] if isinstance(provider, str) else ""


def _scores(
    parts: Sequence[AssertionResult], named: Mapping[str, CheckedJson], *, failed: bool
) -> dict[str, Score]:
    """Column -> score: the mean of those of one name by weight, as promptfoo has it."""
    groups: dict[str, list[AssertionResult]] = {}
    for part in _all(parts):
        groups.setdefault(_column(part.name), []).append(part)
    scores = {column: _one(column, group, failed=failed) for column, group in groups.items()}
    for name, value in named.items():
        column = _column(name)
        if column not in scores:
            scores[column] = Score(values={column: value})
    return scores


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
    judges: dict[str, frozenset[str]] = {}
    for part in _all(parts):
        if part.judge:
            column = _column(part.name)
            judges[column] = judges.get(column, frozenset()) | {part.judge}
    return judges
