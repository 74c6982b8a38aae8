"""One row of recorded answers, in every form that is read."""

import json
import re

import pytest

from gate.agents.recordings.answer_rows import AnswerRow, RowKey, read_row, row_key
from gate.agents.recordings.answers import recording_line
from gate.agents.recordings.run_end import RunEnd, run_end_line
from gate.errors import AgentFailure, InfraFailure
from gate.records import Case, Document, Response, ToolCall, Usage

CASE = Case(id="c1", input="what?", keys={"id": "c1", "input": "what?"})


def line(**row):
    return json.dumps(row).encode()


def test_what_record_writes_is_read_as_it_was():
    said = Response(answer="42", usage=Usage(input_tokens=3), steps=(ToolCall(name="t"),))
    row = read_row(recording_line(CASE, 2, said, 12.5).encode())
    assert row.key == RowKey(case_id="c1", round=2)
    assert row.outcome == Response(
        answer="42", usage=Usage(input_tokens=3), steps=(ToolCall(name="t"),), latency_ms=12.5
    )
    assert row.latency_ms == 12.5
    assert len(row.input_digest) == 16


@pytest.mark.parametrize("failure", [InfraFailure("refused"), AgentFailure("x", timed_out=True)])
def test_failures_that_were_recorded_are_failures(failure):
    row = read_row(recording_line(CASE, 1, failure, 7.0).encode())
    assert type(row.outcome) is type(failure)
    assert str(row.outcome) == str(failure)
    assert row.key.answered is isinstance(failure, AgentFailure)
    assert getattr(row.outcome, "timed_out", None) == getattr(failure, "timed_out", None)


def test_the_end_of_a_recording_is_no_row():
    end = RunEnd(session="s", seed="", suites={})
    assert row_key(run_end_line(end).encode()) is None


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ({"answer": "a"}, Response(answer="a")),
        ({"output": {"b": 1}}, Response(answer='{"b": 1}')),
        ({"response": "a", "question": "q"}, Response(answer="a")),
        ({"response": {"answer": "a"}, "retrieved": ["d1"]}, "retrieved"),
        ({"answer": "a", "tool_calls": [{"name": "t", "args": {"n": 1}}]}, "steps"),
        ({"answer": "a", "input_tokens": 3, "output_tokens": 4}, "usage"),
        (
            {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]},
            1,
        ),
        ({"response": {"choices": [{"message": {"role": "assistant", "content": "a"}}]}}, 1),
    ],
)
def test_plain_rows_are_answer_objects(row, wanted):
    read = read_row(line(case_id="c1", **row)).outcome
    parts = {
        "retrieved": ("retrieved", (Document(id="d1"),)),
        "steps": ("steps", (ToolCall(name="t", arguments={"n": 1}),)),
        "usage": ("usage", Usage(input_tokens=3, output_tokens=4)),
        1: ("answer", "a"),
    }
    if isinstance(wanted, Response):
        assert read == wanted
    else:
        name, value = parts[wanted]
        assert getattr(read, name) == value


def test_errors_of_plain_rows():
    assert str(read_row(line(id="c", error="boom")).outcome) == "boom"
    assert str(read_row(line(id="c", error={"message": "boom"})).outcome) == "boom"
    late = read_row(line(id="c", agent_error="late", timed_out=True)).outcome
    assert isinstance(late, AgentFailure)
    assert late.timed_out
    nobody = read_row(line(id="c", infra_error="refused"))
    assert isinstance(nobody.outcome, InfraFailure)
    assert not nobody.key.answered
    # beside an answer it is somebody's note
    assert isinstance(read_row(line(id="c", answer="a", error="minor")).outcome, Response)


def test_an_unknown_latency_stays_unknown():
    assert read_row(line(id="c", answer="a")).latency_ms is None
    assert read_row(line(id="c", answer="a", latency_ms=3)).latency_ms == 3.0


def test_who_the_row_is_about():
    assert row_key(line(id=7, answer="")) == RowKey(case_id="7")
    assert row_key(line(id="x", case_id="y", round=3)) == RowKey(case_id="y", round=3)
    assert row_key(line(id="x", suite="s")) == RowKey(case_id="x", suite="s")


@pytest.mark.parametrize(
    "row",
    [
        b'{"case_id": "c1", "round": 2, "answer": "a"}',
        b'{"case_id":"c1","round":2,"answer":"a"}',
        b'{"answer": "a", "round": 2, "case_id": "c1"}',
        b'{"case_id": "c\\u0031", "round": 2, "answer": "a"}',
    ],
)
def test_the_key_is_the_same_however_it_is_written(row):
    assert row_key(row) == RowKey(case_id="c1", round=2)
    assert read_row(row) == AnswerRow(
        key=RowKey(case_id="c1", round=2), outcome=Response(answer="a"), latency_ms=None
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 1000, "not JSON"),
        (b'{"id": "c", "answer": "' + b"x" * 20_000_000, "longer than 20 MB"),
        (b"[]", "a list, not an object"),
        (b"3", "a plain value, not an object"),
        (line(answer="a"), "has no case_id"),
        (line(id="", answer="a"), "has no case_id"),
        (line(id=True, answer="a"), "has no case_id"),
        (line(id="c", round=0, answer="a"), "round: is not a whole number from 1 to 10,000"),
        (line(id="c", round=1.5, answer="a"), "round: is not"),
        (line(case_id="c", round=0, answer="a"), "round: is not"),
        (line(id="c", suite=3, answer="a"), "suite: is not a text"),
        (line(id="c", a="b"), "one of the keys answer, output, text; it has the key a"),
        (line(id="c", answer="a", retrieved=3), "retrieved is not a list"),
        (line(id="c", answer="a", latency_ms=-1), "latency_ms: is not a number"),
        (line(id="c", error=[1]), "error: is not a text"),
        (line(case_id="c", input_digest="", round=1, latency_ms=1.0), "needs one of response"),
        (line(case_id="c", input_digest="", round=1, latency_ms="x", response={}), "latency_ms"),
    ],
)
def test_whatever_is_wrong_is_said(row, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        read_row(row)
