"""Traces beside an answer, or instead of one, from each agent that may send them."""

import json
import sys
from pathlib import Path

import pytest

from gate.agents.protocols.command import Command
from gate.agents.protocols.http import AnswerPaths, HttpAgent
from gate.agents.protocols.openai import OpenAI
from gate.agents.protocols.python import PythonAgent
from gate.agents.traces.trace import MAX_STEPS
from gate.agents.wire import answer
from gate.errors import AgentFailure, InfraFailure
from gate.plugins import World
from gate.records import Case, Document, ToolCall, Usage
from tests.support.raw_server import RawServer, ok, scripted

CASE = Case(id="c", input="?", keys={})
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
USAGE = {"prompt_tokens": 5, "completion_tokens": 2}
MESSAGES = [
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "usage": USAGE},
    {"role": "tool", "tool_call_id": "1", "content": "r"},
    {"role": "assistant", "content": "x", "usage": USAGE},
]
STEP = ToolCall(name="f", arguments={"a": 1}, result="r", id="1", turn=0)
SPAN = {
    "spanId": "a",
    "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"},
}


@pytest.mark.parametrize("key", ["messages", "trace", "trajectory"])
def test_a_trace_fills_what_the_answer_object_does_not_say(key):
    response = answer.response({key: MESSAGES})
    assert (response.answer, response.steps, response.turns) == ("x", (STEP,), 2)
    assert response.usage == Usage(input_tokens=10, output_tokens=4)
    assert (response.omitted_steps, response.trace_faults) == (0, ())


def test_nothing_that_was_read_or_spent_is_a_number_too():
    none = {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0}
    response = answer.response({"answer": "x", "usage": none})
    assert response.usage == Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


def test_what_the_agent_says_itself_wins():
    own = {
        "answer": "mine",
        "steps": [{"name": "g", "turn": 4, "latency_ms": 2}],
        "usage": {"input_tokens": 1},
        "retrieved": ["d"],
        "model": "m",
        "turns": 9,
    }
    response = answer.response({**own, "messages": MESSAGES})
    assert response.answer == "mine"
    assert response.steps == (ToolCall(name="g", arguments={}, turn=4, latency_ms=2.0),)
    assert response.usage == Usage(input_tokens=1)
    assert response.retrieved == (Document(id="d"),)
    assert (response.model, response.turns) == ("m", 9)


def test_a_run_that_was_cut_off_has_no_answer_and_says_what_is_odd():
    response = answer.response({"messages": MESSAGES[:2]})
    assert response.answer == ""
    assert response.trace_faults == ("1 call has no result (f 1)",)


def test_a_bare_list_of_messages_is_an_answer():
    assert answer.response(MESSAGES).steps == (STEP,)


def test_a_whole_response_of_a_models_interface_is_an_answer():
    item = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "content": [{"text": "x"}]}
    response = answer.response({"object": "response", "output": [item, said], "model": "m"})
    assert (response.answer, response.model, response.turns) == ("x", "m", 1)


def test_a_whole_completion_is_an_answer_though_it_has_usage():
    choice = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    body = {"object": "chat.completion", "choices": [choice], "usage": USAGE, "text": "no answer"}
    response = answer.response(body)
    assert (response.answer, response.finish_reason, response.steps) == ("x", "stop", ())


def test_documents_of_a_trace_are_what_was_retrieved():
    found = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": [{"id": "d"}]}
    response = answer.response({"answer": "x", "trace": [{"spanId": "a", "attributes": found}]})
    assert response.retrieved == (Document(id="d"),)


def test_a_plain_list_of_calls_is_a_trace_too():
    response = answer.response({"answer": "x", "trace": [{"name": "f", "result": "r"}]})
    assert [(step.name, step.result) for step in response.steps] == [("f", "r")]


@pytest.mark.parametrize(
    "written",
    [
        {"name": "f", "arguments": {"a": 1}, "id": "1"},
        {"name": "f", "args": {"a": 1}, "id": "1"},
        {"tool": "f", "input": '{"a": 1}', "call_id": "1"},
        CALL,
    ],
)
def test_an_agents_own_steps_may_have_the_keys_of_any_library(written):
    given = {**written, "output": "r", "turn": 0}
    assert answer.response({"answer": "x", "steps": [given]}).steps == (STEP,)
    mended = answer.response({"answer": "x", "steps": [{**given, "correction": True}]})
    assert mended.steps[0].correction is True


@pytest.mark.parametrize("key", ["id", "doc_id", "document_id"])
def test_a_document_may_name_its_id_as_any_library_does(key):
    response = answer.response({"answer": "x", "retrieved": [{key: "d", "content": "t"}]})
    assert response.retrieved == (Document(id="d", text="t"),)


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        ("a1b2", ()),
        (7, ()),
        ([], ()),
        ({"id": 5}, ("1 key has a trace of an unknown shape: it is not read",)),
        (["x"], ("1 key has a trace of an unknown shape: it is not read",)),
    ],
)
def test_a_trace_of_another_kind_is_left_alone(value, faults):
    response = answer.response({"answer": "x", "trace": value})
    assert (response.answer, response.steps, response.trace_faults) == ("x", None, faults)


def test_what_is_wrong_in_a_trace_is_the_agents_fault_and_says_where():
    broken = [{"role": "assistant", "tool_calls": [{}]}, {"role": "tool", "content": "r"}]
    with pytest.raises(AgentFailure, match=r"trace: messages\[0\]: tool_calls\[0\]: it has no"):
        answer.response({"answer": "x", "trace": broken})


def test_a_shape_that_gate_yml_names_is_held_to():
    with pytest.raises(AgentFailure, match="declared as anthropic but looks like openai"):
        answer.response({"messages": MESSAGES}, trace="anthropic")
    assert answer.response({"messages": MESSAGES}, trace="openai").steps == (STEP,)
    assert answer.response({"answer": "x"}, trace="openai").steps is None


def test_a_million_steps_of_an_agents_own_are_bounded_too():
    response = answer.response({"answer": "x", "steps": [{"name": "f"}] * (MAX_STEPS + 7)})
    assert (len(response.steps), response.omitted_steps) == (MAX_STEPS, 7)


@pytest.mark.parametrize("bad", [-5, float("nan"), 1e300, "soon", True])
@pytest.mark.parametrize("key", ["steps", "trace"])
def test_a_clock_that_ran_backwards_in_the_agents_own_steps_is_unknown_and_told(key, bad):
    steps = [{"name": "f", "latency_ms": bad}, {"name": "g", "latency_ms": 0}]
    response = answer.response({"answer": "x", key: steps})
    assert [step.latency_ms for step in response.steps] == [None, 0.0]
    (told,) = response.trace_faults
    assert "it counts as unknown (steps[0].latency_ms)" in told


def test_what_is_odd_in_the_agents_steps_and_in_its_trace_is_told_of_both():
    response = answer.response(
        {"answer": "x", "steps": [{"name": "g", "latency_ms": -1}], "messages": MESSAGES[:2]}
    )
    assert ([step.name for step in response.steps], response.turns) == (["g"], 1)
    assert [told[:12] for told in response.trace_faults] == ["1 value is n", "1 call has n"]


@pytest.mark.parametrize("section", ["judge", "verifier"])
def test_a_judge_has_no_trace(section):
    data = {"messages": MESSAGES, "score": 3}
    assert json.loads(answer.response(data, section=section).answer) == data


def test_nesting_that_no_report_could_write_is_not_read():
    for depth, readable in ((150, True), (900, False)):
        for begin, end in ((b"[", b"]"), (b'{"a":', b"}")):
            data = b'{"answer": ' + begin * depth + b"1" + end * depth + b"}"
            if readable:
                assert answer.parse(data)
            else:
                with pytest.raises(ValueError, match="nested too deeply"):
                    answer.parse(data)


# ----------------------------------------------------------------------------------- the agents


def asked(agent, folder=Path(), case=CASE):
    connection = agent.connect(World(env={"PATH": "/usr/bin:/bin"}, root=folder))
    try:
        return connection.ask(case, timeout_s=20)
    finally:
        connection.close()


@pytest.fixture
def printing(tmp_path):
    def run(text, **fields):
        (tmp_path / "said").write_text(text, encoding="utf-8")
        program = "print(open('said', encoding='utf-8').read(), end='')"
        return asked(Command(command=(sys.executable, "-c", program), **fields), tmp_path)

    return run


def test_a_program_prints_messages(printing):
    assert printing(json.dumps(MESSAGES)).steps == (STEP,)
    assert printing(json.dumps({"messages": MESSAGES})).answer == "x"


def test_a_program_whose_answer_is_a_list_or_lines_is_no_trace(printing):
    for text in ("[1, 2]", "[not json", '{"a": 1}\n{"b": 2}', "Tool Call: [f]"):
        assert printing(text).answer == text
        assert printing(text).steps is None


def test_a_program_prints_lines_that_gate_yml_says_are_a_trace(printing):
    lines = "\n".join(json.dumps({"spans": [SPAN]}) for _ in range(2))
    assert len(printing(lines, trace="otel").steps) == 2
    assert printing("Tool Call: [f]\nArguments: [{}]", trace="openagent").steps[0].name == "f"
    with pytest.raises(AgentFailure):
        printing("no trace at all", trace="otel")


FUNCTIONS = """
class Message:  # as the clients of OpenAI, Anthropic and LangChain have them
    def __init__(self, **fields): self.fields = fields
    def model_dump(self, mode): return self.fields
class Wrong(Message):
    def model_dump(self, mode): return {1, 2}

MESSAGES = %r
def listed(case): return MESSAGES
def models(case): return {"messages": [Message(**m) for m in MESSAGES]}
def model(case): return Message(messages=MESSAGES)
def wrong(case): return {"messages": [Wrong()]}
def lines(case): return "Tool Call: [f]\\nArguments: [{}]"
"""


@pytest.fixture
def calling(tmp_path):
    (tmp_path / "agents.py").write_text(FUNCTIONS % MESSAGES, encoding="utf-8")
    return lambda name, **more: asked(PythonAgent(callable=f"./agents.py:{name}", **more), tmp_path)


@pytest.mark.parametrize("name", ["listed", "models", "model"])
def test_a_function_returns_messages_as_data_or_as_its_client_has_them(calling, name):
    assert (calling(name).answer, calling(name).steps) == ("x", (STEP,))


def test_a_function_that_returns_what_json_cannot_hold(calling):
    with pytest.raises(AgentFailure, match="JSON cannot hold"):
        calling("wrong")


def test_a_text_of_a_function_is_a_trace_only_where_gate_yml_says_so(calling):
    assert calling("lines").steps is None
    assert calling("lines", trace="openagent").steps[0].name == "f"


def served(data, agent, *headers, path="", **fields):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with RawServer(scripted(ok(raw, *headers))) as server:
        address = {"url": server.url} if agent is HttpAgent else {"base_url": server.url + path}
        return asked(agent(**address, **fields))


def test_http_with_and_without_paths():
    assert served(MESSAGES, HttpAgent).steps == (STEP,)
    body = {"reply": "mine", "log": {"all": MESSAGES}, "meter": {"in": 3}}
    response = served(body, HttpAgent, response=AnswerPaths(trace="log.all"))
    assert (response.answer, response.turns) == ("x", 2)
    paths = AnswerPaths(answer="reply", trace="log.all", input_tokens="meter.in")
    response = served(body, HttpAgent, response=paths)
    assert (response.answer, response.steps) == ("mine", (STEP,))
    assert response.usage == Usage(input_tokens=3)
    with pytest.raises(AgentFailure, match=r"nothing at 'log\.none'"):
        served(body, HttpAgent, response=AnswerPaths(trace="log.none"))


def test_http_with_lines_of_spans():
    lines = (json.dumps({"spans": [SPAN]}) + "\n").encode() * 2
    assert len(served(lines, HttpAgent, trace="otel").steps) == 2
    assert len(served(lines, HttpAgent, "Content-Type: text/plain", trace="otel").steps) == 2


def test_a_chat_server_may_send_the_trace_of_what_it_did():
    body = {"model": "m", "choices": [{"message": {"content": "said"}, "finish_reason": "stop"}]}
    for beyond in ({"messages": MESSAGES}, {"gate": {"trajectory": MESSAGES}}):
        response = served({**body, **beyond}, OpenAI)
        assert (response.answer, response.steps, response.turns) == ("said", (STEP,), 2)
        assert response.usage == Usage(input_tokens=10, output_tokens=4)
    response = served({**body, "messages": MESSAGES, "usage": {"prompt_tokens": 1}}, OpenAI)
    assert response.usage == Usage(input_tokens=1)


def test_a_model_that_was_offered_tools_was_asked_once():
    body = {"choices": [{"message": {"content": "x"}}]}
    assert served(body, OpenAI, options={"tools": [{}]}).turns == 1
    assert served(body, OpenAI).turns is None


# -------------------------------------------------------------------------- OpenAI's Responses

RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "m-1",
    "status": "completed",
    "error": None,
    "output": [
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"a": 1}'},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
    ],
    "usage": {"input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 1}},
}


def responded(data, *headers, **fields):
    return served(data, OpenAI, *headers, path="/v1/responses", **fields)


def checked(response):
    assert (response.answer, response.model, response.turns) == ("x", "m-1", 1)
    assert response.steps == (ToolCall(name="f", arguments={"a": 1}, id="1", turn=0),)
    assert response.usage == Usage(input_tokens=5, cached_tokens=1, output_tokens=2)
    assert response.finish_reason == "completed"


def test_an_address_that_ends_in_responses_speaks_responses():
    checked(responded(RESPONSE))
    events = [
        {"type": "response.created", "response": {**RESPONSE, "output": []}},
        {"type": "response.output_text.delta", "delta": "x"},
        {"type": "response.completed", "response": RESPONSE},
    ]
    stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    checked(responded(stream.encode(), "Content-Type: text/event-stream"))
    cut = stream.partition("event: response.completed")[0].encode()
    with pytest.raises(AgentFailure, match="ended its stream"):
        responded(cut, "Content-Type: text/event-stream")


@pytest.mark.parametrize("given", ["?", [{"role": "user", "content": "?"}], {"a": 1}])
def test_what_is_asked_of_responses(given):
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(json.dumps(RESPONSE).encode())

    with RawServer(handler) as server:
        agent = OpenAI(base_url=server.url + "/v1/responses", model="m", options={"store": False})
        asked(agent, case=Case(id="c", input=given, keys={}))
    line, _, raw = seen[0]
    wanted = given if given != {"a": 1} else [{"role": "user", "content": '{"a": 1}'}]
    assert line.split()[1] == "/v1/responses"
    assert json.loads(raw) == {"model": "m", "input": wanted, "store": False}


def test_keys_beyond_the_protocol_win_over_what_responses_show():
    response = responded({**RESPONSE, "gate": {"steps": [{"name": "g"}], "retrieved": ["d"]}})
    assert [step.name for step in response.steps] == ["g"]
    assert response.retrieved == (Document(id="d"),)


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        ({**RESPONSE, "status": "failed", "error": {"message": "broke"}}, AgentFailure, "broke"),
        ({"error": {"message": "invalid API key"}}, InfraFailure, "invalid API key"),
        ({"choices": []}, AgentFailure, "without an output"),
        ([], AgentFailure, "without an output"),
    ],
)
def test_a_response_without_an_output(data, kind, said):
    with pytest.raises(kind, match=said):
        responded(data)
