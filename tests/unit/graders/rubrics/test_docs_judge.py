"""docs/judge.md: what it shows loads and asks what it says."""

import re
from datetime import date
from pathlib import Path

import pytest

from gate.graders.rubrics import shown_to_judge
from gate.graders.rubrics.built_in import BUILT_IN
from gate.graders.rubrics.prompt import questions_on
from gate.graders.rubrics.rubric import Criterion, Rubric
from gate.records import Case, Response
from gate.records.codec import schema_of
from gate.run.grade import make_graders
from gate.suites.config.load import load
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
NO_FOLDER = Path()


def suite(block):
    found = load(
        lambda path: block.encode(), "gate.yml", env={}, root=NO_FOLDER, today=date(2026, 1, 1)
    )
    return found.suites[0]


@pytest.mark.parametrize("block", BLOCKS, ids=["set-up", "own"])
def test_each_block_is_a_gate_yml(block):
    assert "judge" in [spec.name for spec in suite(block).graders]


def test_the_rubric_of_ones_own_asks_and_measures_what_the_page_says():
    tone, pair = make_graders(suite(BLOCKS[1]).graders, NO_FOLDER).values()
    assert [(spec.name, spec.low, spec.high) for spec in tone.metrics()] == [
        ("response_quality.empathy", 0, 3),
        ("response_quality.policy_kept", 1, 5),
    ]
    assert (tone.needs, tone.decides, pair.decides) == (("policy",), True, False)
    keys = {"policy": "No refunds.", "old_reply": "Sorry."}
    case = Case(id="a", input="I am cross.", keys=keys)
    (asked,) = tone.questions(case, Response(answer="Oh dear."))
    assert "  3 = names it and acts on it\n  1 = a set phrase\n" in asked.instructions
    assert asked.material.index("cross") < asked.material.index("No refunds")
    assert len(pair.questions(case, Response(answer="Oh dear."))) == 2


def test_every_key_and_every_built_in_rubric_is_named():
    keys = [*schema_of(Rubric)["properties"], *schema_of(Criterion)["properties"], *BUILT_IN]
    assert [key for key in keys if f"`{key}`" not in PAGE] == []


def test_the_limits_are_those_of_the_code():
    told = " ".join(PAGE.split())
    text, context, documents, document, first, last, part = shown_to_judge.LIMITS
    assert f"cut at {text:,} characters, a context at {context:,}" in told
    assert f"the first {documents} are shown, each up to {document:,} characters" in told
    assert f"more than {first + last} steps the first {first} and the last {last}" in told
    assert f"error up to {part}." in told


def test_a_prompt_is_about_as_long_as_it_says():
    """Four characters a token, the usual rule of thumb for English."""
    case, response = Case(id="a", input="", keys={}), Response(answer="")
    tokens = {
        name: len(questions_on(rubric, case, response)[0].instructions) / 4
        for name, rubric in BUILT_IN.items()
    }
    assert tokens.pop("answer") == pytest.approx(800, rel=0.1)
    assert 350 < min(tokens.values()) < max(tokens.values()) < 500
