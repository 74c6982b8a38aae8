"""What one question tells of an agent that nobody knows yet."""

import json
from http.server import BaseHTTPRequestHandler

import pytest

from gate.commands.new_project.first_suite import (
    TEMPLATES,
    choose_graders,
    render_config,
    render_dataset,
)
from gate.commands.new_project.probe import ASKED_AS, QUESTION, find_models, probe
from gate.files.yaml import parse
from gate.records import PluginSpec
from tests.support.loopback import listening


def endpoint(reply):
    """`reply(body)`: status and what is sent, as JSON or, if it is text, as it is."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, data = reply(body)
            is_text = isinstance(data, str)
            sent = data.encode() if is_text else json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if is_text else "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    return listening(Handler)


def probe_http(tmp_path, reply):
    with endpoint(reply) as url:
        return probe(PluginSpec(name="http", options={"url": url}), tmp_path, {})


@pytest.mark.parametrize("name", ASKED_AS)
def test_an_endpoint_is_asked_in_the_usual_forms_until_it_answers(tmp_path, name):
    def reply(body):
        if name not in body:
            return 422, {"detail": [{"loc": ["body", name], "msg": "Field required"}]}
        return 200, {"data": {"reply": f"about {body[name]}", "sources": [{"id": "d1"}]}, "ms": 4}

    found = probe_http(tmp_path, reply)
    assert found.said == f"about {QUESTION}"
    assert found.options["body"] == {name: "{{input}}"}
    assert found.options["response"] == {"answer": "data.reply", "retrieved": "data.sources"}
    assert found.has_documents


@pytest.mark.parametrize(
    "refusal",
    [
        {"detail": [{"loc": ["body", "frage"], "msg": "Field required", "type": "missing"}]},
        {"error": "frage is required"},
        {"error": {"message": "Missing required field 'frage'."}},
        {"errors": ['"frage" is required']},
        "missing parameter: frage",
    ],
    ids=["FastAPI", "words", "message", "quotes", "text"],
)
def test_a_field_that_a_refusal_names_is_tried_next(tmp_path, refusal):
    bodies = []

    def reply(body):
        bodies.append(body)
        return (200, {"answer": body["frage"]}) if "frage" in body else (400, refusal)

    found = probe_http(tmp_path, reply)
    assert found.options["body"] == {"frage": "{{input}}"}
    assert [*map(list, bodies)] == [["input"], ["frage"]]


def test_names_without_end_are_not_tried_for_ever(tmp_path):
    asked = []

    def reply(body):
        asked.append(body)
        return 400, {"error": f"field{len(asked)} is required"}

    assert not probe_http(tmp_path, reply).said
    assert len(asked) == len(ASKED_AS) + 5


def test_the_question_is_the_users_own_where_there_is_one(tmp_path):
    asked = []
    with endpoint(lambda body: (asked.append(body), (200, {"answer": "x"}))[1]) as url:
        probe(PluginSpec(name="http", options={"url": url}), tmp_path, {}, "How long?")
    assert asked == [{"input": "How long?"}]


def listing(*models):
    """An agent with OpenAI's protocol that offers these models."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/v1/models"
            sent = json.dumps({"data": [{"id": name} for name in models]}).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_):
            pass

    return listening(Handler)


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/chat/completions", "/v1/responses"])
def test_the_models_of_an_agent_are_listed(end):
    with listing("a", "b") as url:
        assert find_models(url + end, None, {}) == ("a", "b")
    assert find_models("http://127.0.0.1:9", None, {}) == ()
    assert find_models(url, "NOBODY_SET_IT", {}) == ()


# Replies as frameworks of others shape them; the path is where a person would look.
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"answer": "yes"}, "answer"),
        ({"output": "yes", "metadata": {"run_id": "1"}}, "output"),
        ({"result": {"text": "yes"}, "status": "ok"}, "result.text"),
        (
            {"choices": [{"message": {"role": "assistant", "content": "yes"}}]},
            "choices.0.message.content",
        ),
        ({"question": "x", "result": "yes", "elapsed": 3}, "result"),
        ([{"text": "yes"}], "0.text"),
    ],
    ids=["plain", "chain", "nested", "chat", "retrieval", "list"],
)
def test_where_the_answer_stands_is_found(tmp_path, body, path):
    found = probe_http(tmp_path, lambda _: (200, body))
    assert found.said == "yes"
    assert found.options["response"]["answer"] == path
    assert found.has_documents is False


def test_documents_that_are_none_this_time_are_found_all_the_same(tmp_path):
    found = probe_http(tmp_path, lambda _: (200, {"answer": "yes", "sources": []}))
    assert found.options["response"]["retrieved"] == "sources"
    assert (found.has_documents, found.has_texts) == (True, None)


def test_plain_text_is_the_answer_as_it_is(tmp_path):
    found = probe_http(tmp_path, lambda body: (200, "just words"))
    assert found.said == "just words"
    assert "response" not in found.options


def test_an_endpoint_that_refuses_every_form_is_told_with_its_first_words(tmp_path):
    found = probe_http(
        tmp_path, lambda body: (401 if not body else 400, {"error": "no such tenant"})
    )
    assert not found.said
    assert "no such tenant" in found.why
    assert "body" not in found.options


def test_nobody_at_the_address_is_told_and_nothing_raised(tmp_path):
    found = probe(PluginSpec(name="http", options={"url": "http://127.0.0.1:9/ask"}), tmp_path, {})
    assert "refused the connection" in found.why


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("seen", [None, True, False], ids=["unknown", "reported", "not reported"])
def test_every_template_is_yaml_with_a_grader_that_is_on(template, seen):
    graders = choose_graders(template, has_documents=seen, has_texts=seen, has_steps=seen)
    agent = {"type": "http", "url": "http://a/b?c=d", "body": {"q": "{{input}}"}}
    text = render_config(agent, "datasets/questions.yaml", graders, "main")
    config = parse(text.encode(), "gate.yml").data
    assert config["agent"] == agent
    assert config["suites"][0]["graders"][0] == "facts"
    assert len(config["suites"][0]["graders"]) == sum(not one.off for one in graders)
    cases = parse(render_dataset(graders).encode(), "questions.yaml").data
    assert {case["status"] for case in cases} == {"proposed"}
    assert len(cases) == 8
