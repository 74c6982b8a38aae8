"""Numbers of tokens and dollars that can be none: unknown, with a note, and no failure of the
agent, whatever protocol, trace or recording they come by.
"""

import json
import math

import pytest

from gate.agents.http_client.reply import HttpReply
from gate.agents.protocols.anthropic import Anthropic
from gate.agents.protocols.http import AnswerPaths, HttpAgent
from gate.agents.protocols.openai import OpenAI
from gate.agents.protocols.replay import Replay
from gate.agents.recordings.answers import recording_line
from gate.agents.task_result import RunRecord, response_of
from gate.agents.traces.reading import read_trace
from gate.agents.wire import answer
from gate.agents.wire import responses as responses_wire
from gate.plugins import World
from gate.records import Attempt, Case, Response, Trial, Usage
from gate.store.trial_rows import row_of

NAN, ENDLESS = float("nan"), 10**5000
ABSURD = [NAN, math.inf, -1, 1e300, "many", "12", True, [5], {"n": 5}]
CASE = Case(id="c1", input="q", keys={})
NOTE = "it counts as unknown"


def reply(data):
    return HttpReply(
        status=200,
        headers={"content-type": "application/json"},
        body=data if isinstance(data, bytes) else json.dumps(data).encode(),
        address="http://x",
    )


def row(response):
    attempt = Attempt(n=1, status="completed", latency_ms=1.0, response=response)
    trial = Trial(
        suite="s", case=CASE, round=1, attempts=(attempt,), started_at="2026-01-01", judged=0
    )
    return row_of(trial, cost_usd=None, on_agent_error={}, specs={})


def chat(usage):
    data = {"choices": [{"message": {"content": "x"}}], "usage": usage}
    return OpenAI(base_url="http://x")._read_chat(reply(data))


def responses(usage):
    said = [{"type": "message", "role": "assistant", "content": "x"}]
    data = {"object": "response", "output": said, "usage": usage}
    return responses_wire.read(reply(data))


def messages(usage):
    data = {"content": [{"type": "text", "text": "x"}], "usage": usage}
    return Anthropic(model="m")._read_reply(reply(data))


def plain(usage):
    return answer.response({"answer": "x", "usage": usage})


def by_paths(usage):
    paths = AnswerPaths(answer="a", input_tokens="u.input_tokens", output_tokens="u.output_tokens")
    return HttpAgent(url="http://x", response=paths)._read_reply(
        reply({"a": "x", "u": usage}), "agent"
    )


def traced(usage):
    return answer.response([{"role": "assistant", "content": "x", "usage": usage}])


@pytest.mark.parametrize("absurd", ABSURD)
@pytest.mark.parametrize("ask", [chat, responses, messages, plain, by_paths, traced])
def test_an_absurd_number_of_tokens_is_unknown_and_noted(ask, absurd):
    found = ask({"input_tokens": absurd, "output_tokens": 7})
    assert found.answer == "x"
    assert (found.usage.input_tokens, found.usage.output_tokens) == (None, 7)
    (note,) = row(found)["trace_faults"]
    assert NOTE in note
    assert "input_tokens" in note


@pytest.mark.parametrize("absurd", ABSURD)
def test_an_absurd_number_of_turns_is_unknown_and_noted(absurd):
    body = {"choices": [{"message": {"content": "x"}}], "turns": absurd}
    for found in (
        answer.response({"answer": "x", "turns": absurd}),
        OpenAI(base_url="http://x")._read_chat(reply(body)),
    ):
        assert (found.answer, found.turns) == ("x", None)
        assert NOTE in found.trace_faults[0]


@pytest.mark.parametrize("absurd", [5, "lots", [1], True])
@pytest.mark.parametrize("ask", [chat, responses, messages, plain, traced])
def test_a_usage_that_is_no_object_is_unknown_and_noted(ask, absurd):
    found = ask(absurd)
    assert (found.answer, found.usage) == ("x", Usage())
    assert NOTE in row(found)["trace_faults"][0]


@pytest.mark.parametrize("absurd", ABSURD)
def test_an_absurd_cost_is_unknown_and_noted(absurd):
    for data in ({"cost_usd": absurd}, {"usage": {"cost": absurd}}):
        found = answer.response({"answer": "x", **data})
        assert math.isnan(found.usage.cost_usd)
        assert "not an amount of money" in row(found)["trace_faults"][-1]


def test_a_number_with_more_digits_than_python_reads_is_absurd_too():
    said = b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": %d1}}'
    found = OpenAI(base_url="http://x")._read_chat(reply(said.replace(b"%d", b"9" * 5000)))
    assert (found.answer, found.usage.input_tokens) == ("x", None)
    assert NOTE in found.trace_faults[0]


def test_a_span_with_an_absurd_number_of_tokens_is_read():
    span = {
        **{"traceId": "t", "spanId": "a", "name": "chat", "parentSpanId": ""},
        **{"startTimeUnixNano": "1", "endTimeUnixNano": "2"},
        "attributes": [
            {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
            {"key": "gen_ai.usage.input_tokens", "value": {"stringValue": "many"}},
        ],
    }
    found = read_trace([span])
    assert found.usage.input_tokens is None
    assert any(NOTE in fault for fault in found.faults)


@pytest.mark.parametrize("absurd", [NAN, -1, 1e300, "many", True])
def test_a_record_of_a_suite_with_absurd_tokens_keeps_its_verdict(absurd):
    record = RunRecord(ok=True, total_tokens=absurd, completion_tokens=3)
    found = response_of(record, who="run_task", model=None, took_ms=1.0)
    assert found.own_verdict.passed is True
    assert (found.usage.input_tokens, found.usage.output_tokens) == (None, 3)
    assert NOTE in found.trace_faults[0]


def replayed(tmp_path, line):
    (tmp_path / "a.jsonl").write_text(line + "\n", encoding="utf-8")
    return Replay(file="a.jsonl").connect(World(env={}, root=tmp_path)).ask(CASE, timeout_s=1)


@pytest.mark.parametrize("absurd", ["NaN", "-1", "1e400", "9" * 5000, '"many"', "true"])
def test_a_recording_with_absurd_tokens_is_replayed(tmp_path, absurd):
    line = recording_line(CASE, 1, Response(answer="x", usage=Usage(input_tokens=4711)), 1.0)
    found = replayed(tmp_path, line.replace("4711", absurd))
    assert (found.answer, found.usage.input_tokens) == ("x", None)
    assert NOTE in found.trace_faults[0]


def test_an_absurd_cost_is_still_unknown_when_it_is_replayed(tmp_path):
    given = answer.response({"answer": "x", "cost_usd": NAN})
    found = replayed(tmp_path, recording_line(CASE, 1, given, 1.0))
    assert math.isnan(found.usage.cost_usd)
