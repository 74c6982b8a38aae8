"""Answers that say that they do not know, and answers that only sound so."""

import pytest

from gate.text.abstention import abstains, may_abstain

SAYS_SO = (
    "I do not know: the documents do not cover this.",
    "I'm sorry, but I couldn't find any information about that in the provided documents.",
    "The provided context does not contain the answer.",
    "I don't have access to real-time data.",
    "Not known: no document covers it.",
    "N/A",
    "unknown",
    "There is not enough information to answer this question.",
    "The contract value is not mentioned in the report.",
    "Unfortunately, I am unable to determine the exact figure from the data.",
    "The documents don\u2019t say who signed it.",
    "We cannot share personal contact details.",
    "No relevant documents were found.",
)
# Written apart, and not looked at while the rule was written.
SAYS_SO_TOO = (
    "I was not able to locate that invoice in the system.",
    "Sorry, I can't help with that request.",
    "That information is not available in the knowledge base.",
    "I'm not sure what the renewal date is.",
    "The text does not specify a date.",
    "Insufficient data.",
    "I could not retrieve the order status, please try again later.",
    "The salary range isn't disclosed.",
)
TELLS = (
    "The revenue was 5 million USD.",
    "I don't know the exact day, but it was in May 2024.",
    "There are no open tickets.",
    "He did not attend the meeting.",
    "The policy covers water damage but not floods.",
    "You cannot return shoes after 30 days.",
    "No. The fee is not refundable.",
    "Paris",
    "It can't be returned once it is opened.",
    "The plan is not included in the free tier; it costs $12.",
    "",
)
TELLS_TOO = (
    "The store does not open on Sundays.",
    "Employees may not carry over more than 5 days.",
    "I found two orders: 1021 and 1022.",
    "She was not the first to arrive; John was.",
    "The server returned 3 rows, none of them newer than 2021.",
    "Yes, we can share the report with you.",
)


@pytest.mark.parametrize("text", [*SAYS_SO, *SAYS_SO_TOO])
def test_an_answer_that_says_that_it_does_not_know(text):
    assert abstains(text)
    assert may_abstain(text)


@pytest.mark.parametrize("text", [*TELLS, *TELLS_TOO])
def test_an_answer_that_tells_something(text):
    assert not abstains(text)


def test_a_long_text_says_more_than_that():
    assert not abstains("I do not know. " + "The figures are these. " * 40)


@pytest.mark.parametrize("text", ["It is 5 USD.", "Paris, of course.", "Net revenue: 12 [kb-1]"])
def test_without_any_such_word_nobody_abstains(text):
    assert not may_abstain(text)
