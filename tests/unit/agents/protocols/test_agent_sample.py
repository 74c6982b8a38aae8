"""The agent type `sample`: the bundled agent inside the run's own process."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gate.agents.protocols.sample import Sample
from gate.agents.sample_agent.options import SampleOptions
from gate.errors import AgentFailure, InfraFailure, Place, UsageError
from gate.files.json_schema import mismatches
from gate.plugins import AGENTS, World, build
from gate.records import Case, Json, PluginSpec, Response
from gate.records.codec import schema_of

ROOT = Path()
QUESTION = "Within how many days of delivery may customers return unused hardware?"


def world(cancelled: Callable[[], bool] = lambda: False) -> World:
    return World(env={}, root=ROOT, cancelled=cancelled)


def case(number: int = 1, question: str = QUESTION) -> Case:
    return Case(id=f"case-{number}", input=question, keys={}, place=Place("d"))


def made(**options: Json) -> Sample:
    spec = PluginSpec(name="sample", options={"options": options})
    assert mismatches(schema_of(Sample), dict(spec.options)) == []
    agent = build(AGENTS, spec, ROOT)
    assert isinstance(agent, Sample)
    return agent


def ask_once(agent: Sample, timeout_s: float = 10.0) -> Response:
    connection = agent.connect(world())
    try:
        return connection.ask(case(), timeout_s=timeout_s)
    finally:
        connection.close()


def test_answers_with_everything_a_grader_may_want() -> None:
    found = ask_once(made())
    assert "30 days" in found.answer
    assert found.model == "sample-analytics-1"
    assert found.retrieved
    assert found.retrieved[0].id == "kb-025"
    assert found.steps
    assert found.steps[0].name == "search_documents"
    assert (found.usage.input_tokens or 0) > (found.usage.output_tokens or 0) > 0


def test_the_switches_are_its_options() -> None:
    agent = made(top_k=1, seed=7, no_tool=["run_sql"], flaky=True, refuse=0.5)
    assert agent.options == SampleOptions(
        top_k=1, seed=7, no_tool=("run_sql",), flaky=True, refuse=0.5
    )


def test_unknown_and_wrong_options_are_refused_by_the_schema() -> None:
    (unknown,) = mismatches(schema_of(Sample), {"options": {"topk": 1}})
    assert "did you mean 'top_k'" in unknown.message
    assert mismatches(schema_of(Sample), {"options": {"flaky": "often"}})
    with pytest.raises(UsageError, match="flaky 2"):
        made(flaky=2)


def test_check_and_describe() -> None:
    agent = made()
    agent.check(world())
    assert agent.describe() == "sample sample-analytics-1 (in process)"


def test_error_rate_is_an_agent_failure() -> None:
    with pytest.raises(AgentFailure):
        ask_once(made(error_rate=1))


def test_an_answer_later_than_the_timeout_is_an_agent_failure() -> None:
    with pytest.raises(AgentFailure, match=r"no answer within 0\.06 s") as late:
        ask_once(made(latency_ms=60_000), timeout_s=0.06)
    assert late.value.timed_out


def test_stopping_the_run_ends_the_wait() -> None:
    connection = made(latency_ms=60_000).connect(world(cancelled=lambda: True))
    with pytest.raises(InfraFailure, match="stopped"):
        connection.ask(case(), timeout_s=120)
    connection.close()


def test_closing_from_another_thread_ends_the_wait() -> None:
    connection = made(latency_ms=60_000).connect(world())
    closer = threading.Timer(0.05, connection.close)
    closer.start()
    with pytest.raises(InfraFailure):
        connection.ask(case(), timeout_s=120)
    closer.join()
    with pytest.raises(InfraFailure):
        connection.ask(case(), timeout_s=120)


def rounds_of(agent: Sample, workers: int) -> Counter[tuple[str, str]]:
    local = threading.local()
    opened = []

    def one(number: int) -> tuple[str, str]:
        if not hasattr(local, "connection"):
            local.connection = agent.connect(world())
            opened.append(local.connection)
        question = f"{QUESTION} ({number})"
        return str(number), local.connection.ask(case(number, question), timeout_s=10).answer

    with ThreadPoolExecutor(workers) as pool:
        found = Counter(pool.map(one, [number for _ in range(6) for number in range(8)]))
    for connection in opened:
        connection.close()
    return found


def test_the_answers_of_a_case_do_not_depend_on_the_number_of_threads() -> None:
    serial = rounds_of(made(flaky=0.5, seed=3), workers=1)
    assert len(serial) > 8, "flaky must give different answers between rounds"
    assert rounds_of(made(flaky=0.5, seed=3), workers=8) == serial
