import json
import threading
from dataclasses import replace

import pytest

from gate.agents.protocols.replay import Replay
from gate.agents.recordings.answers import recording_line
from gate.errors import AgentFailure, InfraFailure, InvalidInput, UsageError
from gate.plugins import World
from gate.records import Case, Document, Response, ToolCall, Usage

CASE = Case(id="c1", input="q", keys={"id": "c1", "expected_answer": "a"})
WHOLE = Response(
    answer="ü\n\u2028",
    retrieved=(Document(id="d", score=0.5, text="t"),),
    context="c",
    steps=(ToolCall(name="f", arguments={"x": [1, None]}, raw_arguments=None, result="r"),),
    usage=Usage(input_tokens=1, cost_usd=0.1),
    model="m",
    finish_reason="stop",
    safety_violations=("pii",),
)


@pytest.fixture
def replay(tmp_path):
    """A connection to what the lines recorded; `tail` is appended as it is."""

    def made(*lines, tail=""):
        text = "".join(line + "\n" for line in lines) + tail
        (tmp_path / "answers.jsonl").write_text(text, encoding="utf-8")
        agent = Replay(file="answers.jsonl")
        world = World(env={}, root=tmp_path)
        agent.check(world)
        return agent.connect(world)

    return made


def ask(connection, case=CASE):
    return connection.ask(case, timeout_s=1)


def test_an_answer_comes_back_whole_with_the_latency_of_then(replay):
    connection = replay(recording_line(CASE, 1, WHOLE, 1234.56789))
    assert ask(connection) == replace(WHOLE, latency_ms=1234.568)
    connection.close()


def test_what_failed_below_the_answer_comes_back(replay):
    connection = replay(
        recording_line(CASE, 1, AgentFailure("500", transport="5xx"), 5.0),
        recording_line(CASE, 2, InfraFailure("503", transport="5xx"), 5.0),
    )
    for _ in range(3):  # the last try had no answer, so its retry has none either
        with pytest.raises((AgentFailure, InfraFailure)) as failed:
            ask(connection)
        assert failed.value.transport == "5xx"


def test_failures_come_back_as_the_kind_they_were(replay):
    connection = replay(
        recording_line(CASE, 1, AgentFailure("500 it broke"), 5.0),
        recording_line(CASE, 2, InfraFailure("refused", retry_after=3), 5.0),
    )
    with pytest.raises(AgentFailure, match="500 it broke") as broke:
        ask(connection)
    assert not broke.value.timed_out
    with pytest.raises(InfraFailure, match="refused"):
        ask(connection)


def test_a_time_out_comes_back_as_one(replay):
    connection = replay(recording_line(CASE, 1, AgentFailure("late", timed_out=True), 5.0))
    with pytest.raises(AgentFailure, match="late") as late:
        ask(connection)
    assert late.value.timed_out


def test_rounds_come_in_order_however_they_were_written(replay):
    lines = [
        recording_line(CASE, 2, Response(answer="two"), 1.0),
        recording_line(CASE, 1, InfraFailure("try again"), 1.0),
        recording_line(CASE, 1, Response(answer="one"), 1.0),
    ]
    connection = replay(*lines)
    with pytest.raises(InfraFailure, match="try again"):
        ask(connection)
    assert [ask(connection).answer for _ in range(2)] == ["one", "two"]
    with pytest.raises(InfraFailure, match="'c1' is not recorded more than 3 times"):
        ask(connection)


def test_a_round_gets_its_own_tries_whoever_asks_in_between(replay):
    lines = [
        recording_line(CASE, 1, InfraFailure("try again"), 1.0),
        recording_line(CASE, 1, Response(answer="one"), 1.0),
        recording_line(CASE, 2, Response(answer="two"), 1.0),
        recording_line(CASE, 3, InfraFailure("503"), 1.0),
    ]
    connection = replay(*lines)

    def ask_round(number):
        return connection.ask_round(CASE, number, timeout_s=1).answer

    for _ in range(2):  # the retry of round 3 has no answer either
        with pytest.raises(InfraFailure, match="503"):
            ask_round(3)
    with pytest.raises(InfraFailure, match="try again"):
        ask_round(1)
    assert ask_round(2) == "two"
    assert ask_round(1) == "one"
    with pytest.raises(InfraFailure, match="not recorded more than 4 times"):
        ask_round(2)


def test_a_round_that_was_not_recorded_gets_what_is_left(replay):
    """As in a recording of two runs, which is asked for the rounds of both."""
    lines = [recording_line(CASE, 1, Response(answer=name), 1.0) for name in ("a", "b")]
    connection = replay(*lines)
    found = [connection.ask_round(CASE, number, timeout_s=1).answer for number in (1, 2)]
    assert found == ["a", "b"]


def test_the_retry_of_a_try_without_an_answer_has_none_either(replay):
    connection = replay(recording_line(CASE, 1, InfraFailure("429: quota"), 1.0))
    for _ in range(3):
        with pytest.raises(InfraFailure, match="429: quota"):
            ask(connection)


def test_what_was_not_recorded_is_nobodys_answer(replay):
    connection = replay(recording_line(CASE, 1, WHOLE, 1.0))
    with pytest.raises(InfraFailure, match="'c2' is not recorded at all"):
        ask(connection, Case(id="c2", input="q", keys={}))


def test_another_input_was_not_recorded_but_another_expectation_was(replay):
    line = recording_line(CASE, 1, WHOLE, 1.0)
    changed = Case(id="c1", input="other", keys={})
    with pytest.raises(InfraFailure, match="had another input"):
        ask(replay(line), changed)
    assert ask(replay(line), Case(id="c1", input="q", keys={"expected_answer": "b"})).answer


def test_two_cases_with_one_input_keep_answers_of_their_own(replay):
    other = Case(id="c2", input=CASE.input, keys={})
    lines = [recording_line(case, 1, Response(answer=case.id), 1.0) for case in (other, CASE)]
    connection = replay(*lines)
    assert [ask(connection, case).answer for case in (CASE, other)] == ["c1", "c2"]


def test_connections_share_one_recording_and_a_new_agent_starts_anew(tmp_path):
    lines = [recording_line(CASE, n, Response(answer=str(n)), 1.0) for n in range(1, 21)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    world = World(env={}, root=tmp_path)
    for agent in (Replay(file="a.jsonl"), Replay(file="a.jsonl")):
        found = []

        def work(agent=agent, found=found):
            connection = agent.connect(world)
            found.extend(ask(connection).answer for _ in range(5))
            connection.close()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(int, found)) == list(range(1, 21))


def test_a_last_line_that_was_cut_off_is_left_out(replay):
    line = recording_line(CASE, 1, WHOLE, 1.0)
    connection = replay(line, "", tail=line[: len(line) // 2])
    assert ask(connection).answer == WHOLE.answer
    with pytest.raises(InfraFailure):
        ask(connection)


def altered(**changes):
    line = json.loads(recording_line(CASE, 1, WHOLE, 1.0))
    return json.dumps({k: v for k, v in {**line, **changes}.items() if v != "gone"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a mapping"),
        (altered(case_id=5), "case_id: 5 is not a string"),
        (altered(case_id="gone"), "'case_id' is missing"),
        (altered(response={"answer": None}), "response.answer"),
        (altered(response={"answer": "a", "evil": 1}), "unknown key"),
        (altered(response=None), "needs one of response"),
        (altered(infra_error="x"), "needs one of response"),
        (altered(surprise=1), "unknown key"),
        (altered(round=0), "round: must be from 1 to 100,000"),
        (altered(round=10**30), "round: must be from 1 to 100,000"),
    ],
)
def test_what_is_no_recording_is_named_by_file_and_line(replay, line, said):
    with pytest.raises(InvalidInput) as caught:
        replay(recording_line(CASE, 1, WHOLE, 1.0), line)
    assert str(caught.value).startswith("answers.jsonl:2: ")
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path):
    agent = Replay(file="none.jsonl")
    for call in (agent.check, agent.connect):
        with pytest.raises(UsageError, match=r"none\.jsonl: .* --record"):
            call(World(env={}, root=tmp_path))


def test_a_line_is_one_line_of_ascii():
    line = recording_line(CASE, 3, WHOLE, 2.0)
    assert line.isascii()
    assert line.splitlines() == [line]
    assert json.loads(line)["round"] == 3
