"""Spans as the SDK's `to_json` writes them, rows of OpenInference's stores, bare attributes."""

import json

import pytest

from gate.agents.traces.otel_sdk import as_otlp, flat
from gate.agents.traces.reading import read_trace
from gate.errors import AgentFailure
from gate.records import Document, Usage

FIRST = "llm.output_messages.0.message"
CALL = f"{FIRST}.tool_calls.0.tool_call"
MODEL = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "small",
    f"{CALL}.id": "k1",
    f"{CALL}.function.name": "look_up",
    f"{CALL}.function.arguments": '{"town": "Ulm"}',
    "llm.token_count.prompt": 12,
    "llm.token_count.completion": 3,
}
TOOL = {
    "openinference.span.kind": "TOOL",
    "tool.name": "look_up",
    "input.value": '{"town": "Ulm"}',
    "output.value": "no such town",
}
FOUND = {
    "openinference.span.kind": "RETRIEVER",
    "retrieval.documents.0.document.id": "d1",
    "retrieval.documents.0.document.score": 0.5,
}
AGENT = {"openinference.span.kind": "AGENT", "output.value": "Nobody knows."}


def written(name, attributes, second, **more):
    return {
        "name": name,
        "context": {"trace_id": "0x" + "ab" * 16, "span_id": f"0x{name:0>16}", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None if attributes is AGENT else f"0x{'a':0>16}",
        "start_time": f"2026-05-12T14:30:{second:02}.100000Z",
        "end_time": f"2026-05-12T14:30:{second:02}.350000Z",
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "desk"}, "schema_url": ""},
        **more,
    }


BROKE = {"status": {"status_code": "ERROR", "description": "KeyError: 'Ulm'"}}
# As they end, which is not how they began.
SPANS = [
    written("b", MODEL, 2),
    written("c", TOOL, 3, **BROKE),
    written("d", FOUND, 4),
    written("a", AGENT, 1),
]
WAYS = {
    "a list": SPANS,
    "lines": "".join(json.dumps(one) + "\n" for one in SPANS),
    "as the console's exporter writes them": "\n".join(json.dumps(o, indent=4) for o in SPANS),
    "a page of a store": {"data": SPANS, "next_cursor": None},
    "under `spans`": {"spans": SPANS},
    "keys in keys": [
        {
            **one,
            "attributes": {
                "openinference": {"span": {"kind": one["attributes"]["openinference.span.kind"]}},
                **{k: v for k, v in one["attributes"].items() if k[:4] != "open"},
            },
        }
        for one in SPANS
    ],
    "flat rows": [
        {
            "span_kind": one["attributes"]["openinference.span.kind"],
            "context.span_id": one["context"]["span_id"],
            "context.trace_id": one["context"]["trace_id"],
            "parent_id": one["parent_id"],
            "start_time": one["start_time"],
            "end_time": one["end_time"],
            "status_code": one["status"]["status_code"],
            "status_message": one["status"].get("description", ""),
            **{f"attributes.{k}": v for k, v in one["attributes"].items() if k[:4] != "open"},
        }
        for one in SPANS
    ],
}


@pytest.mark.parametrize("data", WAYS.values(), ids=WAYS)
def test_each_way_of_writing_spans_is_found_and_says_the_same(data):
    trace = read_trace(data)
    (step,) = trace.steps
    assert (trace.shape, trace.answer, trace.turns) == ("otel", "Nobody knows.", 1)
    assert (step.name, step.arguments, step.result) == ("look_up", {"town": "Ulm"}, "no such town")
    assert (step.error, step.latency_ms, step.id) == ("KeyError: 'Ulm'", 250.0, "k1")
    assert trace.usage == Usage(input_tokens=12, output_tokens=3)
    assert trace.retrieved == (Document(id="d1", score=0.5),)
    assert trace.faults == ()


def test_bare_attributes_are_spans_in_their_order():
    trace = read_trace([MODEL, TOOL, {"openinference.span.kind": "CHAIN", "output.value": "so"}])
    (step,) = trace.steps
    assert (step.name, step.result, step.error, trace.answer) == (
        "look_up",
        "no such town",
        None,
        "so",
    )


def test_spans_of_the_genai_conventions_come_from_the_sdk_too():
    messages = [{"role": "assistant", "parts": [{"type": "text", "content": "hello"}]}]
    told = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 4}
    for content in (messages, json.dumps(messages)):
        trace = read_trace([written("a", {**told, "gen_ai.output.messages": content}, 1)])
        assert (trace.answer, trace.usage.input_tokens) == ("hello", 4)


def test_messages_that_are_lists_of_objects_are_taken_apart():
    message = {"role": "assistant", "content": "hi", "tool_calls": []}
    for listed in ([{"message": message}], [{f"message.{k}": v for k, v in message.items()}]):
        own = {"openinference.span.kind": "LLM", "llm.output_messages": listed}
        assert read_trace([written("a", own, 1)]).answer == "hi"


def test_what_was_given_stays_one_value():
    given = {"tool.parameters": {"town": {"name": "Ulm"}}, "metadata": {"a": [{"b": 1}]}}
    assert flat({"tool": {"parameters": {"a": 1}}}) == {"tool.parameters": '{"a": 1}'}
    assert flat(given) == {k: json.dumps(v) for k, v in given.items()}


@pytest.mark.parametrize(
    ("time", "ns"),
    [
        ("2026-05-12T14:30:01.100000Z", 1_778_596_201_100_000_000),
        ("2026-05-12T16:30:01.100+02:00", 1_778_596_201_100_000_000),
        ("2026-05-12 14:30:01.100", 1_778_596_201_100_000_000),
        (1_778_596_201, 1_778_596_201_000_000_000),
        (1_778_596_201_100, 1_778_596_201_100_000_000),
        (1_778_596_201_100_000, 1_778_596_201_100_000_000),
        (1_778_596_201_100_000_000, 1_778_596_201_100_000_000),
        *((odd, None) for odd in ("soon", "", None, True, -1, float("nan"), float("inf"), [], {})),
    ],
)
def test_times(time, ns):
    assert as_otlp({"start_time": time})["startTimeUnixNano"] == ns


def test_an_exception_says_what_went_wrong_where_the_status_does_not():
    event = {"name": "exception", "attributes": {"exception.message": "no route"}}
    status = {"status_code": "ERROR"}
    (step,) = read_trace([written("a", TOOL, 1, status=status, events=[event])]).steps
    assert step.error == "no route"


@pytest.mark.parametrize(
    "wrong",
    [
        {"attributes": 3},
        {"context": {"span_id": 7}},
        {"events": 1},
        {"context": {"span_id": "1"}, "attributes": [1]},
    ],
)
def test_a_wrong_type_is_told(wrong):
    with pytest.raises(AgentFailure, match=r"spans\[0\]"):
        read_trace([{**written("a", TOOL, 1), **wrong}], "otel")


def test_attributes_are_bounded():
    deep = value = {}
    for _ in range(100):
        value["a"] = value = {}
    assert len(flat({"llm": deep})) <= 1
    with pytest.raises(AgentFailure, match="more than 100,000"):
        flat({"llm": [{"a": 1}] * 100_001})


def test_an_answer_with_a_context_of_its_own_is_no_span():
    with pytest.raises(AgentFailure, match="shape of the trace is unknown"):
        read_trace({"answer": "x", "context": {"trace_id": "1"}})
