import json
from dataclasses import replace
from pathlib import Path

import pytest

from gate.agents.protocols.http import AnswerPaths, HttpAgent
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.files.json_schema import mismatches
from gate.plugins import World
from gate.records import Case, Document, ToolCall, Usage
from gate.records.codec import schema_of
from tests.support.raw_server import RawServer, ok, scripted

WORLD = World(env={"KEY": "secret-key-1"}, root=Path())
CASE = Case(
    id="c 1",
    input=[{"role": "user", "content": "Why?"}],
    keys={"id": "c 1", "tags": ["a", "b"], "category": "x&y", "limit": 3},
)


def ask(agent, case=CASE):
    connection = agent.connect(WORLD)
    try:
        return connection.ask(case, timeout_s=5)
    finally:
        connection.close()


def sent(case=CASE, path="", **fields):
    seen = []

    def handler(peer):
        seen.append(peer.request())
        peer.answer(b'{"answer": "a"}')

    with RawServer(handler) as server:
        ask(HttpAgent(url=server.url + path, **fields), case)
    return seen[0]


def answered(data, *headers, **fields):
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    with RawServer(scripted(ok(raw, *headers))) as server:
        return ask(HttpAgent(url=server.url, **fields))


# --------------------------------------------------------------------------------- the request


def test_placeholders_keep_their_json_type_where_they_stand_alone():
    body = {
        "q": "{{question}}",
        "raw": ["{{input}}", "{{ case.tags }}"],
        "n": "{{case.limit}}",
        "text": "{{id}}: at most {{case.limit}}",
        "fixed": True,
        "{{id}}": "keys are not filled",
    }
    _, headers, raw = sent(body=body)
    assert json.loads(raw) == {
        "q": "Why?",
        "raw": [[{"role": "user", "content": "Why?"}], ["a", "b"]],
        "n": 3,
        "text": "c 1: at most 3",
        "fixed": True,
        "{{id}}": "keys are not filled",
    }
    assert headers["content-type"] == "application/json"


def test_a_template_never_fills_what_a_case_brings():
    case = Case(id="c", input="{{id}} {{nope}}", keys={})
    assert json.loads(sent(case, body={"q": "say: {{input}}"})[2]) == {"q": "say: {{id}} {{nope}}"}


def test_the_default_body_is_the_input():
    assert json.loads(sent()[2]) == {"input": CASE.input}


def test_a_get_has_its_question_in_the_address():
    line, headers, raw = sent(method="GET", path="/ask?q={{question}}&c={{case.category}}")
    assert line == "GET /ask?q=Why%3F&c=x%26y HTTP/1.1"
    assert raw == b""
    assert "content-type" not in headers


def test_headers_and_the_key():
    headers = sent(headers={"X-Tenant": "t"}, api_key_env="KEY")[1]
    assert (headers["x-tenant"], headers["authorization"]) == ("t", "Bearer secret-key-1")
    headers = sent(headers={"Authorization": "Token z"}, api_key_env="KEY")[1]
    assert headers["authorization"] == "Token z"


@pytest.mark.parametrize("field", ["body", "url"])
def test_an_unknown_placeholder_is_a_usage_error(field):
    fields = {"url": "http://127.0.0.1:9/", **{field: "http://x/{{qestion}}"}}
    with pytest.raises(UsageError, match=f"agent.{field}: unknown placeholder {{{{qestion}}}}"):
        HttpAgent(**fields).check(WORLD)


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"body": {"input": "hi"}}, "body"),
        ({"method": "GET", "url": "http://127.0.0.1:9/"}, "url"),
    ],
)
def test_a_request_that_never_sends_the_case_is_a_usage_error(fields, where):
    world = replace(WORLD, offline=True)
    with pytest.raises(UsageError, match=f"agent.{where}: no case is sent, every call would be"):
        HttpAgent(**{"url": "http://127.0.0.1:9/", **fields}).check(world)


def test_a_key_that_the_case_lacks_is_a_usage_error():
    with pytest.raises(UsageError, match="the case has no 'nope'"):
        sent(body="{{case.nope}}")


def test_check_connects():
    with RawServer(scripted()) as server:
        HttpAgent(url=server.url + "/{{id}}").check(WORLD)
    with pytest.raises(InfraFailure, match=r"agent\.url"):
        HttpAgent(url=server.url).check(WORLD)


# ---------------------------------------------------------------------------------- the answer

PLAIN = {
    "answer": "Paris",
    "retrieved": [{"id": "d1", "score": 2}],
    "context": "c",
    "steps": [{"name": "s", "arguments": {"x": 1}}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
    "cost_usd": 0.5,
    "safety_violations": [],
    "model": "m",
}


def test_without_paths_the_answer_is_an_answer_object():
    response = answered(PLAIN, model="unused")
    assert response.answer == "Paris"
    assert response.retrieved == (Document(id="d1", score=2.0),)
    assert response.context == "c"
    assert response.steps == (ToolCall(name="s", arguments={"x": 1}),)
    assert response.usage == Usage(input_tokens=3, output_tokens=1, cost_usd=0.5)
    assert response.safety_violations == ()
    assert response.model == "m"


def test_the_model_of_gate_yml_stands_in():
    assert answered({"output": "x"}, model="m-9").model == "m-9"


def test_plain_text_is_the_answer():
    assert answered("grün".encode(), "Content-Type: text/plain; charset=utf-8").answer == "grün"


def test_paths_lead_to_the_answer():
    data = {
        "data": [{"reply": {"text": "Paris"}}],
        "docs": ["a", "b"],
        "log": {"calls": [{"tool": "s", "input": {"x": 1}, "output": 2}]},
        "meter": {"in": 3, "out": 4, "usd": 0.1},
        "flags": ["pii"],
        "m": "m-2",
        "nothing": None,
    }
    paths = AnswerPaths(
        answer="data.0.reply.text",
        retrieved="docs",
        steps="log.calls",
        context="nothing",
        input_tokens="meter.in",
        output_tokens="meter.out",
        cost_usd="meter.usd",
        safety_violations="flags",
        model="m",
    )
    response = answered(data, response=paths)
    assert response.answer == "Paris"
    assert response.retrieved == (Document(id="a"), Document(id="b"))
    assert response.steps == (ToolCall(name="s", arguments={"x": 1}, result=2),)
    assert response.usage == Usage(input_tokens=3, output_tokens=4, cost_usd=0.1)
    assert (response.safety_violations, response.model, response.context) == (("pii",), "m-2", None)


@pytest.mark.parametrize(
    ("value", "text"),
    [("x", "x"), (42, "42"), (True, "true"), (None, ""), ({"a": "ü"}, '{"a": "ü"}'), ([1], "[1]")],
)
def test_an_answer_of_any_type_becomes_text(value, text):
    assert answered({"r": value}, response=AnswerPaths(answer="r")).answer == text


@pytest.mark.parametrize(
    ("path", "gone", "there"),
    [
        ("a.b", "a.b", "; 'a' has the key c"),
        ("a.x.c", "a.x", "; 'a' has the key c"),
        ("l.2", "l.2", ""),
        ("l.x", "l.x", ""),
        ("z", "z", "; it has the keys a, l"),
    ],
)
def test_a_path_that_is_not_there_is_the_agents_fault(path, gone, there):
    message = f"the answer has nothing at '{gone}' (agent.response.answer: {path}){there}"
    with pytest.raises(AgentFailure) as caught:
        answered({"a": {"c": 1}, "l": [1, 2]}, response=AnswerPaths(answer=path))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "paths", "message"),
    [
        (
            {"data": {"sources": [{"doc": "shipping", "text": "T"}]}},
            {"retrieved": "data.sources"},
            "data.sources[0] has the keys doc, text; an id, doc_id or document_id is needed",
        ),
        (
            {"docs": [{"doc_id": [1]}]},
            {"retrieved": "docs"},
            "docs[0].doc_id is neither a text nor a whole number; an id is needed",
        ),
        ({"log": [{"args": {}}]}, {"steps": "log"}, "log[0] has no name"),
        ({"log": 3.5}, {"context": "log"}, "log is not a list"),
        ({"log": [3]}, {"safety_violations": "log"}, "log is not a list of texts"),
        ({"log": 3}, {"model": "log"}, "log is not a text"),
        ({"log": 3}, {"finish_reason": "log"}, "log is not a text"),
    ],
)
def test_what_is_wrong_below_a_path_is_told_with_the_path_and_the_keys(data, paths, message):
    with pytest.raises(AgentFailure) as caught:
        answered(data, response=AnswerPaths(**paths))
    assert str(caught.value) == message


def test_an_answer_without_its_key_is_told_with_the_keys_that_it_has():
    with pytest.raises(AgentFailure) as caught:
        answered({"reply": "a", "sources": []})
    assert str(caught.value) == (
        "the answer needs one of the keys answer, output, text; it has the keys reply, sources"
    )


def test_few_keys_of_a_hostile_answer_are_named_and_each_is_short():
    keys = ["a\n\nb", "x" * 10_000, *map(str, range(998))]
    with pytest.raises(AgentFailure) as caught:
        answered(dict.fromkeys(keys, 1))
    named = str(caught.value).partition("; it has the keys ")[2]
    assert named == f"a b, {'x' * 39}…, 0, 1, 2, 3, 4, 5 and 992 more"


@pytest.mark.parametrize(
    "data", [b"<html>", [1], "text", {"no": "answer"}, {"answer": "a", "retrieved": 5}]
)
def test_what_is_no_answer_object_is_the_agents_fault(data):
    with pytest.raises(AgentFailure):
        answered(data)


def test_an_unknown_path_is_found_by_the_schema():
    schema = schema_of(HttpAgent)
    wrong = mismatches(schema, {"url": "x", "response": {"anwser": "a"}})
    assert [m.message for m in wrong] == ["unknown key - did you mean 'answer'?"]
