"""What a judge sees of a case and an answer. Every piece is fenced and limited in length."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from gate.graders.rubrics.rubric import ANSWER, CONTEXT, LOGS, QUESTION, STEPS
from gate.records import Case, Json, Response, ServerLogs, ToolCall
from gate.records.codec import to_json
from gate.text.prompt_fence import LIMIT, fence_text

CONTEXT_LIMIT = 2 * LIMIT  # characters
DOCUMENTS, DOCUMENT_LIMIT = 12, 2_000  # how many, and characters of one
FIRST_STEPS, LAST_STEPS, PART_LIMIT = 40, 10, 600  # characters of arguments, a result, an error
LIMITS = (LIMIT, CONTEXT_LIMIT, DOCUMENTS, DOCUMENT_LIMIT, FIRST_STEPS, LAST_STEPS, PART_LIMIT)


def piece(name: str, case: Case, response: Response) -> str:
    """One thing that a rubric shows: `question`, `answer`, `context`, `steps`, or a case key."""
    if name == QUESTION:
        return fence_text(name, as_text(case.input))
    if name == ANSWER:
        return fence_text(name, response.answer)
    if name == CONTEXT:
        return _context(case, response)
    if name == STEPS:
        return _steps(response.steps or (), response.omitted_steps)
    if name == LOGS:
        return _format_logged_calls(response.server_logs)
    value = case.keys.get(name)
    return f"There is no {name}." if is_empty(value) else fence_text(name, as_text(value))


def is_empty(value: Json) -> bool:
    """Whether a case key does not apply: it is null, white space or an empty list or mapping."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or value == [] or value == {}


def as_text(value: Json) -> str:
    """A text unchanged, messages and lists with one item on each line, other data as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return "\n".join(_json(item) for item in value)
    return _json(value)


def _context(case: Case, response: Response) -> str:
    """That of the case; else what the agent says that it had, else the texts that it retrieved."""
    case_context = case.keys.get(CONTEXT)
    if (
        isinstance(case_context, list)
        and case_context
        and all(isinstance(text, str) for text in case_context)
    ):
        return _documents(case_context)
    if not is_empty(case_context):
        return fence_text(CONTEXT, as_text(case_context), limit=CONTEXT_LIMIT)
    if response.context is not None and response.context.strip():
        return fence_text(CONTEXT, response.context, limit=CONTEXT_LIMIT)
    texts = [document.text for document in response.retrieved or () if document.text]
    return _documents(texts) if texts else f"There is no {CONTEXT}."


def _documents(texts: Sequence[str]) -> str:
    pieces = [
        fence_text(f"{CONTEXT}, document {n} of {len(texts)}", text, limit=DOCUMENT_LIMIT)
        for n, text in enumerate(texts[:DOCUMENTS], 1)
    ]
    return "\n\n".join(pieces)


def _steps(steps: Sequence[ToolCall], omitted: int) -> str:
    """One line of JSON a step, so that no result can pass for another step. `omitted` more were
    taken after them.
    """
    if not steps and not omitted:
        return "The agent took no steps."
    numbered = list(enumerate(steps, 1))
    shown = numbered
    if len(numbered) > FIRST_STEPS + LAST_STEPS:
        shown = numbered[:FIRST_STEPS] + numbered[-LAST_STEPS:]
    label = f"{STEPS}, {len(shown)} of {len(steps) + omitted}"
    return fence_text(label, "\n".join(_lines(shown)), limit=CONTEXT_LIMIT)


def _format_logged_calls(logs: ServerLogs | None) -> str:
    """The calls that the server logged while it answered, a line of JSON each."""
    if logs is None or logs.calls is None:
        return "No server log shows which tools were called."
    if not logs.calls:
        return "The server logged that no tool was called."
    calls = logs.calls[: FIRST_STEPS + LAST_STEPS]
    rows = ({"tool": call.name[:100], "outcome": call.outcome} for call in calls)
    others = "" if logs.alone else ", other requests' among them"
    label = f"{LOGS}, {len(calls)} of {len(logs.calls)} calls{others}"
    return fence_text(label, "\n".join(json.dumps(row, ensure_ascii=False) for row in rows))


def _lines(numbered: Iterable[tuple[int, ToolCall]]) -> Iterable[str]:
    for n, call in numbered:
        arguments = call.raw_arguments if call.arguments is None else call.arguments
        parts = {"arguments": arguments, "result": call.result, "error": call.error}
        parts_present = {name: _short(part) for name, part in parts.items() if part is not None}
        yield json.dumps({"step": n, "tool": call.name[:100], **parts_present}, ensure_ascii=False)


def _short(part: Json) -> str:
    text = part if isinstance(part, str) else _json(part)
    cut = len(text) - PART_LIMIT
    return text if cut <= 0 else f"{text[:PART_LIMIT]} ... ({cut} more characters)"


def _json(value: Json) -> str:
    try:
        return json.dumps(to_json(value), ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):  # nested deeper than any judge reads
        return "(data that cannot be shown)"
