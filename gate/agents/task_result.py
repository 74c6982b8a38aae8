"""What `run_task` of a suite written as code returns, and what it comes to: an answer with the
suite's own verdict, a failure of the agent, or nobody's answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real

from gate.agents.http_client.reply import NOBODYS_FAULT, parse_status
from gate.agents.traces.faults import TraceFaults
from gate.agents.traces.spending import split
from gate.agents.wire.chat import is_nobodys_fault
from gate.errors import AgentFailure, InfraFailure, Transport
from gate.files.json_values import as_amount, is_integer
from gate.records import Json, OwnVerdict, Response, Usage
from gate.text.shortening import shorten

WRONG = "run_record_invalid"  # the failure code of a record that cannot be read
MOST_CODES = 50
CODE_LIMIT = 200  # characters
NOTE_LIMIT = 500
SAID_LIMIT = 300
_NO_WAY_THERE = re.compile(
    r"connection.{0,20}(refused|reset|aborted|closed|error)|refused|unreachable|no route to host"
    r"|getaddrinfo|nodename nor servname|name or service not known|name resolution"
    r"|\bssl\b|certificate|proxy|without response|max retries exceeded",
    re.IGNORECASE,
)
_PAGE = re.compile(r"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_LATE = re.compile(r"time[d ]{0,2}-?out", re.IGNORECASE)


@dataclass(slots=True)
class RunRecord:
    """One try of one task, in the fields that rows of the OpenAgent benchmark have. `ok` must be
    set; None is unknown. `suite` to `attempt` are for the caller's own use.
    """

    suite: str = ""
    task_id: str = ""
    category: str | None = None
    round: int = 0
    attempt: int = 0
    ok: bool | None = None
    latency_ms: float | None = None  # None: as long as the call took
    total_tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    response_status: int | None = None  # of HTTP
    api_error: str | None = None  # the request failed: why
    parse_error: str | None = None  # the server's answer could not be read: why
    validation_errors: list[str] = field(default_factory=list)  # failure codes
    response_text: str = ""
    evidence: dict[str, Json] = field(default_factory=dict)
    extra: dict[str, Json] = field(default_factory=dict)


def response_of(result: object, *, who: str, model: str | None, took_ms: float) -> Response:
    """The answer in a record: an object or mapping with the fields of RunRecord. `who` names the
    suite's code in messages, `model` is the one that was asked, `took_ms` the time of the call.

    Raises AgentFailure where the agent failed or the record makes no sense, InfraFailure where
    nobody answered.
    """
    try:
        return _response(_Record(result, who), model, took_ms)
    except (AgentFailure, InfraFailure):
        raise
    except Exception as error:  # of a property, or of an odd type's own methods
        message = f"{who} returned a record that cannot be read: {shorten(repr(error), 100)}"
        raise AgentFailure(message, code=WRONG) from error


def _response(record: _Record, model: str | None, took_ms: float) -> Response:
    text, latency = record.text("response_text"), record.number("latency_ms")
    latency = took_ms if latency is None else latency
    faults = TraceFaults()
    usage = _usage(record, faults)
    passed, codes = record.flag("ok"), record.codes()
    _raise_failure(record, latency, text)
    notes = record.notes()
    if unread := record.error_line("parse_error"):
        passed, codes = False, ("parse_error", *codes)
        notes.insert(0, f"parse_error: {unread}")
    elif passed and codes:
        notes.insert(0, f"passed with {', '.join(codes)}")
    failures, note = () if passed else codes, shorten("; ".join(notes), NOTE_LIMIT)
    return Response(
        answer=text,
        usage=usage,
        model=model,
        latency_ms=latency,
        own_verdict=OwnVerdict(passed=passed, failures=failures, note=note),
        trace_faults=faults.sentences(),
    )


def nobody_answered(message: str, status: int | None = None) -> bool:
    """Whether an error is nobody's answer (docs/semantics.md 4): no way to the server, a status
    that says so, keys or quota.
    """
    status = parse_status(message) if status is None else status
    if status in NOBODYS_FAULT or is_nobodys_fault(message):
        return True
    return status is None and bool(_NO_WAY_THERE.search(message))


def _raise_failure(record: _Record, latency_ms: float, text: str) -> None:
    """Raises what the record says of a request that came to no answer."""
    status = record.status()
    message = record.error_line("api_error")
    if not message and status is not None and status >= 400 and not record.flag("ok"):
        message = f"HTTP {status}"
    # A gateway that gave up says so in words of time.
    status = parse_status(message) if status is None else status
    late = status not in NOBODYS_FAULT and bool(_LATE.search(message))
    transport: Transport | None = "5xx" if (status or 0) >= 500 else None
    if message and not late and nobody_answered(message, status):
        raise InfraFailure(message, code="api_error", transport=transport)
    if message:
        raise AgentFailure(
            message, timed_out=late, code="api_error", latency_ms=latency_ms, transport=transport
        )
    page = _PAGE.match(text) is not None
    if (page or not text.strip()) and (unread := record.error_line("parse_error")):
        kind: Transport | None = "html" if page else None
        raise AgentFailure(unread, code="parse_error", latency_ms=latency_ms, transport=kind)


def _usage(record: _Record, faults: TraceFaults) -> Usage:
    total, read = record.count("total_tokens", faults), record.count("prompt_tokens", faults)
    return Usage(**split(read, record.count("completion_tokens", faults), total))


class _Record:
    """The fields of whatever was returned; a wrong one raises AgentFailure that names it."""

    def __init__(self, result: object, who: str) -> None:
        self._found, self._who = result, who
        if not isinstance(result, Mapping) and not hasattr(result, "ok"):
            kind = "nothing" if result is None else f"a {type(result).__name__}"
            raise self._wrong(f"returned {kind}: return a RunRecord, or a mapping with its fields")

    def flag(self, name: str) -> bool:
        value = self._get(name)
        if value is None:
            raise self._wrong(f"returned a record without '{name}': set it to True or False")
        if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
            raise self._wrong(f"returned {name} = {value!r:.60}: True or False is needed")
        return bool(value)

    def number(self, name: str) -> float | None:
        """Finite and not negative."""
        value = self._get(name)
        if value is None:
            return None
        number = as_amount(_as_python(value))
        if number is None:
            raise self._wrong(f"returned {name} = {value!r:.60}: a number from 0 up is needed")
        return number

    def count(self, name: str, faults: TraceFaults) -> int | None:
        """Unknown, and told, where it is no number of tokens: a wrong bill is no wrong answer."""
        number = faults.number(_as_python(self._get(name)), name)
        return None if number is None else int(number)

    def status(self) -> int | None:
        """Something that is no number is no status."""
        value = self._get("response_status")
        return value if is_integer(value) else None

    def text(self, name: str) -> str:
        value = self._get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(f"returned {name} of type {type(value).__name__}: a text is needed")
        return value

    def error_line(self, name: str) -> str:
        """An error in one line; empty where there is none. True alone is an error without words."""
        value = self._get(name)
        if value is None or value is False or value == "":
            return ""
        return name if value is True else shorten(str(value), SAID_LIMIT) or name

    def codes(self) -> tuple[str, ...]:
        value = self._get("validation_errors")
        if value is None:
            return ()
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, (list, tuple)):
            kind = type(value).__name__
            raise self._wrong(f"returned validation_errors of type {kind}: a list is needed")
        shown = (shorten(str(code), CODE_LIMIT) for code in listed[:MOST_CODES])
        return tuple(dict.fromkeys(filter(None, shown)))

    def notes(self) -> list[str]:
        """What a reader of the report may want to know beside the verdict."""
        values = ((name, self._get(name)) for name in ("evidence", "extra"))
        return [
            f"{name}: {_format_value(value)}"
            for name, value in values
            if value not in (None, {}, "")
        ]

    def _get(self, name: str) -> object:
        if isinstance(self._found, Mapping):
            return self._found.get(name)
        return getattr(self._found, name, None)

    def _wrong(self, what: str) -> AgentFailure:
        return AgentFailure(f"{self._who} {what}", code=WRONG)


def _as_python(value: object) -> object:
    """A number of numpy's as Python has it; anything else as it is."""
    return float(value) if not isinstance(value, int) and isinstance(value, Real) else value


def _format_value(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda one: f"<{type(one).__name__}>")
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"
