"""What stands near a label: in clauses, in tables, in sentences with "respectively"."""

import pytest

from gate.text.numbers.page import Page
from tests.support.growth import calls

TABLE = """Costs:

| region | revenue | cost (k) |
|:-------|--------:|---------:|
| north  |      12 |       15 |
| south  |      18 |       20 |
"""
BARE = "Plan | Q1 | Q2\n--- | --- | ---\n**Pro** | 1 | 2\n"
LISTS = "Revenue, cost and profit were 12, 15 and -3, respectively. In May cost was 7."
AFTER = "We sold 5 and 7 units in Oslo and Rome, respectively."

NEAR = [
    (TABLE, "cost", [15, 20]),
    (TABLE, "revenue", [12, 18]),
    (TABLE, "north", [12, 15]),
    (TABLE, "south cost", [20]),
    (TABLE, "cost, north", [15]),
    (TABLE, "west cost", []),
    (TABLE, "Costs", [12]),
    (BARE, "Q2", [2]),
    (BARE, "Pro", [1, 2]),
    ("| Q1 | Q2 |\n|-|-|\n| 3 | 4 |", "Q1", [3]),
    ("| a \\| b | 5 |\n|-|-|\n| 3 | 4 |", "b", [3]),
    ("| a | b |\n|-|-|\n| 1 |\n| 2 | 3 | 4 |\nb was 9", "b", [3, 9]),
    ("a|b\n-|-", "b", []),
    (LISTS, "revenue", [12]),
    (LISTS, "profit", [-3]),
    (LISTS, "cost", [15, 7]),
    (AFTER, "Rome", [7]),
    (AFTER, "Oslo", [5]),
    ("Respectively, a and b.", "a", []),
    ("cost: 5; revenue: 6", "revenue", [6]),
    ("north had twelve", "north", [12]),
]


@pytest.mark.parametrize(("text", "label", "found"), NEAR)
def test_the_numbers_near_a_label(text, label, found):
    page = Page(text=text)
    assert sorted(page.numbers[i].value for i in page.near((label,))) == sorted(found)


def test_words_near_a_label_are_those_of_its_cells():
    text = "| id | state | owner |\n|-|-|-|\n| 7 | open | Ann |"
    assert [cell.strip() for cell in Page(text=text).clauses(("state",))] == ["open"]


def test_numbers_in_words_can_be_left_out():
    assert [one.value for one in Page(text="12 and three").numbers] == [12, 3]
    assert [one.value for one in Page(text="12 and three", words=False).numbers] == [12]


@pytest.mark.parametrize("piece", ["|1", "|-\n", "1, ", "respectively ", "|a|\n|-|\n|1|\n"])
def test_time_grows_with_the_length_only(piece):
    def read(count):
        return lambda: Page(text=piece * count + "cost respectively 1").near(("cost",))

    read(10)()
    assert calls(read(4_000)) < 6 * calls(read(1_000))
