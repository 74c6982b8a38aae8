"""Facts with a unit or a noun: "5 kg", "3 bedrooms"."""

import pytest

from gate.graders.facts import Facts
from gate.records import Case, Response
from gate.text.numbers.amounts import read_amount

STATED = [
    ("5 kg", "It weighs 5kg.", True),
    ("5 kg", "5000 g of it", True),
    ("5 kg", "**5** kg", True),
    ("5 kg", "5 km", False),
    ("5 kg", "5–7 lb", False),
    ("5 kg", "5", True),
    ("500 mg", "500 micrograms", False),
    ("1.5 s", "after 1500 ms", True),
    ("2.5 hours", "2 hours 30 minutes", True),
    ("2 hours", "2 hours and 30 minutes", False),
    ("2 hours", "at 2 pm", False),
    ("30 days", "a 30-day window", True),
    ("30 days", "thirty (30) days", True),
    ("30 days", "30 calendar days", True),
    ("14 days", "two weeks", True),
    ("six months", "6 months", True),
    ("10 km", "between 5 and 10 km", True),
    ("5 km", "between 5 and 10 km", True),
    ("120 m²", "120 sq ft", False),
    ("95 m²", "95 m2", True),
    ("1000 sq ft", "92.9 square metres", True),
    ("30 MB/s", "30 MB", False),
    ("100 °C", "212 °F", True),
    ("5 tbsp", "5 tsp", False),
    ("12x", "12 times as fast", True),
    ("3.2 kg", "$3.2\\,\\mathrm{kg}$", True),
    ("5 kg", "| item | weight (kg) |\n|---|---|\n| box | 5 |", True),
    ("5 kg", "| item | weight (lb) |\n|---|---|\n| box | 5 |", False),
    ("5 kg", "weight (kg): 5", True),
    ("3 bedrooms", "a three-bedroom flat", True),
    ("3 bedrooms", "3 bathrooms", False),
    ("1000 users", "1004 users", False),
    ("10 m", "$10m", False),
    ("12 %", "12x", False),
    ("5 %", "5 customers churned", False),
    ("5 %", "5 versus 6", True),
    ("$20", "20 minutes", False),
    ("twelve", "12", True),
]


@pytest.mark.parametrize(("fact", "answer", "stated"), STATED)
def test_an_amount(fact, answer, stated):
    case = Case(id="a", input="?", keys={"expected_facts": [fact]})
    assert Facts().grade(case, Response(answer=answer)).passed is stated


@pytest.mark.parametrize("text", ["5", "5 %", "7g", "245776b", "iPhone 15", "7 Samurai", "5-"])
def test_what_is_no_amount(text):
    assert read_amount(text) is None


def test_numbers_in_words_are_amounts_too():
    assert read_amount("six months", in_words=True).number.value == 6
    assert read_amount("twelve", in_words=True).value == 12
    assert read_amount("nobody", in_words=True) is None
    assert read_amount("one of six months", in_words=True) is None


def test_a_reference_counts_where_somebody_asks_for_it():
    answer = "See section 6: it takes 5 days."
    for fact, stated in ((6, False), ({"value": 6, "near": "section"}, True), (5, True)):
        case = Case(id="a", input="?", keys={"expected_facts": [fact]})
        assert Facts().grade(case, Response(answer=answer)).passed is stated
    alone = Case(id="a", input="?", keys={"expected_facts": [6]})
    assert Facts().grade(alone, Response(answer="In section 6.")).passed
