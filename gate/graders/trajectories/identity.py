"""When two calls are identical, when they also had the same outcome, and when a call failed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Set

from gate.records import Json, ToolCall

DIGITS = 12  # hexadecimal, of a digest
_EXACT = 2**53  # whole floats below it are whole numbers
# Two such arguments count as equal: nobody writes them but to exhaust whoever compares them.
_TOO_DEEP = "(nested too deeply)"


def canonical_text(value: Json) -> str:
    """JSON text that is equal for equal data: sorted keys, no spaces, 1.0 as 1."""
    try:
        return _dump(_plain(value))
    except RecursionError:
        return _TOO_DEEP


def arguments_of(call: ToolCall) -> str:
    """The canonical text of the arguments; arguments that are not JSON unchanged."""
    if call.arguments is None and call.raw_arguments is not None:
        return call.raw_arguments
    return canonical_text(call.arguments or {})  # a call without arguments is one with none


def digest(text: str) -> str:
    """The first digits of the text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def call_mark(call: ToolCall) -> str:
    """A text that is equal for identical calls: the same tool with equal arguments."""
    return digest(f"{call.name}\n{arguments_of(call)}")


def outcome_mark(call: ToolCall) -> str:
    """A text that is equal for equal outcomes. All errors are equal, because their texts contain
    times and numbers.
    """
    if reports_error(call):
        return "failed"
    try:
        return digest(_dump(call.result))  # one tool writes its numbers in one way
    except RecursionError:
        return _TOO_DEEP


def reports_error(call: ToolCall) -> bool:
    """Whether the call has an error, or a result that is an object with an `error` or an error
    flag.
    """
    if call.error is not None:
        return True
    result = call.result
    if not isinstance(result, dict):
        return False
    flagged = any(result.get(key) is True for key in ("is_error", "isError"))
    return flagged or bool(result.get("error"))


def has_failed(call: ToolCall, tools: Set[str] = frozenset()) -> bool:
    """Whether a step failed: it reports an error, or it has no result and cannot have worked (its
    arguments are not JSON, or its tool is not among `tools`, if these are known).
    """
    if reports_error(call):
        return True
    not_json = call.arguments is None and bool(call.raw_arguments)
    stranger = bool(tools) and call.name not in tools
    return call.result is None and (not_json or stranger)


def _dump(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Json) -> Json:
    if isinstance(value, float):
        return int(value) if abs(value) < _EXACT and value.is_integer() else value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
