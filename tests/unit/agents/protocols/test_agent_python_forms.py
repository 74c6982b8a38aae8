"""What functions of other people's agents return and take: pairs, counts, records, the question."""

import pytest

from gate.agents.protocols.python import PythonAgent
from gate.agents.wire import answer
from gate.analysis.columns import trial_values
from gate.errors import AgentFailure, UsageError
from gate.plugins import World
from gate.records import Attempt, Case, Trial, Usage
from gate.store.trial_rows import row_of

FILE = """
import collections, dataclasses, functools
from typing import Any, NamedTuple
import numpy

@dataclasses.dataclass
class Said:
    answer: str
    cost: float
class Meta(NamedTuple):
    total_tokens: int
@dataclasses.dataclass
class Spent:
    prompt_tokens: int
    completion_tokens: int

class Agent:
    async def aquery(self, question): return f"{question}!", {"total_tokens": 123}
    async def atyped(self, asked: "str", k: int = 5):
        return asked + "?", {"usage": {"total_tokens": 9}}
    def plain(self, case): return "for " + case["id"], None
    def typed_case(self, question: dict): return question["id"]
    def any_name(self, query: Any): return query["id"]
    def anything(self, *questions): return questions[0]["id"]
    @staticmethod
    def fixed(prompt): return prompt
    @classmethod
    def whole(cls, query): return (Said("s", 0.5), Meta(7))
    inner = None
agent = Agent()
agent.inner = Agent()
part = functools.partial(agent.plain)

def steps(case): return {"answer": "a", "steps": 3, "cost": 0.02}
def record(case): return Said("r", 0.25)
def numbers(case):
    return {"answer": "n", "total_tokens": numpy.int64(11), "cost": numpy.float32(0.5)}
def mapping(case): return collections.OrderedDict(answer="o", total_tokens=4)
def spent(case): return "s", Spent(3, 4)
def structured(case): return {"city": "Paris"}, {"total_tokens": 5, "retrieved": ["d1"]}
def wins(case): return {"answer": "own", "total_tokens": 1}, {"answer": "other", "total_tokens": 2}
def documents(case): return "a", ["d1", "d2"]
def three(case): return "a", {"total_tokens": 1}, 5
def one(case): return ("a",)
def odd(case): return "a", object()
def scalar(case): return numpy.float64(1.5)
"""


def row(response):
    attempt = Attempt(n=1, status="completed", latency_ms=1.0, response=response)
    case = Case(id="c1", input="q", keys={})
    trial = Trial(
        suite="s", case=case, round=1, attempts=(attempt,), started_at="2026-01-01", judged=0
    )
    return row_of(trial, cost_usd=None, on_agent_error={}, specs={})


@pytest.fixture
def ask(tmp_path):
    (tmp_path / "a.py").write_text(FILE)
    world = World(env={}, root=tmp_path)

    def run(name, **more):
        case = Case(**{"id": "c1", "input": "Where", "keys": {"k": 1}, **more})
        connection = PythonAgent(callable=f"./a.py:{name}").connect(world)
        try:
            return connection.ask(case, timeout_s=5)
        finally:
            connection.close()

    return run


def test_what_is_returned(ask):
    def told(name):
        found = ask(name)
        return found.answer, found.usage.total_tokens, found.usage.cost_usd

    assert {name: told(name) for name in EXPECTED} == EXPECTED
    assert ask("structured").retrieved[0].id == "d1"
    assert (ask("spent").usage.input_tokens, ask("spent").usage.output_tokens) == (3, 4)


EXPECTED = {
    "agent.aquery": ("Where!", 123, None),
    "agent.atyped": ("Where?", 9, None),
    "agent.inner.aquery": ("Where!", 123, None),
    "agent.plain": ("for c1", None, None),
    "part": ("for c1", None, None),
    "agent.typed_case": ("c1", None, None),
    "agent.any_name": ("c1", None, None),
    "agent.anything": ("c1", None, None),
    "Agent.fixed": ("Where", None, None),
    "Agent.whole": ("s", 7, 0.5),
    "steps": ("a", None, 0.02),
    "record": ("r", None, 0.25),
    "numbers": ("n", 11, 0.5),
    "mapping": ("o", 4, None),
    "spent": ("s", 7, None),
    "structured": ('{"city": "Paris"}', 5, None),
    "wins": ("own", 1, None),
}


def test_the_question_is_the_last_message_of_the_user(ask):
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "Who"}]
    assert ask("agent.aquery", input=messages).answer == "Who!"


REFUSED = {
    "documents": "tuple (str, list): return a text, a dict with 'answer', or a pair",
    "three": "tuple (str, dict, int)",
    "one": "tuple (str)",
    "odd": "tuple (str, object)",
    "scalar": "returned float64",
    "agent.nowhere": "'agent' in ./a.py has no 'nowhere'",
    "agent.inner.nowhere": "'agent.inner' in ./a.py has no 'nowhere'",
    "nobody.aquery": "./a.py has no 'nobody'",
    "agent.": "has no ''",
    "Agent.aquery": "'aquery' is a method of the class Agent: create an object in the file",
}


def test_what_cannot_be_taken_or_found_says_what_to_write(ask):
    for name, said in REFUSED.items():
        with pytest.raises((AgentFailure, UsageError)) as caught:
            ask(name)
        assert said in str(caught.value), name


# ------------------------------------------------------------------------- the answer object itself

TOTALS = [
    ({"usage": {"total_tokens": 9}}, Usage(total_tokens=9)),
    ({"total_tokens": 9}, Usage(total_tokens=9)),
    ({"prompt_tokens": 4, "completion_tokens": 5}, Usage(input_tokens=4, output_tokens=5)),
    ({"usage": {"total_tokens": 9, "prompt_tokens": 4}}, Usage(input_tokens=4, output_tokens=5)),
    ({"usage": {"total_tokens": 9, "output_tokens": 4}}, Usage(input_tokens=5, output_tokens=4)),
    (  # the parts win over a total that counts otherwise
        {"usage": {"total_tokens": 17, "input_tokens": 4, "output_tokens": 5}},
        Usage(input_tokens=4, output_tokens=5),
    ),
    ({"usage": {"input_tokens": 4}}, Usage(input_tokens=4)),
    ({"usage": {"total_tokens": -1}}, Usage()),
    (
        {"usage": {"input_tokens": 1, "output_tokens": 1}, "total_tokens": 9},
        Usage(input_tokens=1, output_tokens=1),
    ),
]


@pytest.mark.parametrize(("told", "usage"), TOTALS)
def test_a_total_alone_counts_as_tokens(told, usage):
    found = answer.response({"answer": "x", **told})
    assert found.usage == usage
    values = trial_values(row(found))
    assert values["total_tokens"] == usage.total_tokens
    assert values["input_tokens"] == usage.input_tokens


def test_a_trace_of_calls_that_tell_totals_alone_has_their_sum():
    calls = [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a", "usage": {"total_tokens": 5}},
        {"role": "assistant", "content": "b", "usage": {"total_tokens": 7}},
    ]
    assert answer.response({"messages": calls}).usage == Usage(total_tokens=12)
    del calls[2]["usage"]
    assert answer.response({"messages": calls}).usage.total_tokens is None


@pytest.mark.parametrize(
    ("steps", "kept", "number"),
    [
        (3, (), 3),
        (0, (), 0),
        (2.0, (), 2),
        (-1, None, None),
        (2.5, None, None),
        (1e300, None, None),
    ],
)
def test_steps_may_be_their_number_alone(steps, kept, number):
    found = answer.response({"answer": "x", "steps": steps})
    assert found.steps == kept
    assert trial_values(row(found))["steps"] == number
    assert bool(found.trace_faults) == (number is None)


def test_a_trace_knows_more_than_a_number_of_steps():
    trace = [{"name": "search", "args": {}}]
    found = answer.response({"answer": "x", "steps": 3, "trace": trace})
    assert [step.name for step in found.steps] == ["search"]
    with pytest.raises(AgentFailure):
        answer.response({"answer": "x", "steps": True})
