"""A row of recorded answers: a line that `--record` wrote, or an answer object that names its case.

Rows are hostile: whatever is wrong with one is a ValueError with a sentence, never a crash.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gate.agents.recordings.answers import (
    UNKNOWN,
    RecordedAttempt,
    check_line,
    repair_usage,
)
from gate.agents.recordings.run_end import KEY, RunEnd
from gate.agents.traces.values import first, is_amount, parse
from gate.agents.wire import answer
from gate.errors import AgentFailure, InfraFailure
from gate.files.json_values import is_integer
from gate.files.record_lines import MOST_BYTES
from gate.records import MOST_ROUNDS, Json, Response
from gate.records.codec import from_json

IDS = ("case_id", "id")  # the first that is there names the case
TEXTS = (*answer.ANSWERS, "response", "input", "question")  # keys whose text may look like JSON
_OF_THE_ROW = {*IDS, "round", "suite", "latency_ms", "response"}
_RECORDED = "input_digest"  # a key that every line of `--record` has, and no other row
# How nearly every row begins whose id and round stand first: nothing else of it has to be parsed.
_BEGIN = re.compile(
    rb'\{ ?"case_id": ?"([^"\\\x00-\x1f\x7f-\xff]+)", ?'
    rb'(?:"input_digest": ?"\w*", ?)?"round": ?(\d{1,4}),'
)
_NOT_QUICK = (b'"infra_error"', b'"suite"')


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKey:
    """What a row is about. `round`: None where the row does not say it."""

    case_id: str
    round: int | None = None
    suite: str | None = None
    answered: bool = True  # False: it tells that nobody answered, and another try may follow


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRow:
    """A row, read. `latency_ms`: None where the row does not say it."""

    key: RowKey
    outcome: Response | InfraFailure | AgentFailure
    latency_ms: float | None
    input_digest: str = UNKNOWN  # of the question that was asked then


def row_key(line: bytes) -> RowKey | None:
    """What the row is about, without reading the answer where the row begins with it; None for the
    line with which a recording ends. Raises ValueError.
    """
    begin = _BEGIN.match(line)
    if begin is not None and not any(word in line for word in _NOT_QUICK):
        case_id, number = begin.groups()
        return RowKey(case_id=case_id.decode(), round=_round(int(number)))
    data = _parse(line)
    return None if data.keys() == {KEY} else _key(data)


def read_row(line: bytes) -> AnswerRow:
    """The whole row. Raises ValueError."""
    data = _parse(line)
    key = _key(data)
    if _RECORDED in data:
        return _recorded(data, key)
    latency = data.get("latency_ms")
    if latency is not None and not is_amount(latency):
        raise ValueError("latency_ms: is not a number of milliseconds")
    try:
        outcome = _failure(data) or answer.response(_answer_object(data))
    except AgentFailure as failure:
        raise ValueError(str(failure)) from None
    return AnswerRow(
        key=key, outcome=outcome, latency_ms=None if latency is None else float(latency)
    )


def _parse(line: bytes) -> dict[str, Json]:
    if len(line) >= MOST_BYTES:
        raise ValueError(f"longer than {MOST_BYTES / 1e6:g} MB")
    try:
        data = parse(line)
    except ValueError as error:
        why = getattr(error, "msg", None) or str(error)
        raise ValueError(f"not JSON ({why})") from None
    if not isinstance(data, dict):
        kind = "a list" if isinstance(data, list) else "a plain value"
        raise ValueError(f"{kind}, not an object: a line is one answer")
    return data


def _key(data: Mapping[str, Json]) -> RowKey:
    case_id, suite = first(data, *IDS), data.get("suite")
    if is_integer(case_id):
        case_id = str(case_id)
    if not isinstance(case_id, str) or not case_id:
        raise ValueError("has no case_id (or id): the id of its case")
    if not (suite is None or isinstance(suite, str)):
        raise ValueError("suite: is not a text")
    return RowKey(
        case_id=case_id,
        round=_round(data.get("round")),
        suite=suite,
        answered=data.get("infra_error") is None,
    )


def _round(value: Json) -> int | None:
    if value is None:
        return None
    if not is_integer(value) or not 1 <= value <= MOST_ROUNDS:
        raise ValueError(f"round: is not a whole number from 1 to {MOST_ROUNDS:,}")
    return value


def _recorded(data: dict[str, Json], key: RowKey) -> AnswerRow:
    line = check_line(repair_usage({k: v for k, v in data.items() if k != "suite"}))
    if isinstance(line, RunEnd):
        raise ValueError("is the end of a recording")
    attempt = from_json(RecordedAttempt, line)
    return AnswerRow(
        key=key,
        outcome=attempt.outcome(),
        latency_ms=attempt.latency_ms,
        input_digest=attempt.input_digest,
    )


def _failure(data: Mapping[str, Json]) -> InfraFailure | AgentFailure | None:
    """What a row without an answer says of why there is none."""
    if (nobody := data.get("infra_error")) is not None:
        return InfraFailure(_words(nobody, "infra_error"))
    failed = first(data, "agent_error", "error")
    has_answer = first(data, *answer.ANSWERS, "response") is not None
    if failed in (None, "", False) or (has_answer and data.get("agent_error") is None):
        return None
    late = data.get("timed_out") is True
    return AgentFailure(_words(failed, "error"), timed_out=late, done=dict(data))


def _words(value: Json, key: str) -> str:
    """An error's text, or the message of an error object."""
    told = first(value, "message", "type") if isinstance(value, dict) else value
    if not isinstance(told, str):
        raise ValueError(f"{key}: is not a text")
    return told


def _answer_object(data: Mapping[str, Json]) -> dict[str, Json]:
    """The row as an agent would have answered: what stands under `response` wins."""
    beside = {key: value for key, value in data.items() if key not in _OF_THE_ROW}
    response = data.get("response")
    if isinstance(response, dict):
        return {**beside, **response}
    return beside if response is None else {**beside, answer.ANSWERS[0]: response}
