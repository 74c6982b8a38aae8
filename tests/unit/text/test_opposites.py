"""A statement and its opposite."""

import pytest

from gate.text.opposite_words import LANGUAGES
from gate.text.opposites import turn_statement


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
        ("Costs plus 5", None),  # French has a word of this spelling
        ("14 days", None),
        ("Moreover, the overview", None),  # words within words
        ("", None),
    ],
)
def test_turned(text, opposite):
    assert turn_statement(text) == opposite


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("Der Umsatz stieg um 5 Prozent.", "Der Umsatz fiel um 5 Prozent."),
        ("Nein, er fiel von 9,66 auf 5,82.", "Ja, er stieg von 9,66 auf 5,82."),
        ("Der Umsatz ist nicht gestiegen.", "Der Umsatz ist gestiegen."),
        ("Die höchsten Werte liegen über 30 %.", "Die niedrigsten Werte liegen unter 30 %."),
        ("Es gibt keinen Plan dieses Namens.", "Es gibt einen Plan dieses Namens."),
        ("Größer als 5", "Kleiner als 5"),
        ("Mindestens 45 Tage vor Beginn", "Höchstens 45 Tage nach Beginn"),
        ("Die Preise nahmen zu.", "Die Preise nahmen ab."),
        ("14 Tage bis zum Übergang", None),
        ("Les ventes ont augmenté de 5 %.", "Les ventes ont diminué de 5 %."),
        ("Oui, en hausse de 3 points.", "Non, en baisse de 3 points."),
        ("Les ventes n'ont pas diminué.", "Les ventes ont diminué."),
        ("Il n’y a aucun plan de ce nom.", "Il y a un plan de ce nom."),
        ("Plus de 30 pour cent", "Moins de 30 pour cent"),
        ("Au moins 45 jours avant", "Au plus 45 jours après"),
        ("Il dit qu'augmente la part", "Il dit qu'diminue la part"),
        ("C'est surplus", None),
        ("Las ventas subieron un 5 %.", "Las ventas bajaron un 5 %."),
        ("No, bajó de 9,66 a 5,82.", "Sí, subió de 9,66 a 5,82."),
        ("Sí: más que el año anterior.", "No: menos que el año anterior."),
        ("Las ventas no aumentaron.", "Las ventas aumentaron."),
        ("No subió. Fue más que antes.", " subió. Fue menos que después."),
        ("Ningún plan tiene ese nombre.", "Algún plan tiene ese nombre."),
        ("Dentro de 14 días", "Fuera de 14 días"),
    ],
)
def test_turned_in_german_french_and_spanish(text, opposite):
    assert turn_statement(text) == opposite


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda one: one.code)
def test_each_word_of_the_table_has_an_opposite_that_is_not_itself(language):
    for pair in (*language.pairs, language.yes_no):
        assert pair[0] != pair[1]
        assert all(word == word.lower().strip() for word in pair)
    assert all(word != other for word, other in language.negations.items())


def test_layout_and_long_texts_stay():
    assert turn_statement("Rose.\n\n  Fell;  up by 3") == "Fell.\n\n  Rose;  down by 3"
    assert len(turn_statement("no not never n't " * 5_000)) > 5_000
