"""Numbers whose meaning is told by what stands around them: heads, shares, languages, headings."""

import pytest

from gate.graders.facts import Facts
from gate.records import Case, Response
from gate.text.numbers.heads import Head, read_head
from gate.text.numbers.languages import groups_with_points
from gate.text.numbers.scanning import numbers
from gate.text.numbers.shares import find_shares

TABLE = "| Segment | Revenue (EUR million) |\n|---|---|\n| Retail | 48.2 |\n| Wholesale | 31.7 |"
SPOKEN = [
    (48_200_000, TABLE, True),
    (48.2, TABLE, True),
    ("€48.2 million", TABLE, True),
    ("€48.2", TABLE, False),
    ("$48.2 million", TABLE, False),
    (12, "The treaty was signed on 12 March 2024 by all six parties.", False),
    (5, "It is due on March 5, 2024.", True),
    (14, "It was on 14 July 1789.", True),
    (4417, "The card ending in 4417 was charged $23.10.", False),
    (4417, "Visa **** 4417 was charged $23.10.", False),
    (4417, "Your card ends in 4417.", True),
    ("$1500", "Rent was C$1,500.", False),
    ("$1500", "Rent was 1,500 Canadian dollars.", False),
    ("$1500", "Rent was 1,500 Swiss francs.", False),
    ("$1500", "Rent was 1,500 US dollars.", True),
    ("CAD 1500", "Rent was $1,500.", True),
    ("CHF 1500", "Rent was 1,500 Swiss francs.", True),
    (0.8, "She scored 8/10.", True),
    (8, "She scored 8/10.", True),
    ("5 %", "That is five in a hundred.", True),
    ("20 %", "One in ten left.", False),
    (1.234, "Die Gemeinde zählt 1.234 Einwohner und drei Schulen.", False),
    (1234, "Die Gemeinde zählt 1.234 Einwohner und drei Schulen.", True),
]


@pytest.mark.parametrize(("fact", "answer", "stated"), SPOKEN)
def test_whether_a_fact_is_stated(fact, answer, stated):
    case = Case(id="a", input="?", keys={"expected_facts": [fact]})
    assert Facts().grade(case, Response(answer=answer)).passed is stated


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("Revenue (EUR million)", Head("EUR", 6)),
        ("Sales ($m)", Head("$", 6)),
        ("Sales in $ bn", Head("$", 9)),
        ("Users ('000)", Head("", 3)),
        ("Users (in millions)", Head("", 6)),
        ("Share (%)", Head("%", 0)),
        ("Weight (kg)", None),
        ("Revenue", None),
        ("Sales in Europe", None),
    ],
)
def test_what_a_head_tells(head, told):
    assert read_head(head) == told


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("8 out of 10 agree", [80]),
        ("three in four tests", [75]),
        ("12/15", [80]),
        ("1 in 1,000", []),
        ("5 in 10 minutes", []),
        ("on 9/11", []),
        ("12 in 50 places", []),
        ("10 of 5", []),
    ],
)
def test_shares(text, shares):
    assert [one.value for one in find_shares(text, words=True)] == shares


def test_shares_in_words_only_where_words_are_read():
    assert not find_shares("one in five", words=False)


@pytest.mark.parametrize(
    ("text", "pointed"),
    [
        ("Die Stadt hat 1.234 Einwohner.", True),
        ("El municipio tiene 1.234 habitantes y una escuela.", True),
        ("Pi is 3.142 and the ratio of a circle.", False),
        ("1.234", False),
    ],
)
def test_languages(text, pointed):
    assert groups_with_points(text) is pointed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## 4. Results\n\nin 310 cases", [310]),
        ("### 3.2 Methods\n\nin 310 cases", [310]),
        ("**4. Results**\n\nin 310 cases", [310]),
        ("## 42 customers left", [42]),
        ("as shown before [13, 14], by 60 %", [60]),
        ("as shown [3-5].", []),
        ("The values are [12, 15].", [12, 15]),
        ("a 95 % CI [12, 15]", [95, 12, 15]),
        ("the 10-K and the 20-F", []),
        ("a 12-V battery", [12]),
        ("2 mil millones de euros", [2e9]),
        ("R$ 5 mil por mês", [5000]),
    ],
)
def test_what_counts(text, found):
    assert [one.value for one in numbers(text)] == found
