"""The form of a reply, kept by the provider: offered, refused once, remembered."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gate.agents.judges.judge_panel import panel_of
from gate.agents.judges.reply_form import ReplyForm
from gate.graders.judge import Judge
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.prompt import schema_for
from gate.plugins import World
from gate.records import Case, Config, PluginSpec, Response
from tests.support.raw_server import RawServer
from tests.support.scripted_judge import CASE, GOOD, QUESTION, Still

ANSWER = json.dumps({"model": "m", "choices": [{"message": {"content": GOOD}}]}).encode()
SAYS = {"type": "text", "text": GOOD}


def calls(given, name="answer"):
    return {"type": "tool_use", "id": "t1", "name": name, "input": given}


def body_of(*blocks, stop="tool_use"):
    """Of Anthropic's messages."""
    return json.dumps({"model": "m", "content": blocks, "stop_reason": stop}).encode()


class Endpoint(RawServer):
    """Answers `status` to a request that has a form, and keeps the bodies of all. `answers`: to the
    others in turn, the last again and again.
    """

    def __init__(self, status="", answers=(ANSWER,)):
        self.bodies, self.status, self.answers = [], status, list(answers)
        super().__init__(self._talk)

    def _talk(self, peer):
        while (request := peer.request()) is not None:
            self.bodies.append(json.loads(request[2]))
            if self.status and {"response_format", "tool_choice"} & self.bodies[-1].keys():
                told = b'{"error": {"message": "this form is not supported"}}'
                peer.answer(told, self.status, "Content-Type: application/json")
            else:
                told = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                peer.answer(told, "200 OK", "Content-Type: application/json")


def ask(server, questions, protocol="openai", **options):
    spec = PluginSpec(name=protocol, options={"base_url": server.url, "model": "m"} | options)
    judges = panel_of(
        Config(agent=PluginSpec(name="sample"), suites=(), judge=spec),
        World(env={}, root=Path()),
        patience=Still().patience,
    )
    found = [judges.ask(replace(CASE, id=f"c{n}"), [q])[0][0] for n, q in enumerate(questions)]
    judges.close()
    return found


def test_an_endpoint_that_takes_it_is_sent_the_schema():
    with Endpoint() as server:
        (reply,) = ask(server, [QUESTION])
    (body,) = server.bodies
    form = body["response_format"]
    assert (reply.data, form["type"]) == ({"score": 4}, "json_schema")
    assert form["json_schema"]["schema"] == QUESTION.schema
    assert form["json_schema"]["name"] == "answer"


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity"])
def test_one_that_refuses_it_is_asked_without_it_for_the_rest_of_the_run(status):
    with Endpoint(status) as server:
        replies = ask(server, [QUESTION] * 3)
    assert [("response_format" in body) for body in server.bodies] == [True, False, False, False]
    assert [(reply.data, reply.calls) for reply in replies] == [({"score": 4}, 1)] * 3


@pytest.mark.parametrize("own", [None, {"type": "json_object"}])
def test_what_the_options_say_of_it_wins(own):
    with Endpoint() as server:
        ask(server, [QUESTION], options={"response_format": own})
    assert server.bodies[0].get("response_format") == own


def test_forms_are_strict_where_they_say_all_and_have_a_plain_name():
    form = ReplyForm("response_format")
    case = Case(id="a", input="?", keys={"expected_answer": "4"})
    (question,) = Judge().questions(case, Response(answer="4"))
    told = form.request(replace(question, name="against it, answer first"))["response_format"]
    assert told["json_schema"]["strict"] is True
    assert told["json_schema"]["name"] == "against_it_answer_first"
    assert told["json_schema"]["schema"] == schema_for(BUILT_IN["answer"])
    assert form.request(QUESTION)["response_format"]["json_schema"]["strict"] is False
    form.refuse()
    assert form.request(QUESTION) == {}


# ------------------------------------------------------------------- Anthropic: a tool to be called


def ask_claude(*answers, status="", questions=(QUESTION,), **options):
    """The replies, and the bodies of the requests."""
    with Endpoint(status, answers) as server:
        return ask(server, questions, "anthropic", **options), server.bodies


def test_a_model_of_anthropics_must_call_a_tool_and_its_input_is_the_reply():
    (reply,), (body,) = ask_claude(body_of(calls({"score": 4})))
    assert (reply.data, reply.calls) == ({"score": 4}, 1)
    assert body["tool_choice"] == {
        "type": "tool",
        "name": "answer",
        "disable_parallel_tool_use": True,
    }
    (tool,) = body["tools"]
    assert (tool["name"], tool["input_schema"]) == ("answer", QUESTION.schema)
    assert "response_format" not in body


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity"])
def test_one_that_refuses_the_tool_is_asked_without_it_for_the_rest_of_the_run(status):
    replies, bodies = ask_claude(body_of(SAYS), status=status, questions=[QUESTION] * 3)
    assert ["tools" in body for body in bodies] == [True, False, False, False]
    assert [(reply.data, reply.calls) for reply in replies] == [({"score": 4}, 1)] * 3


def test_one_that_takes_the_tool_and_does_not_call_it_is_read_by_its_words():
    (reply,), bodies = ask_claude(body_of(SAYS, stop="end_turn"))
    assert (reply.data, len(bodies)) == ({"score": 4}, 1)


def test_words_beside_the_call_do_not_count_and_another_tool_is_no_reply():
    words = {"type": "text", "text": '{"score": 1}'}
    (reply,), _ = ask_claude(body_of(words, calls({"score": 4})))
    assert reply.data == {"score": 4}
    (reply,), bodies = ask_claude(body_of(calls({"score": 4}, "web_search")))
    assert (reply.data, len(bodies)) == (None, 2)


@pytest.mark.parametrize(
    "first",
    [
        body_of(calls({"score": 9})),  # beyond the scale: models do not keep bounds
        body_of(calls({"score": 4}), calls({"score": 2})),  # two replies are none
        body_of(calls({}), stop="max_tokens"),
        body_of(calls('{"score": 4')),  # a gateway's string that was cut
        body_of(calls(None)),
    ],
)
def test_an_input_that_does_not_fit_is_given_back_once_and_never_guessed(first):
    (reply,), (_, again) = ask_claude(first, body_of(calls({"score": 3})))
    assert (reply.data, reply.calls) == ({"score": 3}, 2)
    assert [message["role"] for message in again["messages"]] == ["user", "assistant", "user"]
    assert "tools" in again
    (reply,), bodies = ask_claude(first)
    assert (reply.data, len(bodies)) == (None, 2)


def test_the_input_of_a_stream_is_put_together():
    events = [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 3}}},
        {"type": "content_block_start", "index": 0, "content_block": calls({})},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"partial_json": piece}}
            for piece in ('{"sco', 're": 4}')
        ),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    body = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events).encode()

    def talk(peer):
        while peer.request() is not None:
            peer.answer(body, "200 OK", "Content-Type: text/event-stream")

    with RawServer(talk) as server:
        (reply,) = ask(server, [QUESTION], "anthropic", options={"stream": True})
    assert (reply.data, reply.calls) == ({"score": 4}, 1)


@pytest.mark.parametrize(
    "own",
    [
        {"tool_choice": None},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"tools": [{"name": "search", "input_schema": {"type": "object"}}]},
    ],
)
def test_what_the_options_say_of_tools_or_of_thinking_wins(own):
    (reply,), (body,) = ask_claude(body_of(SAYS), options=own)
    assert reply.data == {"score": 4}
    assert "tool_choice" not in body
    assert body.get("tools") == own.get("tools")


def test_a_rubrics_own_form_goes_into_the_tool_and_a_form_that_is_no_object_does_not():
    form = ReplyForm("tool_choice")
    case = Case(id="a", input="?", keys={"expected_answer": "4"})
    (question,) = Judge().questions(case, Response(answer="4"))
    (tool,) = form.request(question)["tools"]
    assert tool["input_schema"] == schema_for(BUILT_IN["answer"])
    assert form.request(replace(QUESTION, schema={"type": "array"})) == {}
    form.refuse()
    assert form.request(question) == {}
