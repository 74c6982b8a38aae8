"""Right answers of a case's keys, and wrong ones made of them."""

import pytest

from gate.records import Case, ToolCall
from gate.suites.cases.curation.demands import demands_of
from gate.suites.cases.curation.gold import gold_of
from gate.suites.cases.curation.mutations import exchange_figures, figures_of, move_figures


def swaps(answer, question="", locale="en"):
    return list(exchange_figures(answer, figures_of(answer, question, locale)))


def fives(answer, question="", locale="en"):
    return [
        one.answer for one in move_figures(answer, figures_of(answer, question, locale), locale)
    ]


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("EMEA 22,706.00 USD, APAC 11,385.00 USD.", ["EMEA 11,385.00 USD, APAC 22,706.00 USD."]),
        ("$1.2M and 15 %", ["$15M and 1.2 %"]),
        ("5 in 5", []),  # the same figure twice
        ("12 tickets", []),
        ("Q1 12, Q2 15", ["Q1 15, Q2 12"]),  # no number inside a word
        ('{"a": 1, "b": 2.5}', ['{"a": 2.5, "b": 1}']),
        ("1, 2 and 3 units", ["2, 1 and 3 units", "3, 2 and 1 units", "1, 3 and 2 units"]),
    ],
)
def test_two_figures_change_places(answer, wrong):
    assert swaps(answer) == wrong


def test_what_the_question_said_is_no_figure_of_the_answer():
    assert swaps("12 in 2025, 15 in 2026", "Compare 2025 and 2026.") == ["15 in 2025, 12 in 2026"]
    assert fives("It was 12 in 2025", "How many in 2025?") == ["It was 12.6 in 2025"]
    assert fives("It was 12 in 2024") == ["It was 12.6 in 2024"]  # a year beside a number
    assert fives("In 1972.") == ["In 2071."]


@pytest.mark.parametrize(
    ("answer", "locale", "wrong"),
    [
        ("1,000 units", "en", "1,050 units"),
        ("3 tickets", "en", "3.15 tickets"),
        ("9.52 percent", "en", "10.00 percent"),
        ("0.88 days", "en", "0.92 days"),
        ("99.95 %", "en", "104.95 %"),
        ("$1.2M", "en", "$1.26M"),
        ("1.234,50 EUR", "de", "1.296,22 EUR"),
        ("-20 points", "en", "-21 points"),
    ],
)
def test_a_number_is_five_percent_larger_in_its_own_spelling(answer, locale, wrong):
    assert fives(answer, locale=locale) == [wrong]


def test_zero_and_long_answers():
    assert fives("0 tickets") == []
    assert len(fives("12 x " * 10_000)) == 12
    assert len(swaps(" ".join(f"{n} x," for n in range(2, 900)))) == 12


def gold(**keys):
    return gold_of(Case(id="c", input="?", keys={"input": "?", **keys}))


def test_documents_and_calls_are_those_of_the_keys():
    found = gold(
        expected_answer=["a", "b"],
        relevance_scores={"x": 1, "y": 3, "z": 0},
        expected_tool_calls=[
            {"name": "f", "args": {"a": 1, "c": 2}, "any_of": {"b": [2, 3]}, "optional": ["c"]}
        ],
        expected_state={"cart": {"items": {"value": 2, "tolerance": 1}}, "open": True},
    )
    assert found.answers == ("a", "b")
    assert [one.id for one in found.retrieved] == ["y", "x"]
    assert found.steps == (ToolCall(name="f", arguments={"a": 1, "b": 2}),)
    assert found.state == {"cart.items": 2, "open": True}
    way = [{"name": "g", "args": {}}, {"name": "f"}]
    longer = gold(expected_tool_calls=[{"name": "f"}], reference_trajectory=way)
    assert [one.name for one in longer.steps] == ["g", "f"]
    silent = gold()
    assert (silent.answers, silent.retrieved, silent.steps) == ((), None, None)
    assert gold(expected_answer=5).answers == ("5",)
    assert gold(expected_answer={"a": 1}).answers == ('{"a": 1}',)


def test_a_made_up_answer_stays_small_whatever_is_demanded():
    rules = {
        "collect.a": {"min": 10**9},
        "collect.a.b": {"min": 10**9},
        "collect.a.b.c": {"min": 9},
    }
    found = gold(count_rules=rules)
    assert found.made_up
    assert len(found.answers[0]) < 1_000_000
    asked = {"min_sources": 10**9, "min_tool_calls": 10**9, "must_include_tool_calls": ["f"]}
    assert len(gold(output_requirements=asked).answers[0]) < 1_000_000


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        ([30], [30, 4], True),
        ([30, 4], [30], False),
        (["$1,200"], [1200], True),
        ([{"value": 12, "near": "cost"}], [12], False),
        ([{"value": 12, "near": ["cost", "price"]}], [{"value": 12, "near": "Price"}], True),
        ([["not known", "no data"]], [["no data", "not known"]], True),
        ([{"value": "x"}, {"value": "y", "must_not": True}], ["x"], True),
    ],
)
def test_who_asks_for_the_same(one, other, met):
    wanted, there = (demands_of({"expected_facts": facts}) for facts in (one, other))
    assert all(any(a.is_met_by(b) for b in there) for a in wanted) is met


def test_without_facts_the_other_keys_tell_two_cases_apart():
    (demand,) = demands_of({"id": "a", "input": "?", "expected_answer": "x", "optimal_steps": 2})
    assert demand.key == "expected_answer"
    assert not demand.is_met_by(demands_of({"expected_answer": "y"})[0])
