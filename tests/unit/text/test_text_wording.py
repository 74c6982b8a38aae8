"""Phrases in another spelling than the one that was expected."""

import pytest

from gate.text.wording import states

STATED = [
    ("NASA", "by N.A.S.A. on Tuesday", True),
    ("U.S.", "in the US", True),
    ("UK", "the U.K. government", True),
    ("J.K. Rowling", "by J. K. Rowling", True),
    ("World Health Organization", "the World Health Organisation (WHO)", True),
    ("colour", "a color scheme", True),
    ("centre", "the center", True),
    ("travelling", "traveling light", True),
    ("ISO 9001", "ISO-9001 certified", True),
    ("ISO 9001", "ISO9001 certified", True),
    ("ISO 9001", "ISO 27001", False),
    ("email", "by e-mail", True),
    ("e-commerce", "an ecommerce site", True),
    ("1-2", "12", False),
    ("crème brûlée", "a creme brulee", True),
    ("Sao Paulo", "em São Paulo", True),
    ("pêche", "péché", False),
    ("solar panel", "solar panels", True),
    ("refund policy", "refund policies", True),
    ("new", "the news", False),
    ("Adam", "Adams said so", False),
    ("cat", "the catalogue", False),
    ("iPhone 15", "the iPhone 15's battery", True),
    ("iPhone 15", "the iPhone 15 Pro Max", False),
    ("Vitamin B1", "vitamin B12", False),
    ("Smith & Sons", "Smith and Sons", True),
    ("Dr. No", "Dr No", True),
    ("the Beatles", "four Beatles songs", True),
    ("the Who", "who was it", False),
    ("...", "no words", False),
    ("", "anything", False),
]


@pytest.mark.parametrize(("phrase", "text", "stated"), STATED)
def test_a_phrase_in_another_spelling(phrase, text, stated):
    assert states(phrase, text) is stated
