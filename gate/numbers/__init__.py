"""The numbers that a text states, each once: value, unit, sign, and how exactly it is stated."""

from gate.numbers.agreement import Sign, agrees, stated
from gate.numbers.currencies import currencies
from gate.numbers.number import LIMIT, PARTS, Locale, Number
from gate.numbers.scanning import numbers

__all__ = [
    "LIMIT",
    "PARTS",
    "Locale",
    "Number",
    "Sign",
    "agrees",
    "currencies",
    "numbers",
    "stated",
]
