import json

import pytest

from gate.errors import GraderFailure
from gate.graders.trajectory_match import METRIC, TrajectoryMatch
from gate.records import Case, Response, ToolCall

ASK = {"role": "user", "content": "q"}
DONE = {"role": "assistant", "content": "done"}


def says(*calls):
    """One message of the model with these calls, each followed by its result."""
    made = [
        {"id": f"{name}-{n}", "function": {"name": name, "arguments": json.dumps(args)}}
        for n, (name, args) in enumerate(calls)
    ]
    results = [{"role": "tool", "tool_call_id": one["id"], "content": "r"} for one in made]
    return [{"role": "assistant", "content": "", "tool_calls": made}, *results]


A, B, C = ("a", {"x": 1}), ("b", {"y": 2}), ("c", {})
IN_TWO_TURNS = [ASK, *says(A), *says(B), DONE]
IN_ONE_TURN = [ASK, *says(A, B), DONE]


def step(one, turn=None):
    return ToolCall(name=one[0], arguments=one[1], turn=turn)


def score(reference, *steps, turns=None, **options):
    case = Case(id="a", input="?", keys={"reference_trajectory": reference})
    return TrajectoryMatch(**options).grade(case, Response(answer="", steps=steps, turns=turns))


@pytest.mark.parametrize(
    ("reference", "steps", "codes"),
    [
        (IN_TWO_TURNS, [step(A, 0), step(B, 1)], []),
        (IN_TWO_TURNS, [step(B, 0), step(A, 1)], ["wrong_tool_order:a", "wrong_tool_order:b"]),
        (IN_TWO_TURNS, [step(A, 0), step(B, 0)], ["wrong_tool_turn:b"]),
        (IN_ONE_TURN, [step(A, 0), step(B, 1)], ["wrong_tool_turn:b"]),
        (IN_ONE_TURN, [step(B, 0), step(A, 0)], []),  # inside one message any order will do
        (IN_ONE_TURN, [step(B, 0), step(A, 1)], ["wrong_tool_order"]),
        (IN_ONE_TURN, [step(B), step(A)], []),  # the agent does not tell its turns
        (IN_TWO_TURNS, [step(A), step(B)], []),
        (IN_TWO_TURNS, [step(B), step(A)], ["wrong_tool_order:a", "wrong_tool_order:b"]),
        (IN_TWO_TURNS, [step(A, 0), step(B, 2)], ["wrong_tool_turn:b"]),  # a turn without a call
        (IN_TWO_TURNS, [step(A, 0)], ["missing_tool_call:b"]),
        (IN_TWO_TURNS, [step(A, 0), step(B, 1), step(C, 2)], ["unexpected_tool_call:c"]),
        (IN_TWO_TURNS, [step(A, 0), step(("b", {"y": 3}), 1)], ["wrong_tool_args:b"]),
        ([ASK, DONE], [], []),
        ([ASK, DONE], [step(A, 0)], ["unexpected_tool_call:a"]),
        ([], [], []),
    ],
)
def test_strict(reference, steps, codes):
    found = score(reference, *steps)
    assert len(found.failures) == len(codes)
    assert all(is_.startswith(code) for is_, code in zip(found.failures, codes, strict=True))
    assert (found.values[METRIC], found.passed) == (float(not codes), not codes)


def test_steps_that_come_out_of_turn_are_put_in_order():
    assert score(IN_TWO_TURNS, step(B, 1), step(A, 0)).passed


@pytest.mark.parametrize(
    ("reference", "turns", "passes"),
    [
        (IN_TWO_TURNS, 3, True),
        (IN_TWO_TURNS, 4, False),  # it spoke once more
        (IN_TWO_TURNS[:-1], 4, True),  # the reference ends before the answer
        (IN_TWO_TURNS, None, True),
    ],
)
def test_the_number_of_turns_counts_where_the_reference_goes_on_to_the_answer(
    reference, turns, passes
):
    found = score(reference, step(A, 0), step(B, 1), turns=turns)
    assert found.passed is passes
    assert found.failures == (() if passes else ("wrong_tool_turn:(no call)",))


@pytest.mark.parametrize(
    ("mode", "made", "passes"),
    [
        ("unordered", [B, A], True),
        ("unordered", [A], False),
        ("superset", [C, B, A], True),
        ("superset", [A], False),
        ("subset", [B], True),
        ("subset", [B, C], False),
        ("subset", [], True),
    ],
)
def test_other_modes_look_at_the_calls_alone(mode, made, passes):
    steps = [step(one, turn) for turn, one in enumerate(made)]
    assert score(IN_ONE_TURN, *steps, mode=mode).passed is passes


PLAIN = [{"name": "a", "args": {"x": 1}}, {"name": "b"}]


@pytest.mark.parametrize(
    ("reference", "steps", "passes"),
    [
        (PLAIN, [step(A), step(B)], True),
        (PLAIN, [step(A), step(("b", {"any": 1}))], True),
        (PLAIN, [step(B), step(A)], False),
        (PLAIN, [step(B, 0), step(A, 0)], True),  # made at once: they have no order
        (PLAIN, [step(B, 0), step(A, 1)], False),
        ([{"name": "a", "arguments": {"x": 1}, "turn": 0, "result": "r"}], [step(A, 0)], True),
        ([{"name": "a", "turn": 1}], [step(A, 0)], False),
        ([{"name": "a", "args": {"x": 1}, "arguments": {"x": 2}}], [step(A)], True),
        ([{"name": "b", "turn": 1}, {"name": "a", "turn": 0}], [step(A, 0), step(B, 1)], True),
        ([{"name": "b", "turn": 1}, {"name": "a", "turn": 0}], [step(B, 0), step(A, 1)], False),
        ([{"name": "a", "turn": 0}, {"name": "b"}], [step(A), step(B)], True),  # told in part
        ([{"name": "a", "any_of": {"x": [1, 2]}, "optional": ["z"]}], [step(A)], True),
        ([{"name": "a", "any_of": {"x": [3, 2]}}], [step(A)], False),
    ],
)
def test_plain_steps_as_a_reference(reference, steps, passes):
    assert score(reference, *steps).passed is passes


LANGCHAIN = [
    {"type": "human", "content": "q"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "a", "args": {"x": 1}, "id": "1"}]},
    {"type": "tool", "content": "r", "tool_call_id": "1"},
    {"type": "ai", "content": "done"},
]
ANTHROPIC = [
    ASK,
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {"x": 1}}],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
]


@pytest.mark.parametrize(
    "reference",
    [LANGCHAIN, {"messages": LANGCHAIN}, ANTHROPIC, {"messages": [ASK, *says(A), DONE]}],
    ids=["langchain", "langgraph", "anthropic", "openai in an object"],
)
def test_messages_of_any_library_are_a_reference(reference):
    assert score(reference, step(A, 0), turns=2).passed
    assert not score(reference, step(B, 0), turns=2).passed


def test_options_are_those_of_tool_calls():
    assert score(PLAIN, step(("a", {"x": 1, "k": 2})), step(B), args="superset").passed
    assert score([{"name": "a", "args": {"x": "A-B"}}], step(("a", {"x": "ab"})), strings="loose")
    assert score(PLAIN, step(("a", {"x": 9})), step(B), overrides={"a": "ignore"}).passed


def test_it_is_compared_as_what_is_met_or_not():
    (spec,) = TrajectoryMatch().metrics()
    assert (spec.name, spec.family) == (METRIC, "rate")


def test_an_agent_that_does_not_tell_is_unscored():
    case = Case(id="a", input="?", keys={"reference_trajectory": PLAIN})
    assert "`steps`" in TrajectoryMatch().grade(case, Response(answer="")).unscored


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ([{"args": {}}], ["reference_trajectory[0]: 'name' is missing"]),
        (
            [{"name": "a", "args": [1]}, {"name": 3}],
            ["reference_trajectory[0].args: ", "reference_trajectory[1].name: "],
        ),
        (
            [{"name": "a", "args": {"x": 1}, "any_of": {"x": [1]}}],
            ["reference_trajectory[0]: 'x' is in 'args' and in 'any_of'"],
        ),
        ([{"name": "a", "any_of": {"x": []}}], ["reference_trajectory[0].any_of.x: the list is"]),
        ({"foo": 1}, ["reference_trajectory: the shape of the trace is unknown"]),
        (
            [
                {
                    "role": "assistant",
                    "tool_calls": [{"function": {"name": "a", "arguments": "{"}}],
                },
            ],
            ["reference_trajectory: the arguments of a call of a are not a JSON object"],
        ),
        ([ASK, *says(*[A] * 1001)], ["reference_trajectory: it has more than 1,000 calls"]),
    ],
)
def test_a_reference_that_cannot_be_read(reference, told):
    found = list(TrajectoryMatch().case_faults({"reference_trajectory": reference}))
    assert len(found) == len(told)
    assert all(is_.startswith(begin) for is_, begin in zip(found, told, strict=True))
    if "in 'args' and" not in told[0]:
        with pytest.raises(GraderFailure, match="reference_trajectory"):
            score(reference, step(A))


def test_hostile_turns_cost_nothing():
    assert not score(IN_TWO_TURNS, step(A, 10**18), step(B, 10**19)).passed
    assert not score([{"name": "a", "turn": 10**18}], step(A, 0)).passed
