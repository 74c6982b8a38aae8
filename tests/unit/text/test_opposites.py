"""A statement and its opposite."""

import pytest

from gate.text.opposites import turned


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("It rose by 17,146.00 USD.", "It fell by 17,146.00 USD."),
        ("No, it rose from 5.82 to 9.66 percent.", "Yes, it fell from 5.82 to 9.66 percent."),
        ("Yes: 52.83 percent against a target of 52.", "No: 52.83 percent against a target of 52."),
        ("Above 30 percent.", "Below 30 percent."),
        ("At least 45 days before.", "At most 45 days after."),
        ("More than the year before", "Less than the year after"),
        ("SALES ROSE", "SALES FELL"),
        ("Higher in EMEA; lower in APAC", "Lower in EMEA; higher in APAC"),
        ("Did not rise", "Did rise"),  # the negation alone: without it the rest says the opposite
        ("It doesn't fall.", "It does fall."),
        ("We cannot say. Sales grew.", "We can say. Sales shrank."),
        ("There is no plan of that name.", "There is a plan of that name."),
        ("No document knows of it.", "Yes document knows of it."),
        ("14 days", None),
        ("Moreover, the overview", None),  # words within words
        ("", None),
    ],
)
def test_turned(text, opposite):
    assert turned(text) == opposite


def test_layout_and_long_texts_stay():
    assert turned("Rose.\n\n  Fell;  up by 3") == "Fell.\n\n  Rose;  down by 3"
    assert len(turned("no not never n't " * 5_000)) > 5_000
