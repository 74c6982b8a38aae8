"""300 examples by hand: texts and their numbers, facts and whether an answer states them."""

import re
from pathlib import Path

import pytest
import yaml

from gate.graders.facts import Facts
from gate.records import Case, Response
from gate.text.numbers.scanning import numbers

WRITTEN = yaml.safe_load(Path(__file__).with_name("number_examples.yml").read_text("utf-8"))
NUMBERS = [
    (kind, text, found)
    for kind, texts in WRITTEN["numbers"].items()
    for text, found in texts.items()
]
FACTS = [(kind, *example) for kind, examples in WRITTEN["facts"].items() for example in examples]


def read(written):
    """5 or "5 %" as value and unit."""
    value, _, unit = str(written).partition(" ")
    return float(value), unit


@pytest.mark.parametrize(("kind", "text", "found"), NUMBERS)
def test_the_numbers_of_a_text(kind, text, found):
    seen = [(number.value, number.unit) for number in numbers(text)]
    assert seen == [(pytest.approx(value), unit) for value, unit in map(read, found)]


@pytest.mark.parametrize(("kind", "fact", "answer", "stated"), FACTS)
def test_whether_an_answer_states_a_fact(kind, fact, answer, stated):
    case = Case(
        id="a",
        input="?",
        keys={"expected_facts": [fact if isinstance(fact, dict) else {"value": fact}]},
    )
    assert Facts().grade(case, Response(answer=answer)).passed is stated


def test_there_are_300_examples_of_12_kinds_and_none_differ_only_in_digits():
    shapes = [re.sub(r"\d", "0", repr(one[1:])) for one in [*NUMBERS, *FACTS]]
    assert len(shapes) >= 300
    assert len(WRITTEN["numbers"]) + len(WRITTEN["facts"]) >= 12
    assert sorted(set(shapes)) == sorted(shapes)
