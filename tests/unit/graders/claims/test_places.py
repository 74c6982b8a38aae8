"""A value that the sources have is looked for where the answer speaks of it."""

import pytest

from gate.graders.hallucination import Hallucination
from gate.records import Case, Response

LODGES = """lodge,keeper,opened,beds
Larch Hut,Vera Antonov,2011-06-04,24
Cedar Hut,Pavel Reyes,2018-05-12,36
Alder Hut,Simone Fabre,2015-07-20,18"""
FEES = """| Locker | Month | Deposit |
|---|---|---|
| Small | 4 EUR | 10 EUR |
| Extra small | 3 EUR | 5 EUR |
| Large | 9 EUR | 20 EUR |"""
CAMPS = """Camp North ran from 9 to 12 May with 40 children.
Camp South ran from 3 to 6 June with 55 children."""
FARM = "The farm planted 12 rows of red beets and 30 rows of white cabbage in spring 2023."
RULES = "Members borrow up to 8 books for 20 days. Ask the desk at least 6 days before the move."
LOG = "08:15:30 release 4.2.7 started\n08:19:02 rollback to 4.2.5\n08:21:40 rollback done"
PLAN = """Mo 5. Mai: Team Falke, Halle 2
Mi 7. Mai: Team Sperber, Halle 9
Fr 9. Mai: Team Milan, Halle 4"""


@pytest.mark.parametrize(
    ("context", "right", "wrong"),
    [
        (
            LODGES,
            "Cedar Hut is kept by Pavel Reyes and opened on 12 May 2018.",
            "Cedar Hut is kept by Pavel Reyes and opened on 20 July 2015.",
        ),
        (
            LODGES,
            "Larch Hut and Alder Hut together have 42 beds.",
            "Larch Hut and Alder Hut together have 78 beds.",
        ),
        (FEES, "A small locker has a deposit of 10 EUR.", "A small locker has a deposit of 5 EUR."),
        (CAMPS, "Camp South began on June 3.", "Camp South began on 9 May."),
        (
            FARM,
            "They planted 12 rows of red beets in spring.",
            "They planted 30 rows of red beets.",
        ),
        (
            RULES,
            "Ask at the desk at least 6 days before you move.",
            "Ask at the desk at least 12 days before you move.",
        ),
        (LOG, "Release 4.2.7 was rolled back to 4.2.5.", "It was rolled back to 4.2.6."),
        (LOG, "The release started at 08:15.", "The release started at 08:15:20."),
        (
            PLAN,
            "Team Sperber spielt am 7. Mai in Halle 9.",
            "Team Sperber spielt am 7. Mai in Halle 4.",
        ),
    ],
)
def test_a_value_of_another_place_is_not_supported(context, right, wrong):
    for answer, supported in ((right, True), (wrong, False)):
        case = Case(id="a", input="What do you know about it?", keys={"context": context})
        score = Hallucination(max_rate=0).grade(case, Response(answer=answer))
        assert (score.passed is True) is supported, (answer, score.reason)


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        (LOG, "The 4.2.x line was affected."),
        (
            "Tours: walk 20 EUR, boat 34 EUR, child half.",
            "Two adults and a child pay 50 EUR in all.",
        ),
        (
            "The fall went from 40 in 2020 to 30 in 2022.",
            "It fell from 40 in 2020 to 30 in 2022, by 25 %.",
        ),
    ],
)
def test_what_may_be_right_is_not_refuted(context, answer):
    case = Case(id="a", input="And?", keys={"context": context})
    assert Hallucination(max_rate=0).grade(case, Response(answer=answer)).passed is not False


def test_a_change_has_the_first_number_as_its_base():
    context = "The fall went from 40 in 2020 to 25 in 2022."
    case = Case(id="a", input="How much less?", keys={"context": context})
    answer = "It went down from 40 in 2020 to 25 in 2022, a reduction of 60 %."
    assert Hallucination(max_rate=0).grade(case, Response(answer=answer)).passed is not True


def test_an_operand_from_another_place_is_stated():
    context = "Ring A: 14 turns by Ada Moss.\nRing B: 21 turns by Noor Elias.\nSpare wire is blue."
    answer = "With Ring B at 21 turns, the two have 14 + 21 = 35 turns in total."
    case = Case(id="a", input="How many turns?", keys={"context": context})
    details = Hallucination(max_rate=0).grade(case, Response(answer=answer)).details
    found = details.get("hallucination", details)
    assert (found["stated"], found["calculated"]) == (3, 1), found
