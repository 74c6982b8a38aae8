"""The measuring unit beside a number ("180 ms", "14 °C"), and what it is in another one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gate.text.numbers.number import Number


class Measure(NamedTuple):
    """A unit: base = value * factor + offset, in the base unit of its dimension."""

    dimension: str  # "time", "mass", "temperature", ...; "mass/l" for a unit by another one
    factor: float
    offset: float = 0.0

    def of(self, other: Measure, value: float) -> float:
        """`value` in the unit `other`, in this one."""
        return (value * other.factor + other.offset - self.offset) / self.factor


_NAMES: dict[str, dict[float, str]] = {  # dimension -> factor -> names; NIST SP 811 (2008)
    "time": {
        1e-9: "ns nanosecond",
        1e-6: "µs us microsecond",
        1e-3: "ms msec millisecond",
        1: "s sec second",
        60: "min minute",
        3600: "h hr hour",
        86_400: "day",
        604_800: "week",
    },
    "months": {1: "month", 3: "quarter", 12: "year yr"},
    "mass": {
        1e-6: "µg ug mcg microgram",
        1e-3: "mg milligram",
        1: "g gram gramme",
        1e3: "kg kilo kilogram kilogramme",
        1e6: "tonne",
        453.59237: "lb",
        28.349523125: "oz ounce",
        6350.29318: "stone",
    },
    "length": {
        1e-6: "µm um",
        1e-3: "mm millimetre millimeter",
        1e-2: "cm centimetre centimeter",
        1: "m metre meter",
        1e3: "km kilometre kilometer",
        0.0254: "inch inches",
        0.3048: "ft foot feet",
        0.9144: "yd yard",
        1609.344: "mi mile",
    },
    "data": {
        1: "B byte",
        1e3: "kB KB kilobyte KiB",
        1e6: "MB megabyte MiB",
        1e9: "GB gigabyte GiB",
        1e12: "TB terabyte TiB",
        1e15: "PB petabyte PiB",
    },
    "bits": {1e3: "kbit kbps", 1e6: "Mbit Mbps", 1e9: "Gbit Gbps"},
    "speed": {1: "m/s", 1 / 3.6: "km/h kmh kph", 0.44704: "mph", 0.514444: "kn knot"},
    "volume": {
        1e-3: "ml mL millilitre milliliter",
        1e-2: "cl",
        1e-1: "dl dL",
        1: "l L litre liter",
        3.785411784: "gal gallon",
    },
    "energy": {1: "Wh", 1e3: "kWh", 1e6: "MWh", 1e9: "GWh", 1e12: "TWh"},
    "power": {1: "W watt", 1e3: "kW kilowatt", 1e6: "MW megawatt", 1e9: "GW gigawatt"},
    "food energy": {1: "kcal calorie", 1 / 4.184: "kJ"},
    "frequency": {1: "Hz", 1e3: "kHz", 1e6: "MHz", 1e9: "GHz"},
    "pressure": {
        1: "Pa",
        100: "hPa mbar",
        1e3: "kPa",
        1e5: "bar",
        133.322: "mmHg",
        6894.757: "psi",
    },
    "voltage": {1e-3: "mV", 1: "V volt", 1e3: "kV"},
    "area": {
        1: "m² m2 sqm",
        1e6: "km² km2",
        1e4: "ha hectare",
        0.09290304: "sqft",
        4046.856: "acre",
    },
}
_UNITS = {
    name: Measure(dimension, factor)
    for dimension, factors in _NAMES.items()
    for factor, names in factors.items()
    for name in names.split()
}
_CELSIUS, _FAHRENHEIT = Measure("temperature", 1.0), Measure("temperature", 1 / 1.8, -32 / 1.8)
_UNITS |= {"°C": _CELSIUS, "℃": _CELSIUS, "°F": _FAHRENHEIT, "℉": _FAHRENHEIT}
_UNITS |= {"celsius": _CELSIUS, "fahrenheit": _FAHRENHEIT}
_LONG = {f"{name}s": one for name, one in _UNITS.items() if name.isalpha() and len(name) > 1}
_UNITS |= {**_LONG, **_UNITS}
_ANY_CASE = {name.lower(): one for name, one in _UNITS.items() if len(name) > 2 or name == "kg"}
_OF_KEYS = {name.lower(): one for name, one in _UNITS.items() if name not in ("V", "W", "B")}
_OF_KEYS |= {"c": _CELSIUS, "f": _FAHRENHEIT, "degc": _CELSIUS, "degf": _FAHRENHEIT}
_AFTER = re.compile(
    r"[ \u00a0\u202f-]?(?:degrees? (?=[CF]\b|Celsius|Fahrenheit))?"
    r"(?P<unit>(?:°[ ]?)?[^\W\d_]{1,12}[²2]?|℃|℉)(?:/(?P<by>[^\W\d_]{1,6}))?(?!\w)"
)
_LAST_WORD = re.compile(
    r"(?P<unit>[^\W\d_]{1,12})(?:_?(?:/|per)_?(?P<by>[^\W\d_]{1,6}))?[\s)\]]*\Z"
)


def measure(text: str, number: Number) -> Measure | None:
    """The unit right after a number of the text; None: none, or one that is not known here."""
    if number.unit:
        return None
    start = number.end
    sign = text[start : start + 1]
    if not (sign.isalpha() or sign in " \u00a0\u202f-°℃℉") or not sign:
        return None
    found = _AFTER.match(text, start, start + 40)
    return _named(found["unit"].replace(" ", ""), found["by"] or "") if found else None


@lru_cache(maxsize=2048)
def _named(unit: str, by: str) -> Measure | None:
    if by and (whole := _UNITS.get(f"{unit}/{by}")):
        return whole
    if unit in ("C", "F"):
        return _CELSIUS if unit == "C" else _FAHRENHEIT
    one = _UNITS.get(unit) or _ANY_CASE.get(unit.lower())
    if one is None or not by:
        return one
    return Measure(f"{one.dimension}/{by.lower()}", one.factor)


def measure_of_word(word: str) -> Measure | None:
    """Of "hours", as the word after a number that is written in words."""
    return _ANY_CASE.get(word) or (_UNITS.get(word) if len(word) > 1 else None)


@lru_cache(maxsize=2048)
def measure_of_key(key: str) -> Measure | None:
    """The unit that the end of a column's name tells: "latency_ms", "Weight (kg)", "hours"."""
    found = _LAST_WORD.search(key[-40:])
    if not found or (
        len(found["unit"]) == 1 and key[found.start() - 1 : found.start()] not in "_("
    ):
        return None
    one = _OF_KEYS.get(found["unit"].lower())
    if one is None or not found["by"]:
        return one
    return Measure(f"{one.dimension}/{found['by'].lower()}", one.factor)


def same_kind(a: Measure | None, b: Measure | None) -> bool:
    """Whether numbers with these units can be compared; None goes with each."""
    return a is None or b is None or a.dimension == b.dimension
