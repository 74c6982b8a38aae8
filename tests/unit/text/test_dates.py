"""Dates, months and parts of a year in other forms."""

import pytest

from gate.text.dates import may_date, states_date

STATED = [
    ("March 5, 2024", "signed on 5 March 2024"),
    ("5 March 2024", "signed on March 5th, 2024"),
    ("5 March 2024", "signed on the 5th of Mar. 2024"),
    ("5 March 2024", "signed on 2024-03-05"),
    ("2024-03-05", "signed on March 5, 2024"),
    ("March 5", "due on 5 March 2024"),
    ("March 2024", "in Mar 2024"),
    ("Q3 2024", "in the third quarter of 2024"),
    ("Q3 2024", "in 3Q24"),
    ("Q3 2024", "in Q3'24"),
    ("third quarter of 2024", "in Q3 2024"),
    ("H1 2024", "the first half of 2024"),
    ("Q3", "in the third quarter"),
    ("FY2023", "in fiscal 2023"),
]
NOT_STATED = [
    ("5 March 2024", "signed on 15 March 2024"),
    ("5 March 2024", "signed on March 25, 2024"),
    ("5 March 2024", "signed on 5 May 2024"),
    ("5 March 2024", "signed on 5 March"),
    ("Q3 2024", "in the third quarter"),
    ("Q3 2024", "between Q3 2023 and Q2 2024"),
    ("the quarter", "in Q3 2024"),
]


@pytest.mark.parametrize(("phrase", "text"), STATED)
def test_a_date_in_another_form(phrase, text):
    assert may_date(phrase)
    assert states_date(phrase, text)


@pytest.mark.parametrize(("phrase", "text"), NOT_STATED)
def test_another_date_or_less_than_is_asked_for(phrase, text):
    assert not states_date(phrase, text)


def test_most_texts_are_no_dates():
    assert not any(map(may_date, ["EMEA", "refund policy", "marching", "Q9"]))
