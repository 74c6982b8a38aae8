"""What an agent did before it failed, as its error tells it: over all protocols, and never an
answer.
"""

import json
import sys
from pathlib import Path

import pytest

from gate.agents.in_process import EventLoop, InProcess
from gate.agents.protocols.anthropic import Anthropic
from gate.agents.protocols.command import Command
from gate.agents.protocols.http import AnswerPaths, HttpAgent
from gate.agents.protocols.openagent import OpenAgent
from gate.agents.protocols.openai import OpenAI
from gate.agents.protocols.python import PythonAgent
from gate.agents.wire.before_failing import find_done
from gate.errors import AgentFailure
from gate.plugins import World
from gate.records import Case, Response
from tests.support.raw_server import RawServer

CASE = Case(id="c1", input="you", keys={"input": "you"})
STEPS = [{"name": "search", "arguments": {"q": "a"}, "result": "none"}, {"name": "open"}]
BODY = {"error": "it broke", "steps": STEPS, "usage": {"input_tokens": 7, "output_tokens": 2}}


def failed(agent, root=Path()):
    connection = agent.connect(World(env={}, root=root))
    try:
        with pytest.raises(AgentFailure) as raised:
            connection.ask(CASE, timeout_s=10)
    finally:
        connection.close()
    return raised.value


def behind(make, body, status="500 Internal Server Error"):
    raw = json.dumps(body).encode()

    def talk(peer):
        while peer.request() is not None:
            peer.answer(raw, status, "Content-Type: application/json")

    with RawServer(talk) as server:
        return failed(make(server.url))


AGENTS = {
    "http": lambda url: HttpAgent(url=url),
    "openai": lambda url: OpenAI(base_url=url, model="m"),
    "openagent": lambda url: OpenAgent(base_url=url, model="m", logs=None),
    "anthropic": lambda url: Anthropic(base_url=url, model="m"),
}


def is_kept(failure):
    found = find_done(failure)
    assert (found.answer, found.kept) == ("", False)
    assert [(step.name, step.arguments) for step in found.steps] == [
        *(("search", {"q": "a"}), ("open", {})),
    ]
    assert (found.usage.input_tokens, found.usage.output_tokens) == (7, 2)


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("status", ["500 Internal Server Error", "400 Bad Request", "200 OK"])
def test_steps_in_the_body_of_an_error_are_kept_by_every_protocol(name, status):
    is_kept(behind(AGENTS[name], BODY, status))


@pytest.mark.parametrize("place", ["error", "detail", "gate"])
def test_they_may_stand_in_the_errors_own_object(place):
    body = {"message": "it broke", place: {**BODY, "error": "x"}}
    found = find_done(behind(AGENTS["http"], body))
    assert [step.name for step in found.steps] == ["search", "open"]


def test_a_trace_tells_them_too():
    said = [
        {"role": "user", "content": "you"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "function": {"name": "search", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "the secret answer is 42"},
        {"role": "assistant", "content": "so it is 42"},
    ]
    found = find_done(behind(AGENTS["http"], {"error": "cut", "messages": said}))
    assert ([step.name for step in found.steps], found.answer) == (["search"], "")


def test_where_gate_yml_says_where_steps_stand_they_are_looked_for_there():
    paths = AnswerPaths(answer="out.text", steps="out.calls")
    body = {"out": {"calls": STEPS, "text": "half an answ"}}
    found = find_done(behind(lambda url: HttpAgent(url=url, response=paths), body))
    assert ([step.name for step in found.steps], found.answer) == (["search", "open"], "")
    standard = find_done(behind(lambda url: HttpAgent(url=url, response=paths), BODY))
    assert [step.name for step in standard.steps] == ["search", "open"]


@pytest.mark.parametrize(
    "body",
    [
        {"error": "x"},
        {"error": "x", "steps": None, "usage": {}},
        {"error": "x", "steps": "many"},
        {"error": "x", "steps": [{"no": "name"}]},
        ["x"],
        "x",
        None,
    ],
)
def test_an_error_without_readable_steps_tells_of_none_and_stays_what_it_was(body):
    failure = behind(AGENTS["http"], body)
    assert find_done(failure) is None
    assert "answered 500" in str(failure)


@pytest.mark.parametrize("done", [b"\xff{", b"[" * 9_000_000, b"[" * 100_000, object(), {1: 2}, ()])
def test_what_comes_with_an_error_never_raises(done):
    assert find_done(AgentFailure("x", done=done)) is None


CODE = """
from gate.errors import AgentFailure
STEPS = [{"name": "search", "arguments": {"q": "a"}, "result": "none"}, {"name": "open"}]
class Loop(Exception):
    def __init__(self, *said):
        super().__init__(*said)
        self.steps, self.usage = STEPS, {"input_tokens": 7, "output_tokens": 2}
class Odd(Exception):
    @property
    def steps(self): raise KeyError("steps")
    usage = object()
def raises(case): raise Loop("too many turns")
def told(case):
    usage = {"input_tokens": 7, "output_tokens": 2}
    raise AgentFailure("gave up", done={"steps": STEPS, "usage": usage})
def returns(case):
    return {"error": "it broke", "steps": STEPS,
            "usage": {"input_tokens": 7, "output_tokens": 2}}
async def awaited(case): raise Loop("too many turns")
def odd(case): raise Odd("as it is")
def huge(case):
    error = Loop("large")
    error.steps = [{"name": "x" * 9_000_000}]
    raise error
"""


@pytest.mark.parametrize("name", ["raises", "told", "returns", "awaited"])
def test_a_functions_exception_may_bring_steps_along(tmp_path, name):
    (tmp_path / "agents.py").write_text(CODE)
    is_kept(failed(PythonAgent(callable=f"./agents.py:{name}"), tmp_path))
    made = {}
    exec(CODE, made)
    loop = EventLoop()
    is_kept(failed(InProcess(function=made[name], name=name, loop=loop)))
    loop.end()


@pytest.mark.parametrize(("name", "said"), [("odd", "as it is"), ("huge", "large")])
def test_an_exception_with_odd_or_huge_attributes_is_told_all_the_same(tmp_path, name, said):
    (tmp_path / "agents.py").write_text(CODE)
    failure = failed(PythonAgent(callable=f"./agents.py:{name}"), tmp_path)
    assert said in str(failure)
    assert find_done(failure) is None


def test_a_program_may_print_them_before_it_ends_badly(tmp_path):
    script = f"import sys; print({json.dumps(json.dumps(BODY))}); sys.exit(3)"
    is_kept(failed(Command(command=[sys.executable, "-c", script]), tmp_path))


def test_a_response_is_taken_as_it_is():
    recorded = Response(answer="", kept=False, steps=())
    assert find_done(AgentFailure("x", done=recorded)) is recorded
