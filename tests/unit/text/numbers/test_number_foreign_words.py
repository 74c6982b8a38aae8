"""Numbers in German, French and Spanish words."""

import pytest

from gate.text.numbers.foreign_words import find_foreign

NUMBERS = {
    "Es sind fünfundzwanzig Personen.": [25],
    "dreihundertfünfzig Euro": [350],
    "zweitausend Menschen": [2000],
    "anderthalb Millionen Einwohner": [1.5e6],
    "zweieinhalb Stunden": [2.5],
    "quatre-vingt-dix euros": [90],
    "deux mille vingt-quatre": [2024],
    "Il y a douze personnes et trois chats.": [12, 3],
    "mil quinientos euros": [1500],
    "treinta y cinco": [35],
    "dos horas": [],  # may be English: nothing tells the language
    "El viaje dura dos horas.": [2],
    "He said once to seize the elf, with six dos and don'ts": [],
    "ein halbes Kilo und wunderbar": [],
    "die drei und vier": [3, 4],
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_in_foreign_words(text):
    assert [number.value for number in find_foreign(text)] == NUMBERS[text]


def test_a_unit_belongs_to_it():
    (number,) = find_foreign("um zwölf Prozent gestiegen")
    assert (number.value, number.unit, number.text) == (12, "%", "zwölf Prozent")
