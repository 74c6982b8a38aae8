"""Our agents against aimock, a server of OpenAI's and Anthropic's protocols that we did not write.

GATE_NODE_MODULES names the `node_modules` in which `@copilotkit/aimock` (1.43.0) is
installed: npm i @copilotkit/aimock@1.43.0
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from gate.agents.protocols.anthropic import Anthropic
from gate.agents.protocols.openai import OpenAI
from gate.errors import AgentFailure, InfraFailure
from gate.plugins import World
from gate.records import Case, ToolCall, Usage

MODULES = os.environ.get("GATE_NODE_MODULES", "")
AIMOCK = Path(MODULES) / "@copilotkit/aimock/dist/cli.js"
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(
        not (MODULES and AIMOCK.is_file() and NODE),
        reason="GATE_NODE_MODULES names no folder with @copilotkit/aimock, or there is no node",
    ),
]

TEXT = "Paris is the capital of France, and has been for a long time."


def fixture(question, response, **more):
    return {"match": {"userMessage": question}, "response": response, **more}


def error(status, message, **more):
    return {"error": {"message": message, "type": "x"}, "status": status, **more}


def sequence(question, *responses):
    for n, response in enumerate(responses):
        yield {"match": {"userMessage": question, "sequenceIndex": n}, "response": response}


OPENAI_USAGE = {"prompt_tokens": 21, "completion_tokens": 8}
ANTHROPIC_USAGE = {"input_tokens": 21, "output_tokens": 8}
CALL = {"name": "lookup", "arguments": '{"city": "Paris"}', "id": "call_1"}
BUSY = error(429, "slow down", retryAfter=2)
FIXTURES = [
    fixture("capital for openai", {"content": TEXT, "usage": OPENAI_USAGE}),
    fixture("capital for anthropic", {"content": TEXT, "usage": ANTHROPIC_USAGE}),
    fixture("use a tool", {"toolCalls": [CALL]}),
    fixture("cut", {"content": TEXT}, truncateAfterChunks=2, chunkSize=8, latency=50),
    fixture("overloaded", error(503, "overloaded")),
    fixture("broken", error(500, "boom")),
    fixture("no key", error(401, "bad key")),
    *sequence("OpenAI is busy", BUSY, {"content": "recovered"}),
    *sequence("Anthropic is busy", BUSY, {"content": "recovered"}),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": FIXTURES}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [NODE, str(AIMOCK), "-p", str(port), "-f", str(folder), "--strict"]
    log = (folder / "log").open("wb")
    with log, subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}/health", process, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for(url, process, log):
    for _ in range(200):
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture(params=["whole", "streamed"])
def ask(request, url):
    """Asks one of the two agents, whole or streamed."""

    def run(kind, question, **options):
        options = {**options, **({"stream": True} if request.param == "streamed" else {})}
        agent = kind(base_url=url, model="m-1", api_key_env="KEY", options=options)
        connection = agent.connect(World(env={"KEY": "test-key"}, root=Path()))
        try:
            return connection.ask(Case(id="c", input=question, keys={}), timeout_s=10)
        finally:
            connection.close()

    return run


both = pytest.mark.parametrize("kind", [OpenAI, Anthropic], ids=["openai", "anthropic"])


@both
def test_an_answer_with_its_tokens(ask, kind):
    response = ask(kind, f"capital for {kind.__name__.lower()}")
    assert response.answer == TEXT
    assert response.usage == Usage(input_tokens=21, output_tokens=8)
    assert response.model == "m-1"
    assert response.finish_reason in ("stop", "end_turn")


@both
def test_a_tool_call(ask, kind):
    response = ask(kind, "use a tool")
    assert response.steps == (
        ToolCall(name="lookup", arguments={"city": "Paris"}, id="call_1", turn=0),
    )
    assert response.finish_reason in ("tool_calls", "tool_use")


@both
@pytest.mark.parametrize(
    ("question", "failure", "said"),
    [
        ("overloaded", InfraFailure, "answered 503 Service Unavailable: overloaded"),
        ("no key", InfraFailure, "answered 401 Unauthorized: bad key"),
        ("broken", AgentFailure, "answered 500 Internal Server Error: boom"),
        ("never scripted", InfraFailure, "answered 503"),
    ],
)
def test_refusals(ask, kind, question, failure, said):
    with pytest.raises(failure, match=said):
        ask(kind, question)


@both
def test_429_says_how_long_to_wait_and_the_next_try_succeeds(url, kind):
    connection = kind(base_url=url, model="m-1").connect(World(env={}, root=Path()))
    case = Case(id="c", input=f"{kind.__name__} is busy", keys={})
    with pytest.raises(InfraFailure, match="answered 429 Too Many Requests: slow down") as caught:
        connection.ask(case, timeout_s=10)
    assert caught.value.retry_after == 2.0
    assert connection.ask(case, timeout_s=10).answer == "recovered"
    connection.close()


@both
def test_a_stream_that_is_cut_is_the_agents_fault(url, kind):
    agent = kind(base_url=url, model="m-1", options={"stream": True})
    connection = agent.connect(World(env={}, root=Path()))
    with pytest.raises(AgentFailure, match=r"before the end of (its|the) answer"):
        connection.ask(Case(id="c", input="cut", keys={}), timeout_s=10)
    connection.close()


@both
def test_a_server_that_is_there_is_reached(url, kind):
    kind(base_url=url).check(World(env={}, root=Path()))
