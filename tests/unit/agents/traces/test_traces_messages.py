"""Shapes made of messages: OpenAI's two, Anthropic's, LangChain's and LangGraph's."""

import pytest

from gate.agents.traces.reading import read_trace
from gate.errors import AgentFailure
from gate.records import Usage

USER = {"role": "user", "content": "?"}


def steps(trace):
    return [(s.name, s.arguments, s.result, s.error, s.turn) for s in trace.steps]


# ------------------------------------------------------------------------------------- openai


def test_custom_tools_have_a_text_as_input():
    custom = {"id": "1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    trace = read_trace([{"role": "assistant", "tool_calls": [custom]}])
    assert steps(trace) == [("sql", "SELECT 1", None, None, 0)]


def test_the_legacy_function_call_is_answered_by_name():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    answered = {"role": "function", "name": "f", "content": "r"}
    assert steps(read_trace([USER, asked, answered])) == [("f", {}, "r", None, 0)]


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, ""), ("x", "x"), ([{"type": "text", "text": "a"}, {"type": "image"}, "b"], "ab")],
)
def test_content_may_be_a_text_parts_or_nothing(content, text):
    assert read_trace([USER, {"role": "assistant", "content": content}]).answer == text


def test_a_refusal_is_an_answer():
    refusing = {"role": "assistant", "content": None, "refusal": "No."}
    assert read_trace([USER, refusing]).answer == "No."


def test_the_roles_model_and_developer_are_assistant_and_system():
    trace = read_trace([{"role": "developer", "content": "s"}, {"role": "model", "content": "x"}])
    assert (trace.answer, trace.turns, trace.faults) == ("x", 1, ())


def test_a_role_that_nobody_knows_is_told():
    trace = read_trace([{"role": "assistant", "content": "x"}, {"role": "critic", "content": "n"}])
    assert trace.faults == ("1 entry is of an unknown kind (role critic)",)


def test_completions_and_messages_may_stand_in_turn():
    message = {"content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]}
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    body = {"object": "chat.completion", "model": "m", "usage": usage}
    choice = {"message": message, "finish_reason": "tool_calls"}
    last = {"message": {"content": "x"}, "finish_reason": "stop"}
    trace = read_trace(
        [
            {**body, "choices": [choice]},
            {"role": "tool", "tool_call_id": "1", "content": "r"},
            {**body, "choices": [last]},
        ]
    )
    assert steps(trace) == [("f", {}, "r", None, 0)]
    assert (trace.model, trace.finish_reason, trace.turns) == ("m", "stop", 2)
    assert trace.usage == Usage(input_tokens=6, output_tokens=2)


def test_an_answer_of_the_model_is_a_trace_without_steps_which_is_none_and_not_unknown():
    assert read_trace([USER, {"role": "assistant", "content": "x"}]).steps == ()


def test_messages_without_the_model_have_no_answer():
    trace = read_trace([USER])
    assert (trace.answer, trace.turns) == (None, 0)


# ---------------------------------------------------------------------------------- responses


def item(kind, **more):
    return {"type": kind, **more}


def output(*items, **more):
    return {"object": "response", "status": "completed", "output": list(items), **more}


SAYS = item("message", role="assistant", content=[{"type": "output_text", "text": "x"}])


def test_function_calls_and_their_outputs():
    trace = read_trace(
        [
            output(item("function_call", id="fc", call_id="1", name="f", arguments='{"a": 1}')),
            item("function_call_output", call_id="1", output=[{"type": "input_text", "text": "r"}]),
            output(SAYS, model="m"),
        ]
    )
    assert steps(trace) == [("f", {"a": 1}, "r", None, 0)]
    assert (trace.answer, trace.turns, trace.faults) == ("x", 2, ())


def test_items_without_responses_around_them_begin_a_turn_after_what_the_model_did_not_make():
    trace = read_trace(
        [
            {"role": "user", "content": "?"},
            item("reasoning", summary=[]),
            item("function_call", call_id="1", name="f", arguments="{}"),
            item("function_call", call_id="2", name="g", arguments="{}"),
            item("function_call_output", call_id="1", output="r"),
            item("function_call_output", call_id="2", output="s"),
            SAYS,
        ]
    )
    assert [s.turn for s in trace.steps] == [0, 0]
    assert trace.turns == 2


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            item("mcp_call", id="1", name="find", arguments='{"q": 1}', output="r", error=None),
            ("find", {"q": 1}, "r", None, 0),
        ),
        (
            item("mcp_call", id="1", name="find", arguments="{}", error={"message": "down"}),
            ("find", {}, None, "down", 0),
        ),
        (
            item("web_search_call", id="1", action={"type": "search", "query": "q"}),
            ("web_search", {"type": "search", "query": "q"}, None, None, 0),
        ),
        (
            item("file_search_call", id="1", queries=["a"], results=[{"file_id": "d"}]),
            ("file_search", {"queries": ["a"]}, [{"file_id": "d"}], None, 0),
        ),
        (
            item("code_interpreter_call", id="1", code="1+1", outputs=[{"logs": "2"}]),
            ("code_interpreter", "1+1", [{"logs": "2"}], None, 0),
        ),
        (
            item("web_search_call", id="1", status="failed"),
            ("web_search", {}, None, "failed", 0),
        ),
    ],
)
def test_tools_that_the_server_runs_have_their_results_in_the_call(made, expected):
    trace = read_trace(output(made, SAYS))
    assert steps(trace) == [expected]
    assert trace.faults == ()


@pytest.mark.parametrize("tool", ["custom_tool", "local_shell", "shell", "computer", "apply_patch"])
def test_tools_of_ours_wait_for_their_output(tool):
    asked = item(f"{tool}_call", call_id="1", **({"name": "sql"} if tool == "custom_tool" else {}))
    assert read_trace(output(asked)).faults[0].startswith("1 call has no result")
    answered = item(f"{tool}_call_output", call_id="1", output="done")
    trace = read_trace([output(asked), answered])
    assert (trace.steps[0].result, trace.faults) == ("done", ())


def test_an_output_that_was_not_finished_is_an_error():
    asked = output(item("function_call", call_id="1", name="f", arguments="{}"))
    answered = item("function_call_output", call_id="1", output="half", status="incomplete")
    assert read_trace([asked, answered]).steps[0].error == "half"


def test_after_a_question_or_a_whole_response_a_new_turn_begins():
    asked = item("function_call", call_id="1", name="f", arguments="{}")
    question = item("message", role="user", content="and?")
    for before in (SAYS, output(SAYS)):
        trace = read_trace([before, question, asked])
        assert (trace.turns, trace.steps[0].turn) == (2, 1)
    assert read_trace([output(SAYS), asked]).turns == 2


def test_an_answer_that_was_cut_short_says_why():
    cut = output(SAYS, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert read_trace(cut).finish_reason == "max_output_tokens"


# ---------------------------------------------------------------------------------- anthropic


def test_server_tools_and_their_errors():
    blocks = [
        {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"q": 1}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses"},
        },
        {"type": "text", "text": "x"},
    ]
    trace = read_trace([USER, {"role": "assistant", "content": blocks}])
    assert trace.shape == "anthropic"
    (step,) = trace.steps
    assert (step.name, step.arguments, step.error) == ("web_search", {"q": 1}, "max_uses")
    assert trace.answer == "x"


def test_a_call_of_an_mcp_server_is_a_step():
    asked = {"type": "mcp_tool_use", "id": "1", "name": "f", "server_name": "s", "input": {"q": 1}}
    text = {"type": "text", "text": "r"}
    answered = {"type": "mcp_tool_result", "tool_use_id": "1", "content": [text]}
    trace = read_trace([USER, {"role": "assistant", "content": [asked, answered]}])
    assert steps(trace) == [("f", {"q": 1}, "r", None, 0)]


def test_responses_beside_messages_that_tell_their_usage_do_not_count_again():
    usage = {"input_tokens": 3, "output_tokens": 1}
    called = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    answer = {"role": "assistant", "content": [called], "usage": usage, "model": "m"}
    for told in (answer, {"role": "assistant", "content": [called]}):
        trace = read_trace({"messages": [USER, told], "responses": [answer]})
        assert (trace.usage.input_tokens, trace.turns, trace.model) == (3, 1, "m")


def test_cached_tokens_are_added_to_the_input_which_leaves_them_out():
    usage = {"input_tokens": 1, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100}
    response = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}
    trace = read_trace({**response, "usage": {**usage, "output_tokens": 5}, "model": "m"})
    assert trace.usage == Usage(input_tokens=111, cached_tokens=10, output_tokens=5)
    assert (trace.shape, trace.finish_reason, trace.model) == ("anthropic", "end_turn", "m")


# ------------------------------------------------------------------------------- lang{chain,graph}


def ai(content="", id=None, calls=(), **more):
    made = [{"name": n, "args": a, "id": i, "type": "tool_call"} for n, a, i in calls]
    return {"type": "ai", "content": content, "id": id, "tool_calls": made, **more}


def tool(content, id, status="success", **more):
    return {"type": "tool", "content": content, "tool_call_id": id, "status": status, **more}


ASKED = ai(id="m1", calls=[("f", {"a": 1}, "1")])
ENDED = ai("x", id="m2")


def test_calls_that_langchain_could_not_read_are_kept_raw():
    invalid = {"name": "f", "args": "{oops", "id": "1", "error": "not JSON", "type": "invalid"}
    (step,) = read_trace([ai(invalid_tool_calls=[invalid])]).steps
    assert (step.arguments, step.raw_arguments, step.error) == (None, "{oops", "not JSON")
    (step,) = read_trace([ai(invalid_tool_calls=[invalid]), tool("try again", "1"), ENDED]).steps
    assert (step.result, step.error) == ("try again", "not JSON")


def test_a_call_that_langchain_found_no_name_for_is_a_call_all_the_same():
    nameless = {"name": None, "args": "{oops", "id": "1", "error": "not JSON"}
    assert read_trace([ai(invalid_tool_calls=[nameless])]).steps[0].name == "(no name)"


@pytest.mark.parametrize("name", ["AIMessage", "AIMessageChunk"])
def test_messages_may_go_by_the_names_of_their_classes(name):
    fields = {"content": "x", "tool_calls": []}
    written = {"lc": 1, "type": "constructor", "id": ["langchain", name], "kwargs": fields}
    for message in (written, {"type": name, "content": "x"}, {"type": name, "data": fields}):
        assert read_trace([message]).answer == "x"


def test_calls_as_the_model_wrote_them_count_only_where_langchain_has_none():
    raw = {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}
    assert len(read_trace([{**ASKED, "additional_kwargs": raw}]).steps) == 1
    assert read_trace([ai(additional_kwargs=raw)]).steps[0].name == "f"
    legacy = {"function_call": {"name": "g", "arguments": "{}"}}
    assert read_trace([ai(additional_kwargs=legacy)]).steps[0].name == "g"


def test_a_tool_that_failed_says_so():
    trace = read_trace([ASKED, tool("no such city", "1", "error"), ENDED])
    assert steps(trace) == [("f", {"a": 1}, "no such city", "no such city", 0)]


def test_updates_of_a_graph_are_joined_and_a_message_that_comes_twice_counts_once():
    updates = [
        {"agent": {"messages": [ASKED]}},
        {"tools": {"messages": [{**tool("r", "1"), "id": "t1"}]}},
        ["sub", {"agent": {"messages": [ASKED]}}],
        {"agent": {"messages": ENDED, "other": 1}, "idle": None},
    ]
    trace = read_trace(updates)
    assert (trace.shape, trace.turns, trace.answer) == ("langgraph", 2, "x")
    assert steps(trace) == [("f", {"a": 1}, "r", None, 0)]


def test_of_streamed_states_the_last_one_has_it_all():
    states = [{"messages": [ASKED]}, {"messages": [ASKED, tool("r", "1"), ENDED]}]
    trace = read_trace(states)
    assert (trace.shape, trace.turns, len(trace.steps)) == ("langgraph", 2, 1)


def test_one_update_alone_is_a_graph_too():
    assert read_trace({"agent": {"messages": [ENDED]}}).answer == "x"


# -------------------------------------------------------------------------- finding the shape


def test_messages_without_calls_are_what_gate_yml_says_they_are():
    messages = [USER, {"role": "assistant", "content": "x"}]
    for shape in ("openai", "anthropic", "openai_responses"):
        assert read_trace(messages, shape).answer == "x"
    assert read_trace(messages).shape == "openai"


def test_messages_of_langchain_may_be_named_langgraph():
    for data in ([ASKED, ENDED], {"messages": [ASKED, ENDED]}):
        assert read_trace(data, "langgraph").answer == "x"


def test_items_of_responses_are_no_audit_records_though_both_have_messages():
    asked = item("message", role="user", content=[{"type": "input_text", "text": "?"}])
    trace = read_trace([asked, SAYS])
    assert (trace.shape, trace.answer) == ("openai_responses", "x")
    assert read_trace([item("message", role="assistant", content="x")]).answer == "x"


def test_what_decides_may_come_late():
    late = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f"}]}
    assert read_trace([USER] * 500 + [late]).shape == "anthropic"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ([ASKED], "langchain"),
        (output(SAYS), "openai_responses"),
        ({"resourceSpans": []}, "otel"),
        ([{"type": "tool_call", "outcome": "success", "tool": "f"}], "openagent"),
    ],
)
def test_a_wrong_name_is_refused_with_what_the_trace_looks_like(data, found):
    with pytest.raises(AgentFailure, match=f"declared as anthropic but looks like {found}"):
        read_trace(data, "anthropic")


@pytest.mark.parametrize("data", [None, 5, "plain words", [], {}, [1, "x"], {"a": [1]}, [[]]])
def test_what_has_no_shape_is_refused(data):
    with pytest.raises(AgentFailure, match="shape of the trace is unknown - known: openai, "):
        read_trace(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{"role": "assistant", "content": 5}], "messages[0]: content is not a text"),
        ([USER, {"role": "assistant", "tool_calls": "x"}], "messages[1]: tool_calls is not a list"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1", "function": {}}]}],
            "messages[0]: tool_calls[0]: it has no name",
        ),
        ([{"role": "tool", "tool_call_id": 7}], "messages[0]: tool_call_id is not a text"),
        ({"messages": [ASKED, "x"]}, "messages[1]: it is not a message of LangChain"),
        ([ai(response_metadata=[1])], "messages[0]: response_metadata is not an object"),
        ([output({"type": "function_call", "name": 5})], "output[0]: it has no name"),
    ],
)
def test_wrong_types_name_their_key(data, said):
    with pytest.raises(AgentFailure) as caught:
        read_trace(data)
    assert said in str(caught.value)
