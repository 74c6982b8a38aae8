"""A judge of gate.yml behind each of its protocols: what is sent, what is understood, what stays
secret.
"""

import json
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from gate.agents.judges.judge_panel import Panel, panel_of, without_open_caches
from gate.agents.judges.models import model_of
from gate.errors import UsageError
from gate.plugins import World
from gate.records import Config, PluginSpec, Price
from tests.support.raw_server import RawServer
from tests.support.scripted_judge import CASE, GOOD, QUESTION, Still

AGENT = PluginSpec(name="sample")
ANSWERS = {
    "openai": {"model": "m-9", "choices": [{"message": {"content": GOOD}}]},
    "anthropic": {"model": "m-9", "content": [{"type": "text", "text": GOOD}]},
    "http": {"score": 4},
}


class Server(RawServer):
    """Gives every request the same body, and keeps (first line, headers, body) of each."""

    def __init__(self, answer):
        self.requests = []
        super().__init__(lambda peer: self._talk(peer, json.dumps(answer).encode()))

    def _talk(self, peer, body):
        while (request := peer.request()) is not None:
            self.requests.append((*request[:2], json.loads(request[2])))
            peer.answer(body, "200 OK", "Content-Type: application/json")


def config(name, verifier=None, **options):
    return Config(
        agent=AGENT,
        suites=(),
        judge=PluginSpec(name=name, options=options) if name else None,
        verifier=verifier,
        pricing={"m": Price(input=1.0, output=1.0)},
    )


def world(root=Path(), **env):
    return World(env={"JUDGE_API_KEY": "judge-secret-1", **env}, root=root)


def asked(written, where=None):
    judges = panel_of(written, where or world(), patience=Still().patience)
    ((reply,),) = judges.ask(CASE, [QUESTION])
    judges.close()
    return reply


def sent(name, **options):
    """(headers, body) of the one request."""
    with Server(ANSWERS[name]) as server:
        address = {"url": f"{server.url}/ask"} if name == "http" else {"base_url": server.url}
        reply = asked(config(name, api_key_env="JUDGE_API_KEY", **address, **options))
        assert (reply.data, reply.failure) == ({"score": 4}, "")
        ((_, headers, body),) = server.requests
        return headers, body


def test_an_openai_judge_gets_instructions_as_system_and_temperature_0():
    headers, body = sent("openai", model="m")
    assert headers["authorization"] == "Bearer judge-secret-1"
    assert body.pop("response_format")["type"] == "json_schema"
    assert body == {
        "model": "m",
        "temperature": 0,
        "messages": [
            {"role": "system", "content": "Judge it."},
            {"role": "user", "content": "the answer"},
        ],
    }


def test_an_anthropic_judge_gets_them_at_the_top_and_a_limit_of_tokens():
    headers, body = sent("anthropic", model="m")
    assert headers["x-api-key"] == "judge-secret-1"
    assert body.pop("tool_choice")["type"] == "tool"
    assert [tool["name"] for tool in body.pop("tools")] == ["answer"]
    assert body == {
        "model": "m",
        "temperature": 0,
        "max_tokens": 4096,
        "system": "Judge it.",
        "messages": [{"role": "user", "content": "the answer"}],
    }


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_temperature_can_be_another_or_left_out(name):
    assert sent(name, options={"temperature": 1, "seed": 7})[1]["temperature"] == 1
    assert "temperature" not in sent(name, options={"temperature": None})[1]


def test_an_http_judge_gets_what_its_template_names():
    body = {
        "all": "{{input}}",
        "system": "{{case.instructions}}",
        "user": "{{question}}",
        "form": "{{case.schema}}",
    }
    assert sent("http", body=body)[1] == {
        "all": [
            {"role": "system", "content": "Judge it."},
            {"role": "user", "content": "the answer"},
        ],
        "system": "Judge it.",
        "user": "the answer",
        "form": QUESTION.schema,
    }


@pytest.mark.parametrize(
    "answer",
    [{"score": 4}, {"answer": {"score": 4}}, {"answer": GOOD, "usage": {"input_tokens": 3}}],
)
def test_an_http_judge_may_answer_with_the_judgement_itself(answer):
    with Server(answer) as server:
        assert asked(config("http", url=server.url)).data == {"score": 4}


@pytest.mark.parametrize(
    "code",
    [
        "return {'score': len(case['material']) - 6}",
        "return {'answer': {'score': 4}, 'model': 'mine', 'usage': {'input_tokens': 3}}",
        "return 'I say {\"score\": 4}' if 'maximum' in str(case['schema']) else ''",
        "return {'score': 4 if case['input'][0]['content'] == case['instructions'] else 1}",
    ],
)
def test_a_python_judge_may_return_text_or_the_judgement_itself(tmp_path, code):
    (tmp_path / "judge.py").write_text(f"def judge(case):\n    {code}\n")
    reply = asked(config("python", callable="./judge.py:judge"), world(tmp_path))
    assert (reply.data, reply.failure) == ({"score": 4}, "")


def test_a_python_judge_that_returns_nothing_usable_is_called_a_judge(tmp_path):
    (tmp_path / "judge.py").write_text("def judge(case):\n    return 4\n")
    reply = asked(config("python", callable="./judge.py:judge"), world(tmp_path))
    assert reply.failure.startswith("the judge failed: the judge returned int: return a text")


def test_a_python_judge_that_hangs_ends_with_the_panel(tmp_path):
    (tmp_path / "judge.py").write_text("import time\ndef judge(case):\n    time.sleep(60)\n")
    judges = panel_of(config("python", callable="./judge.py:judge"), world(tmp_path))
    thread = Thread(target=judges.ask, args=(CASE, [QUESTION]))
    thread.start()
    judges.close()
    thread.join(3)
    assert not thread.is_alive()


def test_the_defaults_are_those_of_a_judge():
    judges = panel_of(config("openai", base_url="http://127.0.0.1:9"), world())
    assert judges.concurrency == 8
    verifier = PluginSpec(name="openai", options={"base_url": "http://127.0.0.1:9"})
    both = panel_of(
        config("openai", verifier, base_url="http://x", model="m", concurrency=3), world()
    )
    assert both.concurrency == 11
    assert both.describe("judge") == "openai m at http://x"
    assert panel_of(config(None, verifier), world()).has("judge") is False


def test_messages_name_the_judges_own_keys():
    judges = panel_of(config("openai", base_url="http://127.0.0.1:9"), world())
    said = judges.unreachable()
    assert said.startswith("the judge cannot be reached: http://127.0.0.1:9")
    assert said.endswith("start the judge there or set judge.base_url")
    unset = panel_of(config("openai", base_url="http://x", api_key_env="NO_KEY"), world())
    with pytest.raises(UsageError, match=r"^judge\.api_key_env: the environment variable NO_KEY"):
        unset.unreachable()
    ((reply,),) = unset.ask(CASE, [QUESTION])
    assert reply.failure.startswith("the judge could not be asked: judge.api_key_env: ")


def test_a_reachable_judge_is_silent():
    with Server(ANSWERS["openai"]) as server:
        assert panel_of(config("openai", base_url=server.url), world()).unreachable() == ""
        assert server.requests == []


def test_the_key_is_in_no_reply_and_not_in_the_cache(tmp_path):
    leak = "judge-secret-1"
    (tmp_path / "judge.py").write_text(
        "def judge(case):\n"
        f"    if case['id'] == 'fail': raise ValueError('{leak}')\n"
        f"    return {{'score': 4, 'why': 'my key is {leak}'}}\n"
    )
    written = config("python", callable="./judge.py:judge", cache="c.jsonl")
    judges = panel_of(written, world(tmp_path), patience=Still().patience)
    good, failed = (judges.ask(replace(CASE, id=id), [QUESTION])[0][0] for id in ("ok", "fail"))
    assert good.data == {"score": 4, "why": "my key is ***"}
    assert failed.failure == "the judge failed: ValueError: *** (judge.py:2)"
    assert leak not in (tmp_path / "c.jsonl").read_text()


def key(where=None, **options):
    judge = PluginSpec(name="openai", options={"base_url": "http://a", **options})
    made = model_of("judge", judge, {}, where or world(), spent=0, patience=Still().patience)
    return made.key(CASE, QUESTION, 0)


def test_the_key_of_a_reply_knows_the_model_and_no_secret():
    same = [
        key(),
        key(timeout_s=5, concurrency=1, votes=3, cache="x", budget_usd=1, api_key_env="K"),
        key(options={"temperature": 0}),
        key(base_url="http://me:word@a?key=1"),
    ]
    assert len(set(same)) == 1
    others = [key(model="m"), key(base_url="http://b"), key(options={"seed": 1})]
    assert len({*same, *others}) == 4


def test_a_function_that_changed_is_another_judge(tmp_path):
    spec = PluginSpec(name="python", options={"callable": "./judge.py:judge"})
    keys = set()
    for text in ("a = 1", "a = 2"):
        (tmp_path / "judge.py").write_text(text)
        made = model_of("judge", spec, {}, world(tmp_path), spent=0, patience=Still().patience)
        keys.add(made.key(CASE, QUESTION, 0))
    assert len(keys) == 2


def test_what_an_interrupted_run_has_spent_counts():
    written = config("openai", base_url="http://127.0.0.1:9", budget_usd=0.5)
    judges = panel_of(written, world(), spend_before=0.5)
    ((reply,),) = judges.ask(CASE, [QUESTION])
    assert reply.failure == "the judge's budget of 0.50 USD is used up"
    assert isinstance(judges, Panel)


@pytest.mark.parametrize(("key", "kept"), [("K", True), (None, False), ("", False)])
def test_a_pull_request_is_judged_without_a_cache_that_no_key_signs(key, kept):
    spec = PluginSpec(name="openai", options={"cache": "c.jsonl", "api_key_env": key, "votes": 3})
    found = without_open_caches(Config(agent=AGENT, suites=(), judge=spec, verifier=spec))
    for model in (found.judge, found.verifier):
        assert ("cache" in model.options) is kept
        assert model.options["votes"] == 3
