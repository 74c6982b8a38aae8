"""Texts in another form: codes with other gaps, scores, places, ports, what belongs to a name."""

import pytest

from gate.text import wording

STATED = (
    ("DE89 3704 0044 0532 0130 00", "to DE89370400440532013000, please"),
    ("1Z999AA10123456784", "1Z 999 AA1 01 2345 6784"),
    ("0800 724 6310", "call 0800-7246310"),
    ("+44 20 7946 0958", "call +442079460958"),
    ("3-1", "won 3:1 at home"),
    ("3-1", "won **3 – 1**"),
    ("3-1", "by 3 to 1"),
    ("120/80 mmHg", "it was 120 over 80"),
    ("third place", "She finished third in the downhill."),
    ("third place", "came in 3rd"),
    ("port 8443", "listens on `0.0.0.0:8443`, so"),
    ("error 502", "answered with `502 Bad Gateway`"),
    ("error 502", "HTTP status 502"),
    ("Delaware law", "the laws of the State of Delaware"),
    ("North region", "The best region was the North."),
    ("Paris office", "our office in Paris"),
    ("v2.14.3", "The stable tag is **2.14.3**."),
    ("Dr. Amina Okafor", "booked with Amina Okafor"),
    ("Ms Ferreira", "la señora Ferreira"),
    ("PostgreSQL 15", "It runs Postgres 15."),
    ("free of charge", "Returns are free."),
    ("free of charge", "You won't be charged."),
    ("at no cost", "free of charge"),
)
NOT_STATED = (
    ("DE89 3704 0044 0532 0130 00", "DE89370400440532013001"),
    ("0800 724 6310", "0800-72463101"),
    ("12-34", "1234"),
    ("3-1", "won 13:1"),
    ("3-1", "lost 1:3"),
    ("3-1", "from 3 to 14"),
    ("120/80", "between 120 and 80"),
    ("third place", "in the third quarter"),
    ("third place", "it was third-party software"),
    ("port 8443", "http://a:18443/x"),
    ("error 502", "We sold 502 chairs"),
    ("Delaware law", "the laws of Nevada, not Delaware"),
    ("North region", "The region was not the North."),
    ("free of charge", "They are not free."),
    ("free of charge", "free from nuts"),
    ("v2.14.3", "12.14.3"),
)


@pytest.mark.parametrize(("phrase", "text"), STATED)
def test_another_form_states_it(phrase, text):
    assert wording.states(phrase, text)


@pytest.mark.parametrize(("phrase", "text"), NOT_STATED)
def test_something_else_does_not(phrase, text):
    assert not wording.states(phrase, text)
