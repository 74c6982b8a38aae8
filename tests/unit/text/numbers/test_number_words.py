import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.text.numbers.words import worded
from tests.support.growth import calls

# text -> (value, unit) of every number in words
WORDED = {
    "twelve": [(12, "")],
    "Twenty-five percent of them": [(25, "%")],
    "forty two": [(42, "")],
    "a million": [(1e6, "")],
    "two million dollars": [(2e6, "dollars")],
    "two and a half million": [(2.5e6, "")],
    "three hundred and twelve": [(312, "")],
    "one thousand two hundred": [(1200, "")],
    "fifteen hundred": [(1500, "")],
    "half a dozen": [(6, "")],
    "a dozen, three score": [(12, ""), (60, "")],
    "half of the team": [(0.5, "")],
    "a third": [(1 / 3, "")],
    "three quarters of a million": [(750_000, "")],
    "minus five": [(-5, "")],
    "one percent": [(1, "%")],
    "two three": [(2, ""), (3, "")],
    "twenty twenty-four": [(2024, "")],
    "nineteen eighty-four": [(1984, "")],
    "three point one four": [(3.14, "")],
    "nil, twice, a couple of them": [(0, ""), (2, ""), (2, "")],
    "only one, one hour": [(1, ""), (1, "")],
    "on cloud nine, nine to five": [],
    "half past three, five o'clock": [],
    "no one knows one of them": [],
    "the second half, tens of thousands": [],
    "a score of 5": [],
    "often, weight, someone": [],
    "": [],
}


@pytest.mark.parametrize("text", WORDED, ids=repr)
def test_numbers_in_words(text):
    seen = [(number.value, number.unit) for number in worded(text)]
    assert seen == [(pytest.approx(value), unit) for value, unit in WORDED[text]]
    assert all(text[one.start : one.end] == one.text for one in worded(text))


@given(st.text())
def test_any_text_can_be_read(text):
    worded(text)


@pytest.mark.parametrize("piece", ["two ", "million ", "a hundred ", "half ", "twenty-"])
def test_time_grows_with_the_length_only(piece):
    def read(count):
        return lambda: worded(piece * count)

    read(10)()
    assert calls(read(4_000)) < 5 * calls(read(1_000))
