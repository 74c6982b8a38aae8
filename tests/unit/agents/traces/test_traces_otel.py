"""OpenTelemetry: GenAI conventions old and new, MCP, OpenInference, and clocks that lie."""

import json

import pytest

from gate.agents.traces.reading import read_trace
from gate.errors import AgentFailure
from gate.records import Document, Usage
from tests.support.otlp_spans import (
    ASKS,
    CHAT,
    RAN,
    TEXT,
    TOOL,
    attributes,
    export,
    says,
    span,
)


def read(*spans):
    return read_trace(export(*spans))


def chat(id, start, *parts, text=False, **more):
    messages = says(*parts)
    written = json.dumps(messages) if text else messages
    return span(id, {**CHAT, "gen_ai.output.messages": written, **more}, start=start)


@pytest.mark.parametrize("text", [True, False])
def test_messages_may_be_structured_or_a_json_text(text):
    trace = read(
        chat("a", 1, ASKS, text=text), span("b", RAN, start=2), chat("c", 3, TEXT, text=text)
    )
    (step,) = trace.steps
    assert (step.name, step.arguments, step.result, step.turn) == ("f", {"a": 1}, "r", 0)
    assert (trace.answer, trace.turns, step.latency_ms, trace.faults) == ("x", 2, 50.0, ())


def test_usage_is_summed_over_model_calls_only_since_agents_repeat_it():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 10}
    trace = read(span("r", agent), chat("a", 2, TEXT), chat("b", 3, TEXT))
    assert trace.usage == Usage(input_tokens=10, output_tokens=4)


def test_the_names_of_before_count_too():
    old = {"gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.completion_tokens": 1}
    found = {"gen_ai.operation.name": "text_completion", "gen_ai.system": "openai", **old}
    event = {
        "name": "gen_ai.choice",
        "attributes": attributes(
            {
                "finish_reason": "tool_calls",
                "message": {
                    "content": "x",
                    "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}],
                },
            }
        ),
    }
    trace = read(span("a", found, events=[event]), span("b", RAN, start=2))
    assert trace.usage == Usage(input_tokens=7, output_tokens=1)
    assert (trace.answer, trace.finish_reason) == ("x", "tool_calls")
    assert [(step.name, step.result) for step in trace.steps] == [("f", "r")]


def test_content_may_stand_in_an_event_of_the_span():
    details = {"gen_ai.output.messages": says(TEXT)}
    name = "gen_ai.client.inference.operation.details"
    event = {"name": name, "attributes": attributes(details)}
    assert read(span("a", CHAT, events=[event])).answer == "x"
    own = {**CHAT, "gen_ai.output.messages": says({"type": "text", "content": "own"})}
    assert read(span("a", own, events=[event])).answer == "own"


@pytest.mark.parametrize("operation", ["chat", "generate_content", "text_completion"])
def test_each_of_the_operations_of_a_model_is_a_turn(operation):
    assert read(span("a", {**CHAT, "gen_ai.operation.name": operation})).turns == 1


def test_what_the_model_says_of_itself_wins_and_the_last_reason_counts():
    more = {
        "gen_ai.response.model": "m-2026",
        "gen_ai.usage.reasoning.output_tokens": 1,
        "gen_ai.response.finish_reasons": ["tool_call", "stop"],
    }
    trace = read(chat("a", 1, TEXT, **more))
    assert (trace.model, trace.usage.reasoning_tokens) == ("m-2026", 1)
    assert trace.finish_reason == "stop"


def test_the_answer_is_that_of_the_outermost_agent():
    def agent(said):
        text = {"type": "text", "content": said}
        return {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": says(text)}

    outer, inner = span("r", agent("outer")), span("s", agent("inner"), parent="r", start=2)
    assert read(outer, inner, chat("a", 3, TEXT)).answer == "outer"


def test_spans_are_read_in_the_order_in_which_they_began():
    trace = read(chat("c", 3, TEXT), span("b", RAN, start=2), chat("a", 1, ASKS))
    assert (trace.answer, len(trace.steps), trace.faults) == ("x", 1, ())


def test_without_content_the_tools_that_ran_are_the_steps_of_the_model_call_before():
    bare = {**TOOL}
    trace = read(
        span("a", CHAT, start=1),
        span("b", bare, start=2),
        span("c", CHAT, start=3),
        span("d", bare, start=4),
    )
    assert [(step.name, step.turn) for step in trace.steps] == [("f", 0), ("f", 1)]
    assert trace.faults == ()


MCP = {"mcp.method.name": "tools/call", "gen_ai.tool.name": "f"}


@pytest.mark.parametrize(
    "spans",
    [
        [span("a", RAN), span("b", {**MCP, "gen_ai.tool.call.id": "1"}, start=2)],
        [span("a", TOOL), span("b", MCP, parent="a", start=2)],
        [span("a", TOOL), span("x", {}, parent="a"), span("b", MCP, parent="x", start=2)],
        [span("b", MCP), span("a", RAN, parent="b", start=2)],
        [span("a", MCP), span("b", MCP, parent="a", start=2), span("c", MCP, parent="b", start=3)],
        [
            span("a", TOOL),
            span("b", {**MCP, "gen_ai.operation.name": "execute_tool"}, parent="a", start=2),
        ],
    ],
)
def test_one_call_is_one_step_though_tool_and_mcp_tell_it(spans):
    assert len(read(*spans).steps) == 1


def test_what_only_the_inner_span_knows_is_kept():
    inner = {**MCP, "gen_ai.tool.call.result": '{"n": 1}'}
    failed = {"status": {"code": 2, "message": "down"}}
    (step,) = read(span("a", TOOL), span("b", inner, parent="a", **failed)).steps
    assert (step.result, step.error) == ({"n": 1}, "down")


def test_two_calls_of_a_tool_stay_two_steps():
    two = {**RAN, "gen_ai.tool.call.id": "2"}
    assert len(read(span("a", RAN), span("b", two), span("c", MCP, start=3)).steps) == 3


def test_a_client_within_the_frameworks_model_call_is_the_same_model_call():
    inner = span("b", {**CHAT, "gen_ai.output.messages": says(TEXT)}, parent="a", start=2)
    trace = read(span("a", CHAT), inner)
    assert (trace.turns, trace.usage.input_tokens, trace.answer) == (1, 5, "x")


def test_what_both_spans_know_is_the_outer_ones():
    inner = {**MCP, "gen_ai.tool.call.result": '"other"'}
    (step,) = read(span("a", RAN), span("b", inner, parent="a", start=2)).steps
    assert step.result == "r"


def test_a_tool_that_failed_is_told_by_its_status_or_its_error_type():
    by_type = read(span("a", {**RAN, "error.type": "Timeout"})).steps[0]
    assert by_type.error == "Timeout"
    for code in (2, "STATUS_CODE_ERROR"):
        by_status = read(span("a", RAN, status={"code": code, "message": "late"})).steps[0]
        assert by_status.error == "late"
    assert read(span("a", RAN, status={"code": 1})).steps[0].error is None


@pytest.mark.parametrize("key", ["response", "result"])
def test_a_result_that_only_the_next_model_call_shows(key):
    shown = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", key: "r"}]}]
    second = chat("c", 3, TEXT, **{"gen_ai.input.messages": shown})
    silent = {**TOOL, "gen_ai.tool.call.id": "1"}
    for spans in ([chat("a", 1, ASKS), second], [chat("a", 1, ASKS), span("b", silent), second]):
        assert read(*spans).steps[0].result == "r"


def test_documents_of_retrievals_in_order_each_once():
    def found(*documents):
        key = "gen_ai.retrieval.documents"
        return {"gen_ai.operation.name": "retrieval", key: json.dumps(documents)}

    one, two = {"id": "d1", "score": 0.5}, {"id": "d2"}
    trace = read(
        span("a", found(one, two)), span("b", found({**two, "score": 0.9}, {"id": "d3"}), start=2)
    )
    assert trace.retrieved == (
        Document(id="d1", score=0.5),
        Document(id="d2"),
        Document(id="d3"),
    )
    assert read(chat("a", 1, TEXT)).retrieved is None


def test_of_documents_without_end_the_first_are_kept():
    key = "gen_ai.retrieval.documents"
    many = {"gen_ai.operation.name": "retrieval", key: [{"id": n} for n in range(1_005)]}
    trace = read(span("a", many))
    assert len(trace.retrieved) == 1_000
    assert trace.retrieved[-1] == Document(id="999")


def test_a_clock_that_runs_backwards_gives_no_latency_and_is_told():
    (step,) = (trace := read(span("a", RAN, ms=-5))).steps
    assert step.latency_ms is None
    assert trace.faults == ("1 step ends before it starts: its latency is unknown (span a)",)


@pytest.mark.parametrize("told", ["by whom it was asked for", "by what ran it"])
def test_a_tool_whose_clock_is_ahead_of_the_models_is_one_step(told):
    ran = {**RAN, "gen_ai.tool.call.arguments": '{"a": 1}'} if told == "by what ran it" else RAN
    asks = {**ASKS, "arguments": {"a": 1}} if ran is RAN else {**ASKS, "arguments": None}
    trace = read(span("b", ran, start=1), chat("a", 2, asks), chat("c", 3, TEXT))
    (step,) = trace.steps
    assert (step.arguments, step.result, step.turn, trace.faults) == ({"a": 1}, "r", 0, ())


def test_an_early_call_is_taken_for_no_other_one():
    again = {**ASKS, "name": "g"}
    trace = read(span("b", RAN, start=1), chat("a", 2, ASKS), chat("c", 3, ASKS, again))
    assert [(step.name, step.turn) for step in trace.steps] == [("f", 0), ("f", 1), ("g", 1)]


@pytest.mark.parametrize("time", [None, "", "soon", "NaN", -1, [1], "9" * 30])
def test_a_time_that_is_none_leaves_the_span_where_it_stands(time):
    lost = {**span("b", RAN), "startTimeUnixNano": time, "endTimeUnixNano": time}
    trace = read(chat("a", 1, ASKS), lost, chat("c", 3, TEXT))
    assert (trace.steps[0].result, trace.steps[0].latency_ms) == ("r", None)
    last = {**chat("b", 1, TEXT), "startTimeUnixNano": time}
    assert read(chat("a", 1, {"type": "text", "content": "first"}), last).answer == "x"


def test_what_took_no_time_took_none():
    (step,) = (trace := read(span("a", RAN, ms=0))).steps
    assert (step.latency_ms, trace.faults) == (0.0, ())


def test_a_model_call_that_failed_has_no_usage_to_tell():
    failed = {"gen_ai.operation.name": "chat", "error.type": "timeout"}
    trace = read(span("a", failed), chat("b", 2, TEXT))
    assert (trace.turns, trace.usage.input_tokens, trace.faults) == (2, 5, ())


def test_numbers_that_are_none_are_unknown():
    trace = read(span("a", {**CHAT, "gen_ai.usage.input_tokens": float("nan")}))
    assert trace.usage == Usage(output_tokens=2)
    assert "usage.input_tokens" in trace.faults[0]


def test_json_lines_and_a_last_line_that_was_cut_off():
    lines = [json.dumps(export(chat("a", 1, ASKS))), json.dumps(export(span("b", RAN, start=2)))]
    assert len(read_trace("\n".join(lines) + "\n").steps) == 1
    trace = read_trace("\n".join([*lines, lines[0][:50]]))
    assert (len(trace.steps), trace.faults) == (1, ("the last line is cut off",))
    for broken in ("{oops\n" + lines[0], "{oops"):
        with pytest.raises(AgentFailure, match="line 1 of the trace is not JSON"):
            read_trace(broken)


def test_several_traces_are_told():
    trace = read(chat("a", 1, TEXT), span("b", CHAT, trace="u"))
    assert trace.faults == ("2 traces are read as one",)


def test_parents_in_a_circle_end():
    read(span("a", MCP, parent="b"), span("b", MCP, parent="a"), span("c", MCP, parent="c"))


# ------------------------------------------------------------------------------ OpenInference

LLM = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.token_count.prompt": 5,
    "llm.token_count.completion": 2,
    "llm.token_count.prompt_details.cache_read": 3,
    "llm.cost.total": 0.25,
}
CALLS = "llm.output_messages.0.message.tool_calls.0.tool_call"


def test_openinference():
    asked = {
        **LLM,
        "llm.output_messages.0.message.role": "assistant",
        f"{CALLS}.id": "1",
        f"{CALLS}.function.name": "f",
        f"{CALLS}.function.arguments": '{"a": 1}',
    }
    ran = {
        "openinference.span.kind": "TOOL",
        "tool.name": "f",
        "input.value": '{"a": 1}',
        "output.value": "r",
    }
    ended = {**LLM, "llm.output_messages.0.message.content": "x"}
    trace = read(
        span("r", {"openinference.span.kind": "AGENT"}),
        span("a", asked),
        span("b", ran, start=2),
        span("c", ended, start=3),
    )
    (step,) = trace.steps
    assert (step.name, step.arguments, step.result, step.turn) == ("f", {"a": 1}, "r", 0)
    assert (trace.answer, trace.turns, trace.model, trace.faults) == ("x", 2, "m", ())
    assert trace.usage == Usage(input_tokens=10, output_tokens=4, cached_tokens=6, cost_usd=0.5)


def test_openinferences_parts_are_in_the_order_of_their_numbers():
    key = "llm.output_messages.0.message.contents.{}.message_content.text"
    parts = {key.format(n): f"{n} " for n in reversed(range(12))}
    assert read(span("a", {**LLM, **parts})).answer == "0 1 2 3 4 5 6 7 8 9 10 11 "


def test_openinferences_messages_that_are_none_say_nothing():
    odd = {
        **LLM,
        "llm.input_messages.0.message": 7,
        "llm.output_messages.0.message": "x",
        "llm.output_messages.1.message.content": "said",
    }
    assert read(span("a", odd)).answer == "said"


def test_openinference_shows_results_and_documents():
    shown = {
        **LLM,
        "llm.input_messages.10.message.role": "tool",
        "llm.input_messages.10.message.tool_call_id": "1",
        "llm.input_messages.10.message.content": "r",
    }
    asked = {**LLM, f"{CALLS}.id": "1", f"{CALLS}.function.name": "f"}
    found = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.1.document.content": "second",
        "retrieval.documents.0.document.id": "d1",
        "retrieval.documents.0.document.score": 0.5,
    }
    trace = read(span("a", asked), span("b", found, start=2), span("c", shown, start=3))
    assert trace.steps[0].result == "r"
    assert trace.retrieved == (Document(id="d1", score=0.5), Document(id="1", text="second"))


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([{"spanId": 5, "attributes": []}], "spans[0]: spanId is not a text"),
        ([{"spanId": "a", "attributes": [5]}], "spans[0]: an attribute is not an object"),
        ([span("a", {**TOOL, "gen_ai.tool.name": 5})], "span a: it has no name"),
        ([{"spanId": "a", "events": "x"}], "spans[0]: events is not a list"),
    ],
)
def test_wrong_types_name_their_key(spans, said):
    with pytest.raises(AgentFailure) as caught:
        read(*spans)
    assert said in str(caught.value)
