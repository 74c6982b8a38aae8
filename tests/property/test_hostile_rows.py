"""Rows of recorded answers are hostile: whatever they hold, one is read or refused in words."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gate.agents.recordings.answer_rows import AnswerRow, read_row, row_key
from tests.support.any_json import ANY_JSON

KEYS = (
    *("case_id", "id", "round", "suite", "latency_ms", "input_digest", "response", "answer"),
    *("output", "text", "retrieved", "context", "steps", "tool_calls", "messages", "trace"),
    *("usage", "cost_usd", "model", "finish_reason", "safety_violations", "state", "turns"),
    *("error", "agent_error", "infra_error", "timed_out", "before", "code", "transport", "ended"),
)
VALUES = ANY_JSON | st.sampled_from(["x", 1, 1.5, True, None, [], {}, [{"name": "t"}]])


def read(line):
    try:
        row_key(line)
        return read_row(line)
    except ValueError:
        return None


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES), st.booleans())
def test_any_object_is_read_or_refused(row, named):
    line = json.dumps({**row, **({"case_id": "c"} if named else {})}).encode()
    found = read(line)
    assert found is None or isinstance(found, AnswerRow)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_any_object_under_response_is_read_or_refused(row):
    read(json.dumps({"case_id": "c", "response": row}).encode())
    recorded = {"case_id": "c", "input_digest": "", "round": 1, "latency_ms": 1.0}
    read(json.dumps({**recorded, "response": row}).encode())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data):
    read(data)
    read(b'{"case_id": "c", "round": 1, "answer": "' + data + b'"}')
