"""One conversation in many shapes comes to the same calls, answer, usage and turns.

What a shape cannot carry is named here, and nothing else may differ.
"""

import json

import pytest

from gate.agents.traces.reading import read_trace
from tests.support.trajectory_shapes import SHAPES, SHORT, WITHOUT


@pytest.fixture(scope="module")
def folder(gate_real_data):
    return gate_real_data / "trajectory_shapes"


@pytest.fixture(scope="module")
def canonical(folder):
    return json.loads((folder / "canonical.json").read_text("utf-8"))


def trace_of(folder, name, shape=None):
    return read_trace(json.loads((folder / f"{name}.json").read_text("utf-8")), shape)


def test_every_file_of_the_folder_is_known(folder):
    found = {file.stem for file in folder.glob("*.json")}
    assert found == {*SHAPES, "canonical", "tool_schemas"}


@pytest.mark.parametrize("name", SHAPES)
def test_the_shape_is_found_and_naming_it_changes_nothing(folder, name):
    found = trace_of(folder, name)
    assert found.shape == SHAPES[name]
    assert trace_of(folder, name, SHAPES[name]) == found


@pytest.mark.parametrize("name", [name for name in SHAPES if name != SHORT])
def test_calls_answer_usage_and_turns_are_those_of_the_conversation(folder, canonical, name):
    trace, without = trace_of(folder, name), WITHOUT.get(name, ())
    wanted = canonical["tool_calls"]
    assert trace.answer == canonical["final_answer"]
    assert trace.turns == canonical["n_llm_calls"]
    made = [(step.name, step.arguments, step.raw_arguments, step.turn) for step in trace.steps]
    assert made == [(w["name"], w["arguments"], None, w["llm_call_index"]) for w in wanted]
    numbers = [step.id.rpartition("_")[2] for step in trace.steps]
    assert numbers == [w["id"].rpartition("_")[2] for w in wanted]
    if "errors" not in without:
        assert [step.error is not None for step in trace.steps] == [w["error"] for w in wanted]
    if "results" in without:
        assert [step.result for step in trace.steps] == [None] * 4
        assert trace.faults[0].startswith("4 calls have no result")
    elif "errors" in without:
        texts = [f"Error: {w['result']}" if w["error"] else w["result"] for w in wanted]
        assert [step.result for step in trace.steps] == texts
    else:
        assert [step.result for step in trace.steps] == [w["result"] for w in wanted]
        assert trace.faults == ()
    usage = trace.usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    told = [canonical["usage"][f"{key}_tokens"] for key in ("input", "output", "cached_input")]
    assert list(counts) == ([None] * 3 if "usage" in without else told)


def test_the_legacy_file_has_the_first_call_and_an_answer_of_its_own(folder, canonical):
    trace = trace_of(folder, SHORT)
    (step,), first = trace.steps, canonical["tool_calls"][0]
    assert (step.name, step.arguments) == (first["name"], first["arguments"])
    assert (step.result, step.turn) == (first["result"], 0)
    assert (trace.answer, trace.turns, trace.faults) == ("57F", 2, ())


def test_openagents_own_records(gate_real_data):
    file = gate_real_data / "openagent" / "log_and_http_samples.json"
    samples = json.loads(file.read_text("utf-8"))
    for name in ("console_old", "console_new", "audit"):
        lines = samples["audit_jsonl"] if name == "audit" else "\n".join(samples[name])
        expected = samples["expected_audit_executed" if name == "audit" else f"expected_{name}"]
        assert [step.name for step in read_trace(lines).steps] == expected
    for name in ("console_old_no_tools", "console_new_no_tools"):
        assert read_trace("\n".join(samples[name])).steps == ()
