"""How the sample agent reads questions."""

import pytest

from gate.agents.sample_agent.knowledge import load_knowledge
from gate.agents.sample_agent.periods import find_periods, quarter_of
from gate.agents.sample_agent.question import ParsedQuestion, parse_question, parts_of
from gate.agents.sample_agent.task_steps import unknown_names
from gate.files import bundled

KNOWLEDGE = load_knowledge(bundled.folder() / "analytics")
VOCABULARY = KNOWLEDGE.vocabulary


def read(text: str) -> ParsedQuestion:
    return parse_question(text, VOCABULARY)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("in q2 2026", [("2026-04-01", "2026-06-30", "Q2 2026")]),
        ("the second quarter of 2026", [("2026-04-01", "2026-06-30", "Q2 2026")]),
        ("february 2024", [("2024-02-01", "2024-02-29", "February 2024")]),
        ("h1 2025", [("2025-01-01", "2025-06-30", "H1 2025")]),
        ("the first half of 2025", [("2025-01-01", "2025-06-30", "H1 2025")]),
        ("in 2025", [("2025-01-01", "2025-12-31", "2025")]),
        ("on 2025-03-07", [("2025-03-07", "2025-03-07", "2025-03-07")]),
        ("in 1999", [("1999-01-01", "1999-12-31", "1999")]),
        ("may we return it", []),
        (
            "q1 and q2 2025",
            [("2025-01-01", "2025-03-31", "Q1 2025"), ("2025-04-01", "2025-06-30", "Q2 2025")],
        ),
        (
            "june 2025 or july",
            [("2025-06-01", "2025-06-30", "June 2025"), ("2025-07-01", "2025-07-31", "July 2025")],
        ),
        ("in march", [("2026-03-01", "2026-03-31", "March 2026")]),
    ],
)
def test_periods(text: str, spans: list[tuple[str, str, str]]) -> None:
    found = find_periods(text, today="2026-06-30")
    assert [(p.start, p.end, p.label) for p in found] == spans


def test_the_quarter_of_a_day() -> None:
    assert quarter_of("2026-06-30").label == "Q2 2026"
    assert quarter_of("2026-01-01").start == "2026-01-01"


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("What was net revenue in Q2 2026?", "value"),
        ("Net revenue by region in 2025", "group"),
        ("Which region had the highest net revenue?", "rank"),
        ("Compare net revenue in EMEA and APAC", "compare"),
        ("Was net revenue larger in Q2 2026 than in Q1 2026?", "compare"),
        ("By how much did net revenue grow from Q1 2026 to Q2 2026?", "change"),
        ("What share of net revenue came from EMEA?", "share"),
        ("Net revenue of EMEA and APAC together", "value"),
    ],
)
def test_operations(text: str, operation: str) -> None:
    assert read(text).operation == operation


def test_filters_prefer_the_longest_name_and_keep_their_order() -> None:
    found = read("Gatehub XL and Gatehubs in North America, again Gatehub XL")
    assert found.filters == (
        ("product_name", "Gatehub XL"),
        ("product_name", "Gatehub"),
        ("region", "North America"),
    )


def test_two_periods_that_are_not_compared_become_one_span() -> None:
    (period,) = read("Net revenue from January to March 2026").periods
    assert (period.start, period.end) == ("2026-01-01", "2026-03-31")


@pytest.mark.parametrize(
    ("text", "limit", "lowest"),
    [
        ("top 3 products by units sold", 3, False),
        ("the five largest customers by net revenue", 5, False),
        ("Which two industries had the largest net revenue?", 2, False),
        ("Which region had the lowest gross margin in 2025?", 1, True),
        ("top 0 products by units sold", 1, False),
    ],
)
def test_limits(text: str, limit: int, lowest: bool) -> None:
    assert (read(text).limit, read(text).lowest) == (limit, lowest)


def test_how_many_counts_rows_of_the_table_next_to_it_only() -> None:
    assert read("How many customers do we have?").counted == "customers"
    assert read("How many open P1 tickets are there?").counted == "tickets"
    assert read("How many days do customers have?").counted is None


def test_asking_for_a_meaning_is_not_asking_for_a_figure() -> None:
    assert read("How is net revenue calculated?").defines
    assert not read("What was net revenue in 2025?").defines

    assert read("How is the mean defined? What does MRR mean?").defines
    assert not read("What was the mean order value in LATAM?").defines


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "What does Airnode cost, and how long does Doorlink last?",
            ["What does Airnode cost", "how long does Doorlink last?"],
        ),
        (
            "Who signs the letter; by when must fees be paid?",
            ["Who signs the letter", "by when must fees be paid?"],
        ),
        ("Which fee is charged, and how high is it?", None),
        ("How many units, orders and tickets were there?", None),
        ("", None),
    ],
)
def test_questions_put_in_one(text: str, parts: list[str] | None) -> None:
    assert list(parts_of(text)) == (parts or [text])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How many tickets did Falcon Works open in June?", ["Falcon"]),
        ("Compare Gatehubs with Solarnode and Hydronode", ["Solarnode", "Hydronode"]),
        ("Falcon is first. Solarnode too", []),
        ("What did Pebble Depots buy on Monday in North America?", []),
        ("What is the ARPA of SMB in Q2?", []),
    ],
)
def test_names_that_nobody_knows(text: str, names: list[str]) -> None:
    """A capital at the start of a sentence tells nothing."""
    assert list(unknown_names(text, KNOWLEDGE.index, VOCABULARY)) == names


@pytest.mark.parametrize("text", ["", "?", "§$%&/()=", "'; DROP TABLE orders; --", "x" * 50_000])
def test_strange_texts_are_read_too(text: str) -> None:
    assert read(text).filters == ()
