"""What a text names and denies."""

import pytest

from gate.text.denial import is_denied

DENIED = [
    ("not Paris but Lyon", "Paris"),
    ("It is no longer $49.", "$49"),
    ("Use Hamburg instead of Berlin.", "Berlin"),
    ("14 days rather than 30 days", "30 days"),
    ("14 statt 30 Tage", "30"),
    ("nicht 12, sondern 15", "12"),
    ("Ce n'est pas 12 mais 15.", "12"),
    ("No son 12 sino 15.", "12"),
    ("à Lyon au lieu de Paris", "Paris"),
    ("en Sevilla en lugar de Madrid", "Madrid"),
    ("The ticket isn\u2019t refundable.", "refundable"),
    ("Breakfast is not yet included.", "included"),
    ("to all countries except Germany", "Germany"),
    ("It was moved from Tuesday to Thursday.", "Tuesday"),
    ("With it you would have paid $40.", "$40"),
    ("500 was wrong; it is 450.", "500"),
    ("It was formerly in Bonn and is now in Berlin.", "Bonn"),
    ("There is no charge.", "charge"),
]
SAID = [
    ("not Paris but Lyon", "Lyon"),
    ("not only Paris but also Lyon", "Paris"),
    ("no more than 12 people", "12"),
    ("not more than 12 people", "12"),
    ("It is not available after 30 days.", "30 days"),
    ("It was moved from Tuesday to Thursday.", "Thursday"),
    ("It was formerly in Bonn.", "Bonn"),
    ("Do not take aspirin with this.", "aspirin"),
    ("It is not known why; 12 came.", "12"),
]


def told(text, named):
    start = text.index(named)
    return is_denied(text, start, start + len(named))


@pytest.mark.parametrize(("text", "named"), DENIED)
def test_it_is_denied(text, named):
    assert told(text, named)


@pytest.mark.parametrize(("text", "named"), SAID)
def test_it_is_said(text, named):
    assert not told(text, named)


def test_no_before_a_number_denies_nothing():
    assert not is_denied("There is no 12 in it.", 12, 14, counted=True)
