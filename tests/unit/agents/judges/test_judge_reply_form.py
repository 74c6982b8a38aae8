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


class Endpoint(RawServer):
    """Answers `status` to a request that has a form, and keeps the bodies of all."""

    def __init__(self, status=""):
        self.bodies, self.status = [], status
        super().__init__(self._talk)

    def _talk(self, peer):
        while (request := peer.request()) is not None:
            self.bodies.append(json.loads(request[2]))
            if self.status and "response_format" in self.bodies[-1]:
                told = b'{"error": {"message": "response_format is not supported"}}'
                peer.answer(told, self.status, "Content-Type: application/json")
            else:
                peer.answer(ANSWER, "200 OK", "Content-Type: application/json")


def ask(server, questions, **options):
    spec = PluginSpec(name="openai", options={"base_url": server.url, "model": "m"} | options)
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
    form = ReplyForm(offered=True)
    case = Case(id="a", input="?", keys={"expected_answer": "4"})
    (question,) = Judge().questions(case, Response(answer="4"))
    told = form.request(replace(question, name="against it, answer first"))["response_format"]
    assert told["json_schema"]["strict"] is True
    assert told["json_schema"]["name"] == "against_it_answer_first"
    assert told["json_schema"]["schema"] == schema_for(BUILT_IN["answer"])
    assert form.request(QUESTION)["response_format"]["json_schema"]["strict"] is False
    form.refuse()
    assert form.request(QUESTION) == {}
