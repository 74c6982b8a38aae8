import math
import threading
import time

import pytest

from gate.agents.protocols.python import PythonAgent
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document
from gate.user_code.processes import PROCESSES

AGENT = """
import asyncio, threading, time
from gate.errors import InfraFailure

def text(case): return "to " + case["input"]
def keys(case): return {"answer": sorted(case), "retrieved": ["d1"]}
def spoil(case):
    case["nested"].append("spoilt"); case["input"] = "x"
    return "ok"
def broken(case): raise ValueError("no\\nluck")
def leaves(case): raise SystemExit(3)
def late(case): raise TimeoutError()
def unreachable(case): raise InfraFailure("its model is down", retry_after=2)
def number(case): return 5
def not_json(case): return {"answer": "x", "steps": {1, 2}}
def not_a_number(case): return {"answer": "x", "cost_usd": float("nan")}
def wrong(case): return {"answer": "x", "retrieved": 1}
def half(case): return "half \\ud83d"
def slow(case):
    if case["id"] == "slow": time.sleep(20)
    return "done"
async def gentle(case):
    await asyncio.sleep(20 if case["id"] == "slow" else 0)
    return "done"
loops = set()
async def loop(case):
    loops.add(id(asyncio.get_running_loop()))
    return str(len(loops))
class Agent:
    def __call__(self, case): return "called"
    async def method(self, case): return "awaited"
instance = Agent()
method = Agent().method
thing = 5
"""


@pytest.fixture
def world(tmp_path):
    (tmp_path / "agents.py").write_text(AGENT)
    return World(env={}, root=tmp_path)


@pytest.fixture
def ask(world):
    def run(name, *, timeout_s=5.0, **more):
        connection = PythonAgent(callable=f"./agents.py:{name}", model="m").connect(world)
        case = Case(**{"id": "c1", "input": "you", "keys": {"nested": ["a"]}, **more})
        try:
            return connection.ask(case, timeout_s=timeout_s)
        finally:
            connection.close()

    return run


def test_a_text_or_a_dict(ask):
    assert ask("text").answer == "to you"
    assert ask("text").model == "m"
    response = ask("keys")
    assert response.answer == '["id", "input", "nested"]'
    assert response.retrieved == (Document(id="d1"),)
    assert ask("instance").answer == "called"
    assert ask("half").answer == "half ?"


def test_async_functions_share_one_loop_a_connection(world, ask):
    assert ask("gentle").answer == "done"
    assert ask("method").answer == "awaited"
    connection = PythonAgent(callable="./agents.py:loop").connect(world)
    case = Case(id="c", input="", keys={})
    assert {connection.ask(case, timeout_s=5).answer for _ in range(3)} == {"1"}
    connection.close()


def test_a_case_cannot_be_spoilt_for_the_graders(world):
    connection = PythonAgent(callable="./agents.py:spoil").connect(world)
    case = Case(id="c", input="you", keys={"nested": ["a"]})
    connection.ask(case, timeout_s=5)
    connection.close()
    assert case.keys == {"nested": ["a"]}
    assert case.input == "you"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken", "ValueError: no luck"),
        ("leaves", "SystemExit: 3"),
        ("late", "TimeoutError: "),
        ("number", "returned int"),
        ("not_json", "JSON cannot hold"),
        ("wrong", "retrieved is not a list"),
    ],
)
def test_what_goes_wrong_is_the_agents_fault(ask, name, said):
    with pytest.raises(AgentFailure) as caught:
        ask(name)
    assert said in str(caught.value)
    assert caught.value.timed_out == (name == "late")
    assert "\n" not in str(caught.value)


def test_a_cost_that_is_no_number_is_unknown_and_no_failure(ask):
    assert math.isnan(ask("not_a_number").usage.cost_usd)


def test_an_agent_can_say_that_it_is_not_its_fault(ask):
    with pytest.raises(InfraFailure, match="its model is down") as caught:
        ask("unreachable")
    assert caught.value.retry_after == 2


@pytest.mark.parametrize("name", ["slow", "gentle"])
def test_the_deadline_holds_and_the_next_call_is_unharmed(world, name):
    connection = PythonAgent(callable=f"./agents.py:{name}").connect(world)
    begun = time.perf_counter()
    with pytest.raises(AgentFailure, match=r"did not return within 0\.3 s") as late:
        connection.ask(Case(id="slow", input="", keys={}), timeout_s=0.3)
    assert late.value.timed_out
    assert time.perf_counter() - begun < 10
    assert connection.ask(Case(id="fast", input="", keys={}), timeout_s=5).answer == "done"
    connection.close()


def test_close_from_another_thread_ends_the_wait(world):
    connection = PythonAgent(callable="./agents.py:slow").connect(world)
    threading.Timer(0.2, connection.close).start()
    begun = time.perf_counter()
    with pytest.raises(InfraFailure, match="the run is being stopped"):
        connection.ask(Case(id="slow", input="", keys={}), timeout_s=20)
    assert time.perf_counter() - begun < 10


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("./none.py:f", "not found"),
        ("./agents.py:nope", "has no 'nope'"),
        ("no_such_module_x:f", "cannot import"),
        ("./agents.py:thing", "cannot be called"),
        ("agents", "module:function"),
    ],
)
def test_what_is_not_there_is_a_usage_error(world, name, said):
    agent = PythonAgent(callable=name)
    for call in (agent.check, agent.connect):
        with pytest.raises(UsageError, match=said):
            call(world)


def test_many_threads_load_a_slow_module_once(tmp_path):
    (tmp_path / "loads.py").write_text(
        "import time\ntime.sleep(0.1)\ndef agent(case): return 'ok'\n"
    )
    answers = []

    def work():
        connection = PythonAgent(callable="./loads.py:agent").connect(World(env={}, root=tmp_path))
        answers.append(connection.ask(Case(id="c", input="", keys={}), timeout_s=5).answer)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["ok"] * 8


def test_several_processes_share_the_connections(tmp_path):
    (tmp_path / "agents.py").write_text("import os\ndef answer(case): return str(os.getpid())\n")
    world = World(env={}, root=tmp_path)
    agent = PythonAgent(callable="./agents.py:answer", processes=2)
    agent.check(world)
    connections = [agent.connect(world) for _ in range(4)]
    case = Case(id="c", input="", keys={})
    answers = [one.ask(case, timeout_s=5).answer for one in connections]
    for one in connections:
        one.close()
    assert len(set(answers)) == 2
    assert answers[:2] == answers[2:]


def test_a_token_is_handed_over_by_its_name_alone(tmp_path):
    code = "import os\ndef answer(case): return ' '.join(sorted(os.environ))\n"
    (tmp_path / "agents.py").write_text(code)
    env = {"GITHUB_TOKEN": "ghs_1", "GH_TOKEN": "ghs_2", "MINE": "x", "COPY": "ghs_2"}
    world = World(env=env, root=tmp_path)

    def seen(**more):
        connection = PythonAgent(callable="./agents.py:answer", **more).connect(world)
        found = connection.ask(Case(id="c", input="", keys={}), timeout_s=5).answer.split()
        connection.close()
        PROCESSES.end()
        return set(found) & set(env)

    assert seen() == {"MINE"}
    assert seen(api_key_env="GITHUB_TOKEN") == {"MINE", "GITHUB_TOKEN"}
