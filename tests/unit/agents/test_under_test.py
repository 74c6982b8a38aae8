"""What is under test: an agent, a retriever beside it, or a retriever alone."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate.agents.under_test import WithRetriever, settings_digest, subject, subject_digest
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.plugins import World
from gate.records import Case, Document, PluginSpec, Response

WORLD = World(env={}, root=Path())
CASE = Case(id="c", input="Why?", keys={})
SAMPLE = PluginSpec(name="sample")
NONE = PluginSpec(name="none")
RECORDED = PluginSpec(name="recorded", options={"file": "run.txt"})


@dataclass
class Asked:
    """An agent or retriever that takes its time and then answers, or fails."""

    answer: Response | Exception
    takes_s: float = 0.0
    timeout_s: float = 7.0
    concurrency: int = 16
    requests_per_minute: float | None = None
    seen: list[object] = field(default_factory=list)

    def describe(self):
        return "stub"

    def check(self, world):
        self.seen.append(world.section)
        return 200 if world.section == "agent" else 204

    def connect(self, world):
        self.seen.append(world.section)
        return self

    def ask(self, case, *, timeout_s):
        self.seen.append(timeout_s)
        time.sleep(self.takes_s)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self):
        self.seen.append("closed")


FOUND = Response(answer="", retrieved=(Document(id="a"),))


def ask(agent, retriever, timeout_s=5.0):
    asked = WithRetriever(agent=agent, retriever=retriever)
    return asked.connect(WORLD).ask(CASE, timeout_s=timeout_s)


def test_the_documents_are_the_retrievers_whatever_the_agent_says():
    said = Response(answer="42", retrieved=(Document(id="claimed"),), context="C")
    found = ask(Asked(said), Asked(FOUND))
    assert (found.answer, found.context, found.retrieved) == ("42", "C", FOUND.retrieved)


def test_latency_is_the_agents_own():
    found = ask(Asked(Response(answer="42")), Asked(FOUND, takes_s=1.0))
    assert found.latency_ms < 900
    replayed = ask(Asked(Response(answer="42", latency_ms=123.0)), Asked(FOUND))
    assert replayed.latency_ms == 123.0


def test_alone_it_is_the_answer_and_its_time_is_measured_outside():
    assert ask(None, Asked(FOUND)) == FOUND
    assert WithRetriever(agent=None, retriever=Asked(FOUND, timeout_s=3.0)).timeout_s == 3.0


def test_each_has_its_own_time_and_its_own_section():
    agent, retriever = Asked(Response(answer="42")), Asked(FOUND, timeout_s=2.0)
    both = WithRetriever(agent=agent, retriever=retriever)
    both.check(WORLD)
    connection = both.connect(WORLD)
    connection.ask(CASE, timeout_s=5.0)
    connection.close()
    assert agent.seen == ["agent", "agent", 5.0, "closed"]
    assert retriever.seen == ["retriever", "retriever", 2.0, "closed"]


@pytest.mark.parametrize(
    "failure",
    [
        AgentFailure("no list", final=True),
        AgentFailure("late", timed_out=True),
        InfraFailure("gone", retry_after=3.0),
    ],
)
def test_a_failing_retriever_says_so_and_no_agent_is_paid_for(failure):
    agent = Asked(Response(answer="42"))
    with pytest.raises(type(failure)) as caught:
        ask(agent, Asked(failure))
    assert str(caught.value) == f"retriever: {failure}"
    assert vars(caught.value) == vars(failure)
    assert agent.seen == ["agent"]  # connected, never asked


def test_a_failing_agent_fails_as_without_a_retriever():
    with pytest.raises(AgentFailure, match=r"^broken$"):
        ask(Asked(AgentFailure("broken")), Asked(FOUND))


def test_the_status_of_a_check_is_the_agents():
    answer = Response(answer="x")
    assert WithRetriever(agent=Asked(answer), retriever=Asked(FOUND)).check(WORLD) == 200
    assert WithRetriever(agent=None, retriever=Asked(FOUND)).check(WORLD) is None


def test_the_smaller_pace_counts():
    slow = Asked(FOUND, concurrency=2, requests_per_minute=60.0)
    both = WithRetriever(agent=Asked(FOUND), retriever=slow)
    assert (both.concurrency, both.requests_per_minute) == (2, 60.0)
    both = WithRetriever(agent=Asked(FOUND), retriever=Asked(FOUND))
    assert (both.concurrency, both.requests_per_minute) == (16, None)


def test_who_is_asked_is_as_gate_yml_says():
    assert subject(SAMPLE, None, Path()).describe() == "sample sample-analytics-1 (in process)"
    both = subject(SAMPLE, RECORDED, Path()).describe()
    assert both == "sample sample-analytics-1 (in process), retriever recorded in run.txt"
    assert subject(NONE, RECORDED, Path()).describe() == "retriever recorded in run.txt"
    nobody = subject(NONE, None, Path()).connect(WORLD)  # which gate.yml may not have
    with pytest.raises(UsageError, match="no agent to ask - set a retriever"):
        nobody.ask(CASE, timeout_s=1.0)


def test_another_retriever_is_another_digest():
    other = PluginSpec(name="recorded", options={"file": "other.txt"})
    digests = [subject_digest(SAMPLE, one) for one in (None, RECORDED, other)]
    assert len(set(digests)) == 3


def test_where_they_are_reached_is_part_of_the_digest_and_not_of_the_settings():
    here, there = (
        PluginSpec(name="openai", options={"base_url": f"http://127.0.0.1:{port}", "model": "m"})
        for port in (1, 2)
    )
    assert subject_digest(here, None) != subject_digest(there, None)
    for beside in (None, RECORDED):
        assert settings_digest(here, beside) == settings_digest(there, beside)
    warmer = PluginSpec(name="openai", options={**here.options, "temperature": 1.0})
    assert settings_digest(here, None) != settings_digest(warmer, None)
    assert settings_digest(here, None) != settings_digest(here, RECORDED)
