"""What a suite, a case and the agent's options say of a request, as the server gets it."""

import json
from pathlib import Path

import pytest

from gate.agents.protocols.anthropic import Anthropic
from gate.agents.protocols.openagent import OpenAgent
from gate.agents.protocols.openai import OpenAI
from gate.plugins import World
from gate.records import Case
from gate.run.prepare import Selection, prepare
from gate.suites.config.load import defaults, load_bundled_suites
from gate.suites.protection.rules import Rules
from tests.support.raw_server import RawServer

CHAT = {"choices": [{"message": {"role": "assistant", "content": "Paris"}}]}
SETTINGS = {"temperature": 0.2, "top_p": 1.0, "max_tokens": 256}
MODEL = "deepseek/deepseek-v4-flash"


def sent(make, cases, answer):
    """The bodies that a server gets from the agent that `make` makes of its address."""
    bodies = []

    def handler(peer):
        while (request := peer.request()) is not None:
            bodies.append(json.loads(request[2]))
            peer.answer(json.dumps(answer).encode())

    with RawServer(handler) as peer:
        connection = make(peer.url).connect(World(env={}, root=Path()))
        for case in cases:
            connection.ask(case, timeout_s=5)
        connection.close()
    return bodies


def plan_of(name, **selection):
    suite = next(one for one in load_bundled_suites() if one.name == name)
    config = defaults()
    return prepare((suite,), Rules(config=config, own=config, root=Path()), Selection(**selection))[
        0
    ]


@pytest.mark.parametrize("name", ["baseperf", "dialogue", "hardchat", "tool"])
def test_the_payload_of_each_openagent_suite_is_that_of_the_openagent_tool(name):
    cases = list(plan_of(name).cases())
    own = {"temperature": 0, "max_tokens": 12000} if name == "hardchat" else {}
    settings = {"baseperf": SETTINGS, "dialogue": SETTINGS}.get(name, own)
    bodies = sent(lambda url: OpenAgent(base_url=url, model=MODEL), cases, CHAT)
    assert bodies == [
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": case.keys["input"]}],
            "stream": False,
            **settings,
        }
        for case in cases
    ]


CLAUDE = {"content": [{"type": "text", "text": "Paris"}], "stop_reason": "end_turn"}
RESPONSE = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Paris"}]}]}


@pytest.mark.parametrize(
    ("make", "answer", "limit"),
    [
        (lambda url, **o: OpenAgent(base_url=url, options=o), CHAT, "max_tokens"),
        (lambda url, **o: OpenAI(base_url=url, options=o), CHAT, "max_tokens"),
        (lambda url, **o: Anthropic(base_url=url, options=o), CLAUDE, "max_tokens"),
        (
            lambda url, **o: OpenAI(base_url=f"{url}/v1/responses", options=o),
            RESPONSE,
            "max_output_tokens",
        ),
    ],
    ids=["openagent", "openai", "anthropic", "responses"],
)
def test_what_a_case_or_suite_says_wins_over_the_agents_options(make, answer, limit):
    case = Case(id="c", input="q", keys={}, request={"temperature": 0, "max_tokens": 9})
    options = {"temperature": 0.7, limit: 50, "seed": 1}
    (body,) = sent(lambda url: make(url, **options), [case], answer)
    assert (body["temperature"], body[limit], body["seed"]) == (0, 9, 1)
    assert {"max_tokens", "max_output_tokens"} & body.keys() == {limit}
    plain = Case(id="c", input="q", keys={})
    (body,) = sent(lambda url: make(url, **options), [plain], answer)
    assert (body["temperature"], body[limit]) == (0.7, 50)


def test_a_task_has_its_own_time_and_the_option_of_the_command_line_beats_it():
    assert {case.timeout_s for case in plan_of("hardchat").cases()} == {420}
    assert {case.timeout_s for case in plan_of("hardchat", timeout_s=7.0).cases()} == {7.0}
    assert {case.timeout_s for case in plan_of("baseperf").cases()} == {None}
