from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import GraderFailure, UsageError
from gate.graders.claims.asking import MOST_ASKED
from gate.graders.claims.operations import operand
from gate.graders.claims.search import Candidates, Target, calculations
from gate.graders.hallucination import ANSWERS, ENTITIES, RATE, UNVERIFIED, Hallucination
from gate.records import Case, Document, Reply, Response, ToolCall
from gate.text.numbers.scanning import numbers
from tests.support.planted_numbers import right, wrong


def score(answer, context="", *, question="?", replies=(), **options):
    case = Case(id="a", input=question, keys={"input": question, "context": context})
    return Hallucination(**options).read(case, Response(answer=answer), replies)


def vote(*opinions):
    """One vote: an opinion on each number, None for no opinion."""
    items = [
        {"index": k, "explanation": "so", "verified": one}
        for k, one in enumerate(opinions, 1)
        if one is not None
    ]
    return Reply(data={"numbers": items, "canary": ""})


FAILED = Reply(data=None, failure="timed out")


# answer, context, whether its only claim is supported
SUPPORT = [
    ("It was $1.2M.", "It was $1,234,567.", True),
    ("It was $1.3M.", "It was $1,234,567.", False),
    ("It was $1,234,567.", "It was $1.2M.", False),  # more exact than its source
    ("30 % did", "a share of 0.30", True),
    ("a share of 0.3", "30 % did", True),
    ("0.5 % more", "50 basis points more", True),
    ("$5", "5 %", False),
    ("5 %", "$5", False),
    ("5 %", "5 people", False),
    ("5 %", "growth in percent: 5", True),
    ("$5", "€5", False),
    ("$5", "CAD 5", True),
    ("USD 5", "CAD 5", False),
    ("$5", '{"price": 5}', True),
    ("5 people", "5 people", True),
    ("fell by 5 %", "change: -5 %", True),
    ("rose by 5 %", "change: -5 %", False),
    ("change: -5 %", "it fell by 5 %", True),
    ("change: -5 %", "it rose by 5 %", False),
    ("sales of the pub ($5M)", "sales: $5M", True),
    ("result of the pub ($5M)", "result: -$5M", True),
    ("result: ($5M)", "result: $5M", False),
    ("about 1,200", "it was 1,234", True),
    ("1,200 of them", "it was 1,234", False),
    ("about 20 %", "it was 15.1 %", False),
    ("12 months", "twelve months", True),
    ("25 percent", "twenty-five percent", True),
    ("20 people", "twenty thousand people", False),
]


@pytest.mark.parametrize(("answer", "context", "supported"), SUPPORT)
def test_a_number_of_the_sources(answer, context, supported):
    assert score(answer, context).values[RATE] == float(not supported)


CALCULATED = [
    ("300 + 200 = 500", "300 and 200", "", True),
    ("300 + 200 = 510", "300 and 200", "", False),
    ("The total is 500 (300 + 200).", "300 and 200", "", True),
    ("It is 500 (300 + 200).", "300 and 200", "", True),
    ("500 = 300 + 200", "300 and 200", "", True),
    ("600 / 200 = 3", "600 and 200", "", True),
    ("600 / 200 = 4", "600 and 200", "", False),
    ("0 / 0 = 5", "0", "", False),
    ("2 x 30 - 4 = 56", "2, 30 and 4", "", True),
    ("20 x 12 = 240", "20 a month", "", True),  # months of a year
    ("20 x 13 = 260", "20 a month", "", False),
    ("3 x $20 = $60", "3 seats at $20", "", True),
    ("(300 - 250) / 250 * 100 = 20 %", "300 and 250", "", True),
    ("((300 + 100) * 2) / (250 - 50) = 4", "300, 100, 2, 250 and 50", "", True),
    ("((300 + 100) * 2) / (250 - 50) = 5", "300, 100, 2, 250 and 50", "", False),
    ("(300 - 300) / (250 - 250) = 5", "300 and 250", "", False),
    ("(412 - 398) / 398 = 3.5 %", "$412k, before that $398k", "", True),
    ("Rose from 250 to 280, up 12 %.", "250, then 280", "", True),
    ("Rose from 250 to 280, up 13 %.", "250, then 280", "", False),
    ("The average of 10, 20 and 60 is 30.", "10, 20, 60", "", True),
    ("The average of 10, 10 and 40 is 20.", "10, 40", "", True),
    ("They were 20 and 60. The sum of the two is 80.", "20 and 60", "", True),
    ("It makes 80.", "20 and 60", "What?", False),  # no operation is named
    ("They are 80.", "ants: 20; bees: 60; cats: 7", "What is the sum of ants and bees?", True),
    ("They are 27.", "ants: 20; bees: 60; cats: 7", "What is the sum of ants and bees?", False),
    ("Up from 999 to 1,100, by 101.", "1,100", "", False),  # an operand that nothing supports
    ("The 300 and 200 sum to 500; 60 % of 500 is 300.", "300, 200, 60 %", "", True),
    ("The share is 25 %.", "red: 50; all: 200", "What share of all is red?", True),
]


@pytest.mark.parametrize(("answer", "context", "question", "accepted"), CALCULATED)
def test_a_calculation_that_is_named(answer, context, question, accepted):
    assert (score(answer, context, question=question).values[RATE] == 0) is accepted


STOCK = "| Shop | Sold | Returned |\n|---|---|---|\n| Ulm | 480 | 12 |\n| Bern | 520 | 39 |\n"
RIDE = "Left at 09:10, arrived at 11:55. Founded in 1961, sold in 1989. Rent: $840 a month."
HALLS = "Hall Oak seats 340 and has 12 doors. Hall Elm seats 260 and has 9 doors."

# answer, context, question, whether it is supported; each kind right and wrong
FOLLOWS = [
    # all of a column, of a noun, of a sentence
    ("The shops sold 1,000 pieces.", STOCK, "", True),
    ("The shops sold 1,010 pieces.", STOCK, "", False),
    ("1,000 were sold, 51 of them returned, which is 5.1 %.", STOCK, "", True),
    ("Plant A and plant B made 1,250 cars.", "A made 500 cars.\n\nB made 750 cars.", "", True),
    ("On average the shops sold 500.", STOCK, "", True),
    # a share of two numbers of one row
    ("Bern took 7.5 % back, measured by what it sold.", STOCK, "", True),
    ("Bern took 2.5 % back, measured by what it sold.", STOCK, "", False),
    # amounts by rate, by count and by the calendar
    ("Rent comes to $10,080 a year.", RIDE, "", True),
    ("Rent comes to $10,800 a year.", RIDE, "", False),
    ("Six tickets cost $87.", "A ticket costs $14.50.", "", False),
    ("They cost $87.", "A ticket costs $14.50.", "What do 6 tickets cost?", True),
    (
        "The fund pays $2,450 a month.",
        "The fund pays 70 % of the wage.",
        "My wage is $3,500.",
        True,
    ),
    (
        "The fund pays $2,540 a month.",
        "The fund pays 70 % of the wage.",
        "My wage is $3,500.",
        False,
    ),
    ("At 32 cents a kWh, 3,500 kWh cost $1,120.", "32 cents per kWh; 3,500 kWh", "", True),
    ("At 32 cents a kWh, 3,500 kWh cost $1,210.", "32 cents per kWh; 3,500 kWh", "", False),
    # the time between two moments
    ("The ride took 165 minutes.", RIDE, "", True),
    ("The ride took 2 h 45 min.", RIDE, "", True),
    ("The ride took 3 h 45 min.", RIDE, "", False),
    ("It was sold 28 years later.", RIDE, "", True),
    ("It was sold 27 years later.", RIDE, "", False),
    ("She lived to the age of 67.", "Born on 14 March 1871, died on 2 November 1938.", "", True),
    ("She lived to the age of 68.", "Born on 14 March 1871, died on 2 November 1938.", "", False),
    # numbers that the sources say in words
    ("Take at most 1,600 mg in 24 hours.", "Take 400 mg at most four times in 24 hours.", "", True),
    ("They have 42 days.", "They have six weeks.", "", True),
    # shares, converted repetitions, operands of an equation
    ("Rash affected 1 in 25.", "Of 1,250 patients, 50 had a rash.", "", True),
    ("Rash affected 1 in 30.", "Of 1,250 patients, 50 had a rash.", "", False),
    ("Both make 1,500 mg (1.5 g).", "900 mg and 600 mg", "", True),
    ("Fell from 50 % to 40 %, a relative loss of 20 %.", "50 %, then 40 %", "", True),
    ("Fell from 50 % to 40 %, a relative loss of 10 %.", "50 %, then 40 %", "", False),
    # what a pronoun or the rest of the sentence speaks of
    ("Hall Elm is smaller. It has 9 doors.", HALLS, "", True),
    ("Hall Elm is smaller. It has 12 doors.", HALLS, "", False),
    # names, codes and years that the sources do not have, or have of something else
    ("Kite 5 weighs 2 kg.", "Kite 2 weighs 1 kg. Kite 3 weighs 2 kg.", "", False),
    ("It shows error E-4471.", "It shows error E-4417.", "", False),
    ("It shows error E-4417.", "It shows error E-4417.", "", True),
    (
        "The roof was renewed in 2016.",
        "The roof was renewed in 2009, the heating in 2016.",
        "",
        True,
    ),
    (
        "The roof was renewed in 2016.",
        "The roof was renewed in 2009. A new heating system was put in 2016.",
        "",
        False,
    ),
]


@pytest.mark.parametrize(("answer", "context", "question", "supported"), FOLLOWS)
def test_what_follows_from_the_sources(answer, context, question, supported):
    assert (score(answer, context, question=question).values[RATE] == 0) is supported


def test_a_context_that_was_read_for_another_answer_says_the_same():
    answers = ("The shops sold 1,000 pieces.", "The shops sold 900 pieces.")
    rates = [score(answer, STOCK).values[RATE] for answer in answers]
    assert rates == [score(answer, STOCK).values[RATE] for answer in answers] == [0.0, 1.0]


COSTS = "Standard delivery costs $4.99 and takes 3 days. Express delivery costs $12.50 today."
YEARS = "Parks got $14 million in 2025, up from $12 million in 2024."
SHEET = (
    "| | Aero 13 | Aero 15 |\n|-|-|-|\n| Price | $1,199 | $1,549 |\n| Weight | 1.2 kg | 1.8 kg |"
)
ROWS = "region,year,units\nIberia,2022,1840\nIberia,2023,2116\nNordics,2023,1179"
LOG = "backup done db=orders duration=2475s\nbackup done db=users duration=342s"

# answer, context, whether all that it says is supported
SAID_OF = [
    ("Express delivery costs $12.50.", COSTS, True),
    ("Express delivery costs $4.99.", COSTS, False),
    ("Parks got $12 million in 2024.", YEARS, True),
    ("Parks got $14 million in 2024.", YEARS, False),
    ("Parks got money in 2025.", YEARS, True),
    ("Parks got money in 2021.", YEARS, False),  # a year that no source has
    ("Parks got money in 2021.", "Parks got money.", True),  # the sources tell no years
    ("The Aero 15 costs $1,549.", SHEET, True),
    ("The Aero 15 costs $1,199.", SHEET, False),
    ("The Aero 15 weighs 1,800 g.", SHEET, True),
    ("The Aero 15 weighs 1,200 g.", SHEET, False),
    ("The Aero 15 weighs 1.8 lb.", SHEET, False),
    ("Iberia sold 2,116 units in 2023.", ROWS, True),
    ("Iberia sold 2,116 units in 2022.", ROWS, False),
    ("Nordics sold 2,116 units.", ROWS, False),
    ("The users backup took 342 s.", LOG, True),
    ("The users backup took 5.7 minutes.", LOG, True),
    ("The users backup took 2475 s.", LOG, False),
    ("It was 14 °C.", "It was 57.2 °F.", True),
    ("It was 57.2 °C.", "It was 57.2 °F.", False),
    ("It holds 2 TB.", "It holds 2 GB.", False),
    ("Sales were 5 million.", "| in millions | 2024 |\n| Sales | 5 |", True),
    ("Twelve percent left.", "12 % left", True),
    ("Twelve percent left.", "13 % left", False),
    ("Three stores closed.", "Two stores closed.", False),
    ("Two of us met.", "Nobody came.", True),  # nothing counts people
    ("Income doubled.", "Income went from $40 to $81.", True),
    ("Income doubled.", "Income went from $40 to $60.", False),
    ("It is three times the old price of $20, at $60.", "$20, then $60", True),
    ("It is four times the old price of $20, at $60.", "$20, then $60", False),
    ("It fell from 5 to 8.", "5, then 8", False),
    ("It fell from 8 to 5.", "5, then 8", True),
    ("It rose by 5 %.", "It fell by 5 %.", False),
    ("It is up 20 % from 250 to 300.", "250, then 300", True),
    ("It is up 17 % from 250 to 300.", "250, then 300", False),  # from the wrong base
    ("It is down 17 % from 250 to 300.", "250, then 300", False),
    ("Margin rose 2 percentage points, from 40 % to 42 %.", "40 %, then 42 %", True),
    ("Margin rose 2 %.", "It was 40 %, then 42 %", False),
]


def test_what_a_number_is_said_of():
    wrong = [
        (answer, context)
        for answer, context, supported in SAID_OF
        if (score(answer, context).values[RATE] == 0) is not supported
    ]
    assert wrong == []


def test_the_findings_are_data():
    found = score("Of 8 there are 3, 11 in sum, and 40.", "8 and 3", replies=[(vote(False),)])
    assert found.details == {
        "numbers": 4,
        "stated": 2,
        "calculated": 1,
        "verified": 0,
        "refuted": 1,
        "unverified": 0,
        "claims": [{"number": "40", "at": 33, "verdict": "refuted", "why": "so"}],
    }
    (swapped,) = score("Express delivery costs $4.99.", COSTS).details["claims"]
    assert swapped["why"] == "the sources give this number for something else"


HOSTILE = [
    *("(1 + " * 4_000, "5 of the " * 4_000, "from 5 to 8 " * 4_000, "| 1 " * 8_000),
    *(
        "a=1 " * 8_000,
        "Aero 13 costs $5, " * 2_000,
        f"{'a' * 60}\n5 = " * 600,
        "1 = 2 + " * 4_000,
    ),
]


def test_hostile_texts_end():
    for text in HOSTILE:
        score(text, "North had 12 stores, up 5 % from 10.", question="What is the total?")
        score("North had 12 stores, up 5 % from 10.", text)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_most_5_percent_of_planted_wrong_numbers_pass_offline(seed):
    passed = 0
    for _, question, context, answer, planted in wrong(seed, 300):
        case = Case(id="a", input=question, keys={"context": context})
        asked = Hallucination().questions(case, Response(answer=answer))
        passed += not (asked and f". {planted} in: " in asked[0].material)
    assert passed <= 15


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_least_85_percent_of_right_calculations_are_accepted_offline(seed):
    scores = [score(answer, text, question=q) for _, q, text, answer in right(seed, 300)]
    assert sum(one.values[ANSWERS] == 0 for one in scores) >= 255


def test_what_is_no_claim():
    answer = "In 2024, on May 5, see step 3 and table 2:\n1. v1.2.3\n2. at 12:30"
    assert score(answer, "nothing").values == {RATE: 0.0, UNVERIFIED: 0.0, ANSWERS: 0.0}
    assert score(answer, "nothing").reason == "no numbers"


def test_numbers_of_the_question_are_allowed():
    assert score("Yes, 77 of them.", "some", question="Are there 77?").values[RATE] == 0.0


def test_the_reason_counts_what_became_of_each_number():
    answer = "Of 8 there are 3, 11 in sum, and 40, 50 and 60."
    found = score(answer, "8 and 3", replies=[(vote(True, False),)], unverified="count")
    counts = "2 from the sources, 1 calculated, 1 verified, 1 refuted, 1 unverified"
    assert found.reason.startswith(f"6 numbers: {counts}; refuted 50 (so) in 'Of 8")
    assert found.values == {RATE: 2 / 6, UNVERIFIED: 1 / 6, ANSWERS: 1.0}
    assert found.passed is None


@pytest.mark.parametrize(
    ("votes", "rate", "unverified"),
    [
        ((), 1.0, 1.0),
        ((FAILED,), 1.0, 1.0),
        ((vote(True),), 0.0, 0.0),
        ((vote(False),), 1.0, 0.0),
        ((vote(None),), 1.0, 1.0),
        ((vote(True), vote(True), vote(False)), 0.0, 0.0),
        ((vote(True), vote(False)), 1.0, 1.0),
        ((vote(True), FAILED, FAILED), 0.0, 0.0),
    ],
)
def test_the_majority_of_the_votes_counts(votes, rate, unverified):
    found = score("77", "70 and 7", replies=[votes], unverified="count")
    assert (found.values[RATE], found.values[UNVERIFIED]) == (rate, unverified)


def test_a_vote_that_contradicts_itself_is_none():
    items = [{"index": 1, "explanation": "", "verified": one} for one in (True, False)]
    found = score("77", "70 and 7", replies=[(Reply(data={"numbers": items}),)])
    assert found.values[UNVERIFIED] == 1.0


def test_one_question_has_each_open_number_with_its_surroundings():
    answer = f"{'x ' * 100}It was 77 and 5 of 88. {'y ' * 100}"
    case = Case(id="a", input="Why?", keys={"context": ["five, so 5", "other text"]})
    (asked,) = Hallucination().questions(case, Response(answer=answer))
    assert asked.role == "verifier"
    assert "1. 77 in: …" in asked.material
    assert "2. 88 in: …" in asked.material
    assert "other text" in asked.material
    assert "x " * 60 not in asked.material
    assert asked.canary in asked.instructions
    assert "77" not in asked.instructions.replace(asked.canary, "")


def test_nothing_is_asked_when_nothing_is_open():
    case = Case(id="a", input="?", keys={"context": "5"})
    assert Hallucination().questions(case, Response(answer="5")) == ()


def test_numbers_beyond_those_that_are_asked_stay_unverified():
    answer = ", ".join(f"{n * 137}.5" for n in range(1, MOST_ASKED + 3))
    found = score(answer, "none", replies=[(vote(*[True] * MOST_ASKED),)])
    assert found.values[UNVERIFIED] == pytest.approx(2 / (MOST_ASKED + 2))


def test_numbers_that_may_be_calculated_are_left_apart():
    found = score("77", "70 and 7")
    assert found.values == {RATE: None, UNVERIFIED: 1.0, ANSWERS: None}
    found = score("77 in sum; 63 remain", "70 and 5 and 2 and 9", replies=[(vote(False),)])
    assert found.values[ANSWERS] == 1.0
    found = score("77", "70 and 7", replies=[(vote(False),)])
    assert found.values == {RATE: 1.0, UNVERIFIED: 0.0, ANSWERS: 1.0}
    found = score("77", "70 and 7", unverified="count")
    assert found.values == {RATE: 1.0, UNVERIFIED: 1.0, ANSWERS: 1.0}


def test_a_number_that_nothing_can_give_is_refuted_without_a_verifier():
    found = score("There are 15 stores.", "There are 14 stores.")
    assert found.values == {RATE: 1.0, UNVERIFIED: 0.0, ANSWERS: 1.0}
    assert "no calculation with two of their numbers gives it" in found.reason


CONTEXT = """| Depot | Manager | Saturday |
|---|---|---|
| Wexcombe | Ivo Marek | 08:00-12:00 |
| Pennard | Sana Qureshi | 09:00-13:00 |

The contract with Keller GmbH was signed on 3 April 2024."""


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Pennard opens at 9 am on Saturday.", None),
        ("Pennard opens at 10 am on Saturday.", "no source has this time of day"),
        ("Pennard opens from 08:00 to 12:00.", "the sources have it in another connection"),
        ("The manager of Pennard is Sana Qureshi.", None),
        ("The manager of Pennard is Ivo Marek.", "the sources have it in another connection"),
        ("The manager of Pennard is Ruth Abelson.", "no source mentions this name"),
        ("The contract was signed on April 3, 2024.", None),
        ("The contract was signed on 2024-04-13.", "no source has this date"),
        ("Le contrat a été signé le 3 avril 2024.", None),
        ("Le contrat a été signé le 4 avril 2024.", "no source has this date"),
    ],
)
def test_dates_times_and_names_are_claims(answer, why):
    found = score(answer, CONTEXT, max_rate=0)
    assert found.passed is (True if why is None else None)
    assert [one["why"] for one in found.details["claims"]][:1] == ([why] if why else [])


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("The cheapest one is Rack S at 59 EUR.", True),
        ("The cheapest one is Rack M at 89 EUR.", False),
        ("One rack in three is sold out.", None),
        ("Rack M carries 120 kg and costs 129 EUR.", None),
    ],
)
def test_ranks_shares_and_cells_with_units(answer, passed):
    table = (
        "| Model | Load | Price |\n|---|---|---|\n| Rack S | 80 kg | 59 EUR |\n"
        "| Rack M | 120 kg | 89 EUR |\n| Rack L | 180 kg | 129 EUR |"
    )
    assert score(answer, table, max_rate=0).passed is passed


def test_hours_and_minutes_are_one_number():
    outages = "42 minutes on 3 May, 18 minutes on 11 May and 65 minutes on 27 May."
    assert score("2 hours and 5 minutes in total.", outages).values[RATE] == 0.0
    assert score("2 hours and 15 minutes in total.", outages).values[RATE] != 0.0


def test_a_limit_makes_it_decide():
    assert Hallucination().decides is False
    assert Hallucination(max_rate=0.5).decides is True
    assert score("5 and 77", "5", max_rate=0.5).passed is True
    found = score("5 and 77", "5", max_rate=0.4)
    assert (found.passed, found.failures) == (False, ("unsupported_number:77",))
    assert score("77", "70 and 7", max_rate=0.4).passed is None


@pytest.mark.parametrize("options", [{"rel_tol": -1}, {"abs_tol": -1}, {"max_rate": 2}])
def test_options_that_make_no_sense(options):
    with pytest.raises(UsageError, match="hallucination"):
        Hallucination(**options)


def test_a_tolerance():
    assert score("101", "100").values[RATE] == 1.0
    assert score("5.009", "5").values[RATE] == 1.0
    assert score("101", "100", rel_tol=0.01).values[RATE] == 0.0
    assert score("101", "100", abs_tol=1).values[RATE] == 0.0


@pytest.mark.parametrize(
    "response",
    [
        Response(answer="5", context="5 of them"),
        Response(answer="5", retrieved=(Document(id="a", text="5 of them"),)),
        Response(answer="5", steps=(ToolCall(name="sql", result=[{"n": 5}]),)),
        Response(answer="5", steps=(ToolCall(name="sql", result="5 rows"),)),
    ],
)
def test_what_the_agent_saw_supports_it(response):
    case = Case(id="a", input="?", keys={})
    assert Hallucination().grade(case, response).values[RATE] == 0.0


def test_a_record_of_a_tool_names_its_numbers():
    rows = [
        {"region": "North", "sales": 300},
        {"region": "South", "sales": 250},
        {"region": "West", "sales": 9},
    ]
    case = Case(id="a", input="What is the sum of North and South?", keys={})
    response = Response(answer="It is 550.", steps=(ToolCall(name="sql", result=rows),))
    assert Hallucination().grade(case, response).values[RATE] == 0.0


def test_without_any_context_the_answer_is_unscored():
    case = Case(id="a", input="?", keys={})
    for response in (Response(answer="5"), Response(answer="5", retrieved=(Document(id="a"),))):
        assert Hallucination().questions(case, response) == ()
        with pytest.raises(GraderFailure, match="let the agent report `context`"):
            Hallucination().grade(case, response)


def test_an_agent_that_found_nothing_has_told_its_context():
    case = Case(id="a", input="?", keys={})
    assert Hallucination().grade(case, Response(answer="5", retrieved=())).values[RATE] == 1.0


ENTITY = [
    ("Elena Ruiz left.", "Elena Ruiz", 0.0),
    ("Ms Ruiz left.", "Elena Ruiz", 0.0),
    ("So Tom Baker left.", "Elena Ruiz", 1.0),
    ("On 2024-03-05 it ended.", "March 5, 2024", 0.0),
    ("In March 2024 it ended.", "on 5 March 2024", 0.0),
    ("On 03/05/2024 it ended.", "March 5, 2024", 0.0),
    ("On 03/05/2024 it ended.", "3 May 2024", 0.0),
    ("On 03/05/2024 it ended.", "May 5, 2024", 1.0),
    ("So Anna Maria Ruiz Lopez left.", "Anna Lopez, Maria Ruiz", 1.0),
    ("On March 6, 2024 it ended.", "on 5 March 2024", 1.0),
    ("On 03/05/2024 it ended.", "on 5 March 2024", 0.0),
    ("It ended in 2023.", "on 5 March 2024", 1.0),
    ('It says "no refunds after May".', "There are no refunds after May.", 0.0),
    ("It says “all sales are final”.", "Nothing is final.", 1.0),
    ('It says "no refunds ... ever again".', "no refunds, not now, not ever again", 0.0),
    ("Nothing of this kind.", "x", 0.0),
]


@pytest.mark.parametrize(("answer", "context", "rate"), ENTITY)
def test_names_dates_and_quotes(answer, context, rate):
    found = score(answer, context, entities=("names", "dates", "quotes"))
    assert found.values[ENTITIES] == rate
    assert ("not in the sources" in found.reason) is bool(rate)


PIECES = st.lists(st.sampled_from(["$1.2M", "15 %", "-3", "7,000", "0.25", "€9", "x", ".", "and"]))


@given(PIECES, PIECES, PIECES)
def test_what_stands_word_for_word_in_the_context_is_supported(before, said, after):
    context = " ".join((*before, *said, *after))
    answer = " ".join(said)
    standing = {(one.value, one.unit, one.text) for one in numbers(context)}
    claims = numbers(answer)
    assert all(a.end <= b.start for a, b in pairwise(claims))
    if all((one.value, one.unit, one.text) in standing for one in claims):
        assert score(answer, context).values[RATE] == 0.0


def test_a_source_that_is_a_bare_number_says_it_of_nothing_else():
    """The result of a tool: it has no words that could speak of something else."""
    sources = ["A plan can be tried free for 30 days with up to 10 devices.", "4.285714285714286"]
    case = Case(id="a", input="Divide the days of the trial by 7.", keys={"context": sources})
    score = Hallucination(max_rate=0).grade(case, Response(answer="The result is 4.29."))
    assert score.passed is True, score.reason


def test_a_calculation_has_one_of_the_operands_that_are_meant():
    some = [operand(number, None) for number in numbers("It has 30, 50, 80 and 20.")]
    wanted, target = ("sum", "difference"), Target(50.0, 0.5, "")

    def found(*among):
        return sorted(calculations(target, Candidates(some, set(among)), wanted))

    assert found(0, 1, 2, 3) == [("difference", 2, 0), ("sum", 0, 3)]
    assert found(2) == [("difference", 2, 0)]
    assert found(3) == [("sum", 0, 3)]
    assert found(1) == found() == []


def test_a_claim_is_tried_again_with_what_was_calculated_after_it():
    context = "North sold 412 boxes. South sold 273 boxes. East sold 96 boxes."
    total = "North and South sold 685 boxes in total."
    more = "That is 589 boxes more than East sold"
    assert score(f"{more}: {total}", context).values[RATE] == 0.0
    assert score(f"{more}.", context).values[RATE] == 1.0
