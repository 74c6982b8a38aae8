"""One conversation in nine shapes, and as a trace, imported: the same steps, answer and usage."""

import json

import pytest

from gate.plugins import IMPORTERS
from tests.support.trajectory_shapes import SHAPES, SHORT, WITHOUT

NAMES = [name for name in SHAPES if name != SHORT]
RESPONSES_ALONE = ("openai_chat_completions", "openai_responses")  # what was asked is not in them


@pytest.fixture(scope="module")
def folder(gate_real_data):
    return gate_real_data / "trajectory_shapes"


@pytest.fixture(scope="module")
def canonical(folder):
    return json.loads((folder / "canonical.json").read_text("utf-8"))


@pytest.mark.parametrize("name", NAMES)
def test_an_imported_conversation_is_the_canonical_one(folder, canonical, name):
    tool = "otel" if name.startswith("otel") else "messages"
    (trial,) = IMPORTERS.get_class(tool)().read(folder / f"{name}.json").trials()
    answer = trial.attempt.response
    assert trial.case.input == ("" if name in RESPONSES_ALONE else canonical["task"])
    assert answer.answer == canonical["final_answer"]
    assert answer.turns == canonical["n_llm_calls"]
    wanted = [(w["name"], w["arguments"], w["llm_call_index"]) for w in canonical["tool_calls"]]
    assert [(step.name, step.arguments, step.turn) for step in answer.steps] == wanted
    if "errors" not in WITHOUT.get(name, ()):
        failed = sum(step.error is not None for step in answer.steps)
        assert failed == canonical["n_tool_errors"]
    usage, told = answer.usage, canonical["usage"]
    expected = (told["input_tokens"], told["output_tokens"], told["cached_input_tokens"])
    unknown = "usage" in WITHOUT.get(name, ())
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens)
    assert counts == ((None, None, None) if unknown else expected)
    assert trial.attempt.passed is None


def test_the_legacy_file_has_its_one_call(folder):
    (trial,) = IMPORTERS.get_class("messages")().read(folder / f"{SHORT}.json").trials()
    answer = trial.attempt.response
    assert ([step.name for step in answer.steps], answer.answer) == (["get_weather"], "57F")
