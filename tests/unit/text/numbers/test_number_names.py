"""Figures that are part of a name, and amounts that look like it."""

import pytest

from gate.text.numbers.scanning import numbers

NAMES = [
    *("the 9/11 attacks", "a 16:9 monitor", "3D printing", "3-D models", "a 401(k) plan"),
    *("our 5G network", "the 49ers", "set up 2FA", "a 4x4", "802.11ac"),
    *("call 1 800 555 0199", "555 123 4567 is mine", "card 4111 1111 1111 1111"),
    *("he is 5'11\" tall", "the summer of '69", "T+2 days", "at 5 o'clock", "at 12.30 pm"),
    *("a 4K TV", "in 1080p", "in her 30s", "the 80s", "half past 5 exactly", "7-Eleven"),
    *("Boeing 747", "a Peugeot 208 with air", "her iPhone 15 costs", "macOS 14", "Python 3.11 is"),
    *("World War 2", "Type 2 diabetes", "the Apollo 11 mission", "10 Downing Street"),
    *("Hauptstraße 12", "12, rue de Rivoli"),
]
AMOUNTS = {
    "5kg": [5],
    "50p each": [50],
    "12pts": [12],
    "an 80s timeout": [80],
    "5k steps": [5000],
    "12EUR": [12],
    "4K users": [4000],
    "In Paris 300 units": [300],
    "North 14, South 12": [14, 12],
    "In March 12 people": [12],
    "the Reds 3 points": [3],
    "a ratio of 3:1": [3, 1],
    "n+1 '24' x": [24],
    "it rained 12 streets": [12],
    "10 Billionen Euro": [1e13],
    "1 Billion Euro": [1e12],
    "1 billion euros": [1e9],
    "5 miljoen": [5e6],
    "980 and (1,234)": [980, -1234],
    "was (12.5)": [-12.5],
    "customers (1,234)": [1234],
    "about (44.1%)": [44.1],
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_no_number(text):
    assert [number.text for number in numbers(text)] == []


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_is_one(text):
    assert [number.value for number in numbers(text)] == AMOUNTS[text]
