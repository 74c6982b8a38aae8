"""Numbers that only say which one is meant."""

import pytest

from gate.text.numbers.labels import only_names
from gate.text.numbers.scanning import numbers

LABELS = [
    "As it says in section 6 of the manual.",
    "The right to erasure is laid down in Article 17 of the GDPR.",
    "Das Recht ist in Artikel 17 DSGVO geregelt.",
    "Le droit figure à l'article 17 du règlement.",
    "Der Zug fährt heute von Gleis 7 ab.",
    "Nach § 823 BGB haftet der Schädiger.",
    "The patient has a history of type 2 diabetes.",
    "Padece diabetes tipo 2 desde hace tiempo.",
    "The company is certified according to ISO 9001.",
    "Chanel No. 5 is still the best-selling perfume.",
    "Your order number 88213 has shipped.",
    "I have blocked the Visa card ending in 4417.",
    "The last four digits of the account are 4417.",
    "Your follow-up is on 7 March in the clinic, at noon.",
    "Ihr Termin ist am 7. März in der Ambulanz, um neun.",
    "Votre rendez-vous est le 7 mars à la clinique.",
    "Cyberpunk 2077 runs better after the latest patch.",
    "We watched Toy Story 3 and then went home.",
    "The choir sang Psalm 23 at the funeral.",
]
AMOUNTS = [
    "Please order 5 pizzas for the team tonight.",
    "the page 12 users saw when they came",
    "By default the service listens on port 8080.",
    "In Berlin 12 people were hurt that night.",
    "The numbers: Norway 12, Sweden 15, and Denmark 9.",
    "Nobody had expected that 300 came to Paris.",
    "The company was founded by Ada in 2019.",
    "And the answer is the number 42.",
    "see section 6",  # is all that the answer says
    "Your card ends in 4417.",
    "It was on 14 July 1789.",
]


@pytest.mark.parametrize("text", LABELS)
def test_a_label_is_no_amount(text):
    assert all(only_names(text, number) for number in numbers(text))


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_is_no_label(text):
    found = numbers(text)
    assert found
    assert not any(only_names(text, number) for number in found)
