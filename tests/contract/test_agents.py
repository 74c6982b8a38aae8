"""What every agent type keeps to, checked with each one that is registered."""

import dataclasses
import os
import threading
from pathlib import Path

import pytest

from gate.errors import AgentFailure, InfraFailure
from gate.files.json_schema import mismatches
from gate.plugins import AGENTS, World, build
from gate.records import Case, PluginSpec, Response
from gate.records.codec import schema_of
from tests.support.raw_server import RawServer, hang

SECRET = "s3cret-value-of-a-variable"
NAMES = list(AGENTS)

# The least options that make sense, with a secret wherever gate.yml could bring one in.
HIDING = f"http://user:{SECRET}@127.0.0.1:9/v1?key={SECRET}"
OPTIONS = {
    "openai": {"base_url": HIDING, "model": "m", "options": {"user": SECRET}},
    "openagent": {"base_url": HIDING.partition("?")[0], "options": {"user": SECRET}},
    "anthropic": {"base_url": HIDING, "options": {"user": SECRET}},
    "http": {
        "url": HIDING,
        "headers": {"X-Key": SECRET},
        "body": {"key": SECRET, "q": "{{input}}"},
    },
    "command": {"command": ["git", SECRET]},
    "python": {"callable": "./agent.py:agent"},
    "replay": {"file": "answers.jsonl"},
    "sample": {},
    "none": {},
}
REMOTE = ("openai", "openagent", "anthropic", "http")


def made(name, options=None):
    options = OPTIONS[name] if options is None else options
    assert mismatches(schema_of(AGENTS.get_class(name)), options) == []
    return build(AGENTS, PluginSpec(name=name, options=options), Path())


every = pytest.mark.parametrize("name", NAMES)


def test_every_type_of_the_contract_is_there_and_every_one_has_its_example():
    assert set(NAMES) == set(OPTIONS)


@every
def test_it_is_a_frozen_record_with_documented_options(name):
    cls = AGENTS.get_class(name)
    assert cls.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")
    agent = made(name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        agent.timeout_s = 1.0
    assert not hasattr(agent, "__dict__")


@every
def test_the_runner_finds_what_it_needs(name):
    agent = made(name)
    assert agent.timeout_s > 0
    assert agent.concurrency >= 1
    assert agent.requests_per_minute is None
    changed = made(name, {**OPTIONS[name], "timeout_s": 5, "concurrency": 2})
    assert (changed.timeout_s, changed.concurrency) == (5.0, 2)


@every
def test_its_schema_refuses_what_it_does_not_know(name):
    schema = schema_of(AGENTS.get_class(name))
    assert schema["additionalProperties"] is False
    assert mismatches(schema, {**OPTIONS[name], "tiemout_s": 3})
    assert mismatches(schema, {**OPTIONS[name], "timeout_s": "long"})


@every
def test_equal_options_make_equal_agents(name):
    assert made(name) == made(name)


@every
def test_neither_repr_nor_description_shows_a_secret(name):
    agent = made(name)
    assert SECRET not in repr(agent)
    assert SECRET not in agent.describe()
    assert name in agent.describe()


@pytest.mark.parametrize("name", REMOTE)
def test_the_address_is_in_the_description(name):
    assert "http://127.0.0.1:9" in made(name).describe()
    assert "user" not in made(name).describe()


@pytest.mark.parametrize("name", REMOTE)
def test_an_agent_that_is_not_there_cannot_be_asked(name):
    agent = made(name)
    world = World(env={}, root=Path())
    connection = agent.connect(world)
    calls = (
        lambda: agent.check(world),
        lambda: connection.ask(Case(id="c", input="q", keys={}), timeout_s=5),
    )
    for call in calls:
        with pytest.raises(InfraFailure, match=r"127\.0\.0\.1:9 refused the connection") as caught:
            call()
        assert SECRET not in str(caught.value)
        assert "start the agent there" in str(caught.value)
    connection.close()


ADDRESS = {"openai": "base_url", "openagent": "base_url", "anthropic": "base_url", "http": "url"}


@pytest.mark.parametrize("name", REMOTE)
def test_time_and_close_bound_every_call(name):
    with RawServer(hang) as server:
        agent = made(name, {ADDRESS[name]: server.url})
        connection = agent.connect(World(env={}, root=Path()))
        case = Case(id="c", input="q", keys={})
        with pytest.raises(AgentFailure, match=r"within 0\.2 s") as late:
            connection.ask(case, timeout_s=0.2)
        assert late.value.timed_out
        threading.Timer(0.2, connection.close).start()
        with pytest.raises(InfraFailure, match="being stopped"):
            connection.ask(case, timeout_s=30)


LOCAL = ("command", "python", "sample")


@pytest.mark.parametrize("name", LOCAL)
def test_a_local_agent_answers_and_closes_twice(name, tmp_path):
    (tmp_path / "agent.py").write_text("def agent(case): return case['input']\n")
    options = {**OPTIONS[name], **({"command": "git --version"} if name == "command" else {})}
    agent = made(name, options)
    world = World(env={"PATH": os.environ["PATH"]}, root=tmp_path)
    agent.check(world)
    connection = agent.connect(world)
    response = connection.ask(Case(id="c", input="q", keys={}), timeout_s=20)
    assert isinstance(response, Response)
    assert response.answer
    connection.close()
    connection.close()
