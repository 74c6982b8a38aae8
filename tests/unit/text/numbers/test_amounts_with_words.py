"""Amounts with words that say what they are."""

import time

import pytest

from gate.graders.facts import Facts
from gate.records import Case, Response

STOCK = "| Item | On hand | Reorder point |\n|---|---|---|\n| Wrap | 112 | 40 |"
MONTHS = "| Month | Occupancy |\n|---|---|\n| March | 79 % |\n| April | 84 % |"

STATED = (
    ("2-year warranty", "It is still under warranty. The maker covers it for 24 months."),
    ("3 months' notice", "by giving notice of three months to the end of a quarter"),
    ("6-month probation", "The probationary period lasts half a year. Notice is two weeks."),
    ("a warranty of two years", "a 24-month warranty"),
    ("250 g flour", "a quarter of a kilo of flour, 160 ml of water"),
    ("250 g flour", "Mix 250 g flour with 200 g sugar."),
    ("5 % interest", "interest rose from 4 % to 5 %"),
    ("4.5 % interest", "at an interest rate of 4.5%"),
    ("$1,950 per month", "The monthly rent is **$1,950**."),
    ("$0.023 per GB", "Storage costs 2.3 cents per gigabyte per month."),
    ("28.4 ct/kWh", "a unit rate of €0.284 per kWh"),
    ("50 cents", "It costs $0.50."),
    ("1.2 million sessions", "**1,214,530** sessions"),
    ("100 requests per minute", "a limit of 100 requests/minute"),
    ("3 business days", "it takes 3 working days"),
    ("3 h 20 min", "3 heures et 20 minutes"),
    ("half an hour", "30 minutes"),
    ("45 minutes", "trois quarts d'heure"),
    ("45 minutes", "tres cuartos de hora"),
    ("25 basis points", "a quarter of a percentage point"),
    ("1,5 Mio. €", "1.500.000 Euro"),
    ("reorder point 40", STOCK),
    ("84% occupancy in April", MONTHS),
    ("layover of 1 h 50 min", "You have a 110-minute layover."),
    ("liability cap of €500,000", "Liability is capped at half a million euros."),
    ("32.4 ct/kWh", "0,324 € pro Kilowattstunde"),
    ("founded in 1998", "It was founded by two students in 1998."),
    ("5 mg daily", "5 mg once daily"),
)
NOT_STATED = (
    ("2-year warranty", "It has a 1-year warranty and 2 years of support."),
    ("2-year warranty", "The contract runs 2 years."),
    ("3 months' notice", "The trial runs 3 months, and notice is 2 months."),
    ("250 g flour", "Mix 200 g flour with 250 g sugar."),
    ("250 g flour", "- 250 g sugar\n- 200 g flour"),
    ("30-day return window", "Return it within 14 days, and the refund takes 30 days."),
    ("4.5 % interest", "The fee is 4.5 %. The interest is 3 %."),
    ("$1,950 per month", "You pay $1,950 per year, billed monthly."),
    ("$0.023 per GB", "It costs 2.3 cents."),
    ("50 cents", "It costs $50."),
    ("1.2 million sessions", "1,314,530 sessions"),
    ("1.2 million sessions", "1.24 million sessions"),
    ("100 requests per minute", "100 requests per second"),
    ("5 business days", "in 5 days"),
    ("30 minutes", "two and a half hours"),
    ("1789", "in 1804"),
    ("99.95 %", "99.59 %"),
    ("reorder point 112", STOCK),
    ("84% occupancy in March", MONTHS),
    ("reorder point 40", "The reorder point is 4, the price 40."),
    ("founded in 1998", "founded in 1989 and listed in 1998"),
    ("built in 1936", "The building stands on 1,936 square metres."),
    ("refunds are possible within 30 days", "Refunds are not possible within 30 days."),
    ("net profit of 120", "a net loss of 120"),
    ("VAT 19 %", "The VAT rate is 7 % and the fee 19 %."),
)


def passes(fact: str, answer: str) -> bool:
    case = Case(id="a", input="?", keys={"expected_facts": [fact]})
    return Facts().grade(case, Response(answer=answer)).passed is True


@pytest.mark.parametrize(("fact", "answer"), STATED)
def test_the_amount_with_its_words_states_it(fact, answer):
    assert passes(fact, answer)


@pytest.mark.parametrize(("fact", "answer"), NOT_STATED)
def test_another_amount_or_other_words_do_not(fact, answer):
    assert not passes(fact, answer)


def test_a_text_of_four_figures_may_be_an_old_year():
    assert passes("1789", "in 1789")
    assert not passes("1500", "about 1,510 people")
    assert passes("1,500", "about 1,510 people")


def test_a_tolerance_of_the_fact_holds_near_a_hundred_percent():
    case = Case(
        id="a", input="?", keys={"expected_facts": [{"value": "99.95 %", "tolerance": 0.01}]}
    )
    assert Facts().grade(case, Response(answer="99.59 %")).passed is True


@pytest.mark.parametrize("repeated", ["40 ", "40, ", "40. "])
def test_a_page_of_figures_is_read_in_linear_time(repeated):
    began = time.process_time()
    assert not passes("stock of 40 boxes", repeated * 4000)
    assert time.process_time() - began < 5
