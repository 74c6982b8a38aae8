"""Tool calls and trajectories against scores of agentevals 0.0.9, and where we differ on purpose.

Its argument modes act swapped in some passes, and its matching is greedy. It compares whole
conversations, as trajectory_match does; tool_calls sees the calls alone, so that `strict` does not
see which of them share a message.
"""

import json

import pytest

from gate.agents.traces.reading import read_trace
from gate.graders.tool_calls import ToolCalls
from gate.graders.trajectory_match import TrajectoryMatch
from gate.records import Case, Response, ToolCall

SAME_MESSAGE = {"same_calls_one_parallel_message", "parallel_vs_sequential", "greedy_pitfall"}
INVERTED = {"subset": "superset", "superset": "subset"}


@pytest.fixture(scope="module")
def vectors(gate_real_data):
    path = gate_real_data / "agentevals" / "match_vectors.json"
    return json.loads(path.read_text("utf-8"))


def calls(messages):
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for message in messages
        for call in message.get("tool_calls") or ()
    ]


def passed(made, wanted, **options):
    expected = [{"name": name, "args": args} for name, args in wanted]
    case = Case(id="a", input="?", keys={"expected_tool_calls": expected})
    steps = tuple(ToolCall(name=name, arguments=args) for name, args in made)
    return ToolCalls(**options).grade(case, Response(answer="", steps=steps)).passed


def ours(vectors, vector, *, args):
    case = vectors["trajectories"][vector["case"]]
    made, wanted = calls(case["outputs"]), calls(case["reference_outputs"])
    return passed(made, wanted, mode=vector["trajectory_match_mode"], args=args)


def whole(vectors, vector, *, args, reference=None):
    """The conversation against the reference, turns and all."""
    case = vectors["trajectories"][vector["case"]]
    written = case["reference_outputs"] if reference is None else reference
    trace = read_trace(case["outputs"])
    response = Response(answer=trace.answer, steps=trace.steps, turns=trace.turns)
    grader = TrajectoryMatch(mode=vector["trajectory_match_mode"], args=args)
    asked = Case(id="a", input="?", keys={"reference_trajectory": written})
    assert list(grader.case_faults(asked.keys)) == []
    return grader.grade(asked, response).passed


def quirk(vector, *, calls_alone=True):
    """Why agentevals' score of this vector is not comparable; empty when it is."""
    mode, args = vector["trajectory_match_mode"], vector["tool_args_match_mode"]
    if calls_alone and mode == "strict" and vector["case"] in SAME_MESSAGE:
        return "strict compares message by message"
    if mode == "strict":
        greedy = args in INVERTED and vector["case"] == "greedy_pitfall"
        return "greedy matching loses a pair that fits" if greedy else ""
    if mode == "subset" and args in INVERTED:
        return "the argument mode acts inverted"
    if mode == "unordered" and args in INVERTED:
        return "one of two passes has the argument mode inverted, so it acts as exact"
    if mode == "superset" and args in INVERTED and vector["case"] == "greedy_pitfall":
        return "greedy matching loses a pair that fits"
    return ""


def test_comparable_vectors_have_the_same_score(vectors):
    comparable = [v for v in vectors["vectors"] if not quirk(v)]
    assert len(comparable) >= 100
    wrong = [
        vector
        for vector in comparable
        if ours(vectors, vector, args=vector["tool_args_match_mode"]) is not vector["score"]
    ]
    assert wrong == []


def test_whole_conversations_have_the_same_score(vectors):
    comparable = [v for v in vectors["vectors"] if not quirk(v, calls_alone=False)]
    assert len(comparable) >= 108
    assert {v["case"] for v in comparable} == set(vectors["trajectories"])
    wrong = [
        vector
        for vector in comparable
        if whole(vectors, vector, args=vector["tool_args_match_mode"]) is not vector["score"]
    ]
    assert wrong == []


def test_the_inverted_passes_are_as_for_calls_alone(vectors):
    for vector in vectors["vectors"]:
        args = vector["tool_args_match_mode"]
        told = quirk(vector, calls_alone=False)
        if vector["case"] == "greedy_pitfall" or not told:
            continue
        other = INVERTED[args] if told == "the argument mode acts inverted" else "exact"
        assert whole(vectors, vector, args=other) is vector["score"], vector


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize("args", ["subset", "superset"])
def test_the_greedy_pitfall_is_none_for_conversations(vectors, mode, args):
    vector = {"case": "greedy_pitfall", "trajectory_match_mode": mode}
    assert whole(vectors, vector, args=args) is True


def test_plain_steps_with_turns_are_the_same_reference(vectors):
    for name, case in vectors["trajectories"].items():
        trace = read_trace(case["reference_outputs"])
        steps = [{"name": s.name, "args": s.arguments, "turn": s.turn} for s in trace.steps]
        vector = {"case": name, "trajectory_match_mode": "strict"}
        assert whole(vectors, vector, args="exact", reference=steps) is whole(
            vectors, vector, args="exact"
        ), name


def test_subset_equals_agentevals_with_the_other_argument_mode(vectors):
    inverted = [v for v in vectors["vectors"] if quirk(v) == "the argument mode acts inverted"]
    assert inverted
    for vector in inverted:
        other = INVERTED[vector["tool_args_match_mode"]]
        if vector["case"] != "greedy_pitfall":
            assert ours(vectors, vector, args=other) is vector["score"], vector


def test_unordered_equals_agentevals_with_exact_arguments(vectors):
    twice = [v for v in vectors["vectors"] if "acts as exact" in quirk(v)]
    assert twice
    for vector in twice:
        if vector["case"] != "greedy_pitfall":
            assert ours(vectors, vector, args="exact") is vector["score"], vector


@pytest.mark.parametrize("mode", ["unordered", "subset", "superset"])
@pytest.mark.parametrize("args", ["subset", "superset"])
def test_the_greedy_pitfall_is_none_here(vectors, mode, args):
    vector = {"case": "greedy_pitfall", "trajectory_match_mode": mode}
    assert ours(vectors, vector, args=args) is True


def test_argument_overrides(vectors):
    for vector in vectors["override_vectors"]:
        rules = {
            tool: rule if isinstance(rule, str) else tuple(rule)
            for tool, rule in vector["spec"].items()
        }
        made, wanted = vector["output_args"], vector["reference_args"]
        score = passed([("search", made)], [("search", wanted)], mode="strict", overrides=rules)
        assert score is vector["strict_score"], vector
