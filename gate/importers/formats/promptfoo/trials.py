"""A row of promptfoo as a trial: whose failure it was, what was answered, at what cost."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gate.agents.traces.plain import step
from gate.errors import AgentFailure
from gate.files.json_values import (
    as_amount,
    as_list,
    as_object,
    as_strings,
    string_or_none,
)
from gate.importers.formats.promptfoo.assertions import map_assertions
from gate.importers.formats.promptfoo.evaluation import ERROR, TOOL, EvalRow
from gate.importers.formats.promptfoo.grading import (
    RowGrade,
    grade_row,
    grade_unjudged,
    score_failed_answer,
)
from gate.importers.formats.promptfoo.naming import PlacedRow
from gate.importers.formats.promptfoo.templates import as_text
from gate.importers.trials.build import case_of, trial_of, usage_of
from gate.importers.trials.nobodys_fault import is_nobodys
from gate.records import Case, Json, Response, ToolCall, Trial, TrialStatus, Usage
from gate.text.escaping import one_line

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


def trial(placed: PlacedRow) -> Trial:
    row = placed.row
    case = case_for(row, placed.suite, placed.case_id, placed.digest)
    if row.reason == ERROR and not _grading_broke(row):
        return _failed_trial(placed, case)
    found = grade_unjudged(_first_line(row)) if row.reason == ERROR else grade_row(row)
    # out of promptfoo's own cache: its time is not the provider's
    cached = row.mapping("response").get("cached") is True
    return trial_of(
        TOOL,
        placed.suite,
        case,
        round=placed.round,
        passed=found.passed,
        failures=found.failures,
        scores=found.scores,
        response=answer_of(row),
        latency_ms=None if cached else as_amount(row.data.get("latencyMs")),
    )


def verdict(row: EvalRow) -> RowGrade | None:
    """What was said of its answer; None where none came."""
    if row.reason == ERROR:
        return grade_unjudged(_first_line(row)) if _grading_broke(row) else None
    return grade_row(row)


def _failed_trial(placed: PlacedRow, case: Case) -> Trial:
    row = placed.row
    status, code = _whose(row)
    return trial_of(
        TOOL,
        placed.suite,
        case,
        round=placed.round,
        status=status,
        failures=(code,) if status == "agent_error" else (),
        scores=score_failed_answer(row) if status == "agent_error" else {},
        error=_first_line(row) or "failed without a message",
    )


def case_for(row: EvalRow, suite: str, case_id: str, digest: str) -> Case:
    """The case's hash is of variables and assertions, not of the prompt, which is what changes."""
    prompt = row.data.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    found = map_assertions(row.asserts, row.vars, threshold=row.case.get("threshold") is not None)
    return case_of(
        TOOL,
        suite,
        case_id,
        input=as_text(raw),
        keys=found.keys,
        category=string_or_none(row.metadata.get("category"), 200),
        tags=[tag[:200] for tag in as_strings(row.metadata.get("tags"))],
        digest=digest,
        place=row.place,
    )


def answer_of(row: EvalRow) -> Response:
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
    if not calls or not all(isinstance(one, dict) and "function" in one for one in calls):
        return None, ()
    try:
        return tuple(step(one, f"output[{n}]") for n, one in enumerate(calls)), ()
    except AgentFailure as error:
        return None, (one_line(str(error), 200),)


def _usage(row: EvalRow, response: Mapping[str, Json]) -> Usage:
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


def _model(row: EvalRow) -> str | None:
    """`openai:chat:gpt-5` is gpt-5; of a command or an address nobody knows."""
    provider = row.data.get("provider")
    written = provider.get("id") if isinstance(provider, dict) else provider
    found = _MODEL.fullmatch(written) if isinstance(written, str) else None
    return found[1].rpartition(":")[2][:200] if found else None


# ------------------------------------------------------------------------------------ whose failure


def _grading_broke(row: EvalRow) -> bool:
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


def _whose(row: EvalRow) -> tuple[TrialStatus, str]:
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


def _http(row: EvalRow) -> int | None:
    for place in (row.mapping("response").get("metadata"), row.data.get("metadata")):
        status = as_object(as_object(place).get("http")).get("status")
        if isinstance(status, int) and 100 <= status <= 999:
            return status
    return None


def _without_stack(said: str) -> str:
    """The message: names in the stack, such as RateLimitRegistry, say nothing of the error."""
    lines = said[:20_000].splitlines()
    return "\n".join(line for line in lines if not _FRAME.match(line))


def _first_line(row: EvalRow) -> str:
    return one_line(_without_stack(str(row.data.get("error") or "")), _SHOWN)
