"""A judge behind servers that we did not write: aimock as OpenAI and as Anthropic, and litellm's
proxy as a second gateway with manners of its own.

aimock: as tests/integration/test_aimock.py. litellm: `pip install 'litellm[proxy]'` (1.106.2) in an
environment of its own; GATE_LITELLM names the command where it is not on PATH.
"""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from gate.agents.judges.judge_panel import panel_of
from gate.plugins import World
from gate.records import Case, Config, PluginSpec, Price
from tests.support.loopback import free_port
from tests.support.scripted_judge import QUESTION

AIMOCK = Path(os.environ.get("GATE_NODE_MODULES", "")).absolute() / "@copilotkit/aimock/dist/cli.js"
NODE = shutil.which("node")
LITELLM = os.environ.get("GATE_LITELLM") or shutil.which("litellm")
KEY = "judge-key-12345"
GOOD = '{"score": 4, "why": "right"}'

needs_aimock = pytest.mark.skipif(
    not (AIMOCK.is_file() and NODE),
    reason="GATE_NODE_MODULES names no folder with @copilotkit/aimock, or there is no node",
)
needs_litellm = pytest.mark.skipif(
    not LITELLM, reason="there is no command litellm: set GATE_LITELLM, or install litellm[proxy]"
)


def fixture(material, response, **more):
    return {"match": {"userMessage": material}, "response": response, **more}


def error(status, message, **more):
    return {"error": {"message": message, "type": "x"}, "status": status, **more}


def text(content):
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "input_tokens": 20, "output_tokens": 5}
    return {"content": content, "usage": usage}


def fixtures():
    """Each protocol has its own materials: what aimock gives in turn it counts over both."""
    repair = "That reply cannot be used"
    for who in ("openai", "anthropic"):
        for name, first in (
            ("prose", "I would say four of five."),
            ("wrong range", '{"score": 9}'),
            ("refusal", "I'm sorry, but I can't judge that."),
            ("two", GOOD + GOOD),
        ):
            yield fixture(f"{name} for {who}", text(first))
        called = {"name": "answer", "arguments": GOOD}
        yield fixture(f"called for {who}", {**text(""), "toolCalls": [called]})
        yield fixture(f"good for {who}", text(f"```json\n{GOOD}\n```"))
        busy = error(429, "slow down", retryAfter=1)
        for n, response in enumerate((busy, text(GOOD))):
            match = {"userMessage": f"busy for {who}", "sequenceIndex": n}
            yield {"match": match, "response": response}
        yield fixture(f"throttled for {who}", error(429, "slow down", retryAfter=30))
        yield fixture(f"overloaded for {who}", error(503, "overloaded"))
        yield fixture(f"no key for {who}", error(401, "bad key"))
        yield fixture(f"not found for {who}", error(404, "no such model"))
        cut = {"truncateAfterChunks": 2, "chunkSize": 8, "latency": 50}
        yield fixture(f"cut for {who}", text(GOOD), **cut)
        # Between the pieces of a stream; what comes whole comes at once.
        yield fixture(f"slow for {who}", text(GOOD), latency=30_000)
    # The last user message decides: of a repair it says what was wrong.
    yield fixture("score: 9 must be at most 5", text(GOOD))
    yield fixture(repair, text("I still cannot."))


@pytest.fixture(scope="module")
def aimock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": list(fixtures())}))
    port = free_port()
    command = [NODE, str(AIMOCK), "-p", str(port), "-f", str(folder), "--strict"]
    yield from serving(command, port, "/health", folder, seconds=20)


CONFIG = """
model_list:
  - model_name: judge-good
    litellm_params: {model: openai/x, api_key: none, mock_response: '{"score": 4, "why": "right"}'}
  - model_name: judge-prose
    litellm_params: {model: openai/x, api_key: none, mock_response: "I would say four of five."}
  - model_name: judge-busy
    litellm_params:
      {model: openai/x, api_key: none, mock_response: "litellm.RateLimitError"}
  - model_name: judge-broken
    litellm_params:
      {model: openai/x, api_key: none, mock_response: "litellm.InternalServerError"}
  - model_name: judge-limited
    litellm_params: {model: openai/x, api_key: none, rpm: 1, mock_response: '{"score": 4}'}
router_settings:
  optional_pre_call_checks: [enforce_model_rate_limits]
  num_retries: 0
general_settings: {master_key: judge-key-12345}
"""


@pytest.fixture(scope="module")
def litellm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("litellm")
    (folder / "config.yaml").write_text(CONFIG)
    port = free_port()
    command = [LITELLM, "--config", str(folder / "config.yaml"), "--port", str(port)]
    command += ["--host", "127.0.0.1"]
    yield from serving(command, port, "/health/liveliness", folder, seconds=180)


def serving(command, port, health, folder, *, seconds):
    log, url = folder / "log", f"http://127.0.0.1:{port}"
    with (
        log.open("wb") as file,
        subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=folder) as process,
    ):
        try:
            end = time.monotonic() + seconds
            while not answers(url + health):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)
            yield url
        finally:
            process.terminate()


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except OSError:
        return False


@pytest.fixture(params=["openai", "anthropic"])
def judge(request):
    """A panel whose judge speaks one of the protocols with a server."""
    made = []

    def at(url, *, model="judge-1", **options):
        full = {"base_url": url, "model": model, "api_key_env": "JUDGE_API_KEY", **options}
        config = Config(
            agent=PluginSpec(name="sample"),
            suites=(),
            judge=PluginSpec(name=request.param, options=full),
            pricing={model: Price(input=1.0, output=2.0)},
        )
        made.append(panel_of(config, World(env={"JUDGE_API_KEY": KEY}, root=Path())))
        return made[-1]

    at.protocol = request.param
    yield at
    for panel in made:
        panel.close()


def ask(panel, material):
    question = replace(QUESTION, material=material)
    ((reply,),) = panel.ask(Case(id="c", input="?", keys={}), [question])
    return reply


@pytest.mark.node
@needs_aimock
class TestAimock:
    def test_a_judgement_with_its_cost(self, judge, aimock):
        panel = judge(aimock)
        assert panel.unreachable() == ""
        reply = ask(panel, f"good for {judge.protocol}")
        assert reply.failure == ""
        assert reply.data == {"score": 4, "why": "right"}
        assert (reply.model, reply.calls) == ("judge-1", 1)
        assert reply.cost_usd == pytest.approx(30e-6)

    def test_the_input_of_the_tool_that_must_be_called_is_the_judgement(self, aimock):
        options = {"base_url": aimock, "model": "judge-1"}
        spec = PluginSpec(name="anthropic", options=options)
        config = Config(agent=PluginSpec(name="sample"), suites=(), judge=spec)
        panel = panel_of(config, World(env={}, root=Path()))
        reply = ask(panel, "called for anthropic")
        panel.close()
        assert (reply.data, reply.calls) == ({"score": 4, "why": "right"}, 1)

    def test_a_score_out_of_range_is_mended(self, judge, aimock):
        reply = ask(judge(aimock), f"wrong range for {judge.protocol}")
        assert (reply.data, reply.calls) == ({"score": 4, "why": "right"}, 2)
        assert reply.cost_usd == pytest.approx(60e-6)

    @pytest.mark.parametrize("what", ["prose", "refusal", "two"])
    def test_what_is_no_judgement_twice_is_none(self, judge, aimock, what):
        reply = ask(judge(aimock), f"{what} for {judge.protocol}")
        assert (reply.data, reply.calls) == (None, 2)
        assert reply.failure == (
            "neither reply of the judge has the required form: there is no JSON object"
        )

    def test_429_is_waited_out(self, judge, aimock):
        start = time.monotonic()
        reply = ask(judge(aimock), f"busy for {judge.protocol}")
        assert (reply.data["score"], reply.calls) == (4, 2)
        assert 1.0 <= time.monotonic() - start < 5

    def test_a_wait_beyond_the_deadline_is_not_begun(self, judge, aimock):
        start = time.monotonic()
        reply = ask(judge(aimock, timeout_s=5), f"throttled for {judge.protocol}")
        assert "answered 429 Too Many Requests: slow down" in reply.failure
        assert time.monotonic() - start < 3

    @pytest.mark.parametrize(
        ("what", "said", "calls"),
        [
            ("overloaded", "answered 503 Service Unavailable: overloaded", 3),
            ("no key", "bad key - check the key in judge.api_key_env", 3),
            ("not found", "no such model - check the path in judge.base_url", 1),
        ],
    )
    def test_refusals(self, judge, aimock, what, said, calls):
        reply = ask(judge(aimock), f"{what} for {judge.protocol}")
        assert (reply.data, reply.calls) == (None, calls)
        assert reply.failure.endswith(said)
        assert KEY not in reply.failure

    def test_a_stream_that_is_cut_is_tried_again_and_then_failed(self, judge, aimock):
        panel = judge(aimock, options={"stream": True})
        reply = ask(panel, f"cut for {judge.protocol}")
        assert (reply.data, reply.calls, reply.cost_usd) == (None, 3, None)
        assert "before the end of its answer" in reply.failure
        assert ask(panel, f"good for {judge.protocol}").data == {"score": 4, "why": "right"}

    def test_slower_than_the_deadline(self, judge, aimock):
        start = time.monotonic()
        panel = judge(aimock, timeout_s=1, options={"stream": True})
        reply = ask(panel, f"slow for {judge.protocol}")
        assert reply.failure == "the judge did not answer within 1 s"
        assert time.monotonic() - start < 3

    def test_close_while_it_hangs(self, judge, aimock):
        panel, replies = judge(aimock, votes=4, options={"stream": True}), []
        question = replace(QUESTION, material=f"slow for {judge.protocol}")
        thread = Thread(
            target=lambda: replies.extend(
                panel.ask(Case(id="c", input="?", keys={}), [question])[0]
            )
        )
        thread.start()
        time.sleep(0.3)
        start = time.monotonic()
        panel.close()
        thread.join(3)
        assert time.monotonic() - start < 3
        assert [reply.data for reply in replies] == [None] * 4


@pytest.mark.peers
@needs_litellm
class TestLitellm:
    def test_a_judgement(self, judge, litellm):
        panel = judge(litellm, model="judge-good")
        assert panel.unreachable() == ""
        reply = ask(panel, "anything")
        assert (reply.failure, reply.calls) == ("", 1)
        assert reply.data == {"score": 4, "why": "right"}
        assert reply.cost_usd is not None

    def test_prose_twice(self, judge, litellm):
        reply = ask(judge(litellm, model="judge-prose"), "anything")
        assert (reply.data, reply.calls) == (None, 2)

    @pytest.mark.parametrize(
        ("model", "said", "calls"),
        [
            ("judge-busy", "answered 429 Too Many Requests: litellm.RateLimitError: ", 3),
            ("judge-broken", "answered 500 Internal Server Error: litellm.InternalServer", 3),
            ("judge-nobody", "Invalid model name passed in model=judge-nobody", 1),
        ],
    )
    def test_refusals(self, judge, litellm, model, said, calls):
        reply = ask(judge(litellm, model=model), "anything")
        assert (reply.data, reply.calls) == (None, calls)
        assert said in reply.failure
        assert KEY not in reply.failure

    def test_its_own_rate_limit_says_how_long_to_wait_under_another_name(self, judge, litellm):
        """One request a minute, then 429 with `llm_provider-retry-after: 60`, which is beyond the
        deadline; in Anthropic's form without it, so that blind tries are all there is.
        """
        panel = judge(litellm, model="judge-limited", timeout_s=20)
        start = time.monotonic()
        last = [ask(panel, f"question {n}") for n in range(2)][-1]
        assert "Model rate limit exceeded" in last.failure
        assert last.calls == {"openai": 1, "anthropic": 3}[judge.protocol]
        assert time.monotonic() - start < 5
