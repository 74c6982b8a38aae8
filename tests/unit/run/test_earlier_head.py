"""What makes the agent of two commits the same one."""

import pytest

from gate.records import Config, PluginSpec
from gate.run.earlier_head import agent_digest

OPTIONS = {"url": "http://h", "model": "m", "headers": {"X-Mode": "a", "Authorization": "k1"}}


def digest_of(options, name="http", retriever=None):
    agent = PluginSpec(name=name, options=options)
    return agent_digest(Config(agent=agent, suites=(), retriever=retriever))


@pytest.mark.parametrize(
    "changes",
    [
        {"api_key_env": "OTHER"},
        {"timeout_s": 7},
        {"concurrency": 1},
        {"requests_per_minute": 60},
        {"headers": {"X-Mode": "a", "Authorization": "k2"}},
    ],
)
def test_keys_and_pace_make_no_other_agent(changes):
    assert digest_of({**OPTIONS, **changes}) == digest_of(OPTIONS)


@pytest.mark.parametrize(
    "changes",
    [{"url": "http://other"}, {"model": "n"}, {"headers": {"X-Mode": "b"}}, {"options": {"t": 1}}],
)
def test_everything_else_does(changes):
    assert digest_of({**OPTIONS, **changes}) != digest_of(OPTIONS)


def test_so_do_another_type_and_another_retriever():
    beside = PluginSpec(name="http", options={"url": "http://r"})
    assert digest_of(OPTIONS, name="openai") != digest_of(OPTIONS)
    assert digest_of(OPTIONS, retriever=beside) != digest_of(OPTIONS)
