"""The measuring unit beside a number ("180 ms", "14 °C"), and what it is in another one."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from gate.text.late_pattern import late_pattern
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
        1: "s sec second sekunde seconde segundo",
        60: "min minute minuten minuto",
        3600: "h hr hour stunde stunden std heure hora",
        86_400: "day tag tage tagen jour día dia",
        604_800: "week wk woche wochen semaine semana",
        1_209_600: "fortnight",
    },
    "working time": {1: "werktag werktage arbeitstag arbeitstage arbeitstagen werktagen"},
    "months": {
        1: "month monat monate monaten mois meses",
        3: "quarter quartal",
        12: "year yr jahr jahre jahren ans année año",
    },
    "times": {1: "x × time mal fois veces"},
    "mass": {
        1e-6: "µg ug mcg microgram",
        1e-3: "mg milligram",
        1: "g gram gramme gramm gramo",
        1e3: "kg kilo kilogram kilogramme kilogramm kilogramo",
        1e6: "tonne t ton tonelada",
        453.59237: "lb pound",
        28.349523125: "oz ounce",
        6350.29318: "stone",
    },
    "length": {
        1e-6: "µm um",
        1e-3: "mm millimetre millimeter",
        1e-2: "cm centimetre centimeter zentimeter centimètre centímetro",
        1e-9: "nm nanometre nanometer",
        1: "m metre meter mètre metro",
        1e3: "km kilometre kilometer kilomètre kilómetro",
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
    "bits": {1: "bit", 1e3: "kbit", 1e6: "Mbit Mb megabit", 1e9: "Gbit Gb gigabit"},
    "bits/s": {1e3: "kbps", 1e6: "Mbps", 1e9: "Gbps"},
    "speed": {
        1: "m/s",
        1 / 3.6: "km/h kmh kph stundenkilometer",
        0.44704: "mph",
        0.514444: "kn knot",
    },
    "volume": {
        1e-3: "ml mL millilitre milliliter",
        1e-2: "cl",
        1e-1: "dl dL",
        1: "l L litre liter litro",
        3.785411784: "gal gallon",
        4.92892159375e-3: "tsp teaspoon",
        14.78676478125e-3: "tbsp tablespoon",
        0.2365882365: "cup",
        0.473176473: "pint",
        29.5735295625e-3: "floz",
    },
    "energy": {
        1 / 3600: "J joule",
        1 / 3.6: "kJ kilojoule",
        1e3 / 3.6: "MJ",
        4.184 / 3.6: "kcal cal calorie",
        1: "Wh",
        1e3: "kWh kilowattstunde kilowattstunden kilowattheure",
        1e6: "MWh",
        1e9: "GWh",
        1e12: "TWh",
    },
    "power": {
        1: "W watt",
        1e3: "kW kilowatt",
        1e6: "MW megawatt",
        1e9: "GW gigawatt",
        745.7: "hp horsepower",
        735.5: "PS",
    },
    "force": {1: "N newton", 1e3: "kN"},
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
        1e-4: "cm² cm2",
        1: "m² m2 sqm qm quadratmeter",
        1e6: "km² km2 quadratkilometer",
        1e4: "ha hectare",
        0.09290304: "sqft",
        4046.856: "acre",
    },
    "volume of a body": {1e-6: "cm³ cm3 cc", 1: "m³ m3"},
    "current": {1e-3: "mA", 1: "A amp ampere"},
    "charge": {1e-3: "mAh", 1: "Ah"},
    "loudness": {1: "dB decibel"},
    "turning": {1: "rpm"},
    "amount": {1e-3: "mmol", 1: "mol mole"},
    "image": {1: "px pixel"},
    "frames": {1: "fps"},
    "requests": {1: "rps qps tps"},
    "resolution": {1: "dpi ppi"},
    "share": {1: "ppm", 1e-3: "ppb"},
    "food": {1: "IU"},
}
_SEVERAL_WORDS = {  # and the name above
    **dict.fromkeys(("square metre", "square meter", "sq m"), "m²"),
    **dict.fromkeys(("square kilometre", "square kilometer", "sq km"), "km²"),
    **dict.fromkeys(("square foot", "square feet", "sq ft"), "sqft"),
    **dict.fromkeys(("cubic metre", "cubic meter"), "m³"),
    "fl oz": "floz",
    **dict.fromkeys(("business day", "working day", "jours ouvré", "jours ouvrable"), "werktag"),
    **dict.fromkeys(("días hábile", "días laborable"), "werktag"),
}
_BY = {
    **dict.fromkeys(("hour", "hr", "stunde", "heure", "hora"), "h"),
    **dict.fromkeys(("second", "sec", "sekunde", "seconde", "segundo"), "s"),
    **dict.fromkeys(("litre", "liter", "litro"), "l"),
    **dict.fromkeys(("kilo", "kilogram", "kilogramm", "kilogramme"), "kg"),
}
_CELSIUS, _FAHRENHEIT = Measure("temperature", 1.0), Measure("temperature", 1 / 1.8, -32 / 1.8)


class _Tables(NamedTuple):
    """Units by name: as written, in lower case, and as the keys of a table may say them."""

    exact: dict[str, Measure]
    any_case: dict[str, Measure]
    of_keys: dict[str, Measure]


@cache
def _tables() -> _Tables:
    exact = {
        name: Measure(dimension, factor)
        for dimension, factors in _NAMES.items()
        for factor, names in factors.items()
        for name in names.split()
    }
    exact |= {"°C": _CELSIUS, "℃": _CELSIUS, "°F": _FAHRENHEIT, "℉": _FAHRENHEIT}
    exact |= {"celsius": _CELSIUS, "fahrenheit": _FAHRENHEIT}
    long = {f"{name}s": one for name, one in exact.items() if name.isalpha() and len(name) > 1}
    exact = {**long, **exact}
    any_case = {n.lower(): one for n, one in exact.items() if len(n) > 2 or n == "kg"}
    of_keys = {n.lower(): one for n, one in exact.items() if n not in ("V", "W", "B", "A", "x")}
    of_keys |= {"c": _CELSIUS, "f": _FAHRENHEIT, "degc": _CELSIUS, "degf": _FAHRENHEIT}
    return _Tables(exact, any_case, of_keys)


_AFTER = late_pattern(
    r"[ \u00a0\u202f-]?(?:(?:degrees?|Grad|degrés|grados) (?=[CF]\b|(?i:Celsius|Fahrenheit)))?"
    r"(?P<unit>(?:°[ ]?)?[^\W\d_]{1,16}[²2³3]?|℃|℉|×)"
    r"(?:(?: ?/ ?|[ -](?:per|pro|par|por)[ -](?=h|s|k|l|[Ss]t|[Ss]e))(?P<by>[^\W\d_]{1,9}))?(?!\w)"
)
_SEVERAL = late_pattern(
    r"[ \u00a0-]?(?P<unit>square (?:kilo)?met(?:re|er)|square f(?:oo|ee)t|sq\.? ?(?:k?m|ft)"
    r"|cubic met(?:re|er)|fl\.? ?oz|(?:business|working) day"
    r"|jours ouvr(?:able|é)|días (?:hábile|laborable))s?\b",
    re.IGNORECASE,
)
_LAST_WORD = late_pattern(
    r"(?P<unit>[^\W\d_]{1,12})(?:_?(?:/|per)_?(?P<by>[^\W\d_]{1,6}))?[\s)\]]*\Z"
)
_BEGIN_SEVERAL = frozenset(("sq", "cu", "fl", "bu", "wo", "jo", "d\u00ed"))
_FIRSTS = frozenset(" \u00a0\u202f-°℃℉×")


class Measured(NamedTuple):
    """A unit beside a number, and where it ends."""

    measure: Measure
    end: int


def measure(text: str, number: Number) -> Measure | None:
    """The unit right after a number of the text; None: none, or one that is not known here. "12x"
    has none: it is how many times as much.
    """
    found = measured(text, number)
    return found.measure if found and found.measure.dimension != "times" else None


def measured(text: str, number: Number) -> Measured | None:
    """The same, "12x" and "12 times" too, with where it ends."""
    if number.unit:
        return None
    start = number.end
    sign = text[start : start + 1]
    if not (sign.isalpha() or sign in _FIRSTS) or not sign:
        return None
    if text[start + 1 : start + 3].lower() in _BEGIN_SEVERAL:
        several = _SEVERAL.match(text, start, start + 40)
        words = several["unit"].lower().replace(".", " ").split() if several else ()
        if several and (name := _SEVERAL_WORDS.get(" ".join(words))):
            return Measured(_tables().exact[name], several.end())
    found = _AFTER.match(text, start, start + 40)
    one = _named(found["unit"].replace(" ", ""), found["by"] or "") if found else None
    return Measured(one, found.end()) if found and one else None


def is_unit(letters: str) -> bool:
    """Whether letters that stand right at a number can be its unit."""
    return _named(letters, "") is not None


@lru_cache(maxsize=2048)
def _named(unit: str, by: str) -> Measure | None:
    by = _BY.get(by.lower(), by)
    if by and (whole := _tables().exact.get(f"{unit}/{by}")):
        return whole
    if unit in ("C", "F"):
        return _CELSIUS if unit == "C" else _FAHRENHEIT
    one = _tables().exact.get(unit) or _tables().any_case.get(unit.lower())
    if one is None or not by:
        return one
    if one.dimension == "length" and by in ("h", "s"):
        return Measure("speed", one.factor / (3600 if by == "h" else 1))
    return Measure(f"{one.dimension}/{by.lower()}", one.factor)


def measure_of_word(word: str) -> Measure | None:
    """Of "hours", as the word after a number that is written in words."""
    return _tables().any_case.get(word) or (_tables().exact.get(word) if len(word) > 1 else None)


@lru_cache(maxsize=2048)
def measure_of_key(key: str) -> Measure | None:
    """The unit that the end of a column's name tells: "latency_ms", "Weight (kg)", "hours"."""
    found = _LAST_WORD.search(key[-40:])
    if not found or (
        len(found["unit"]) == 1 and key[found.start() - 1 : found.start()] not in "_("
    ):
        return None
    one = _tables().of_keys.get(found["unit"].lower())
    if one is None or not found["by"]:
        return one
    return Measure(f"{one.dimension}/{found['by'].lower()}", one.factor)


def same_kind(a: Measure | None, b: Measure | None) -> bool:
    """Whether numbers with these units can be compared; None goes with each."""
    return a is None or b is None or a.dimension == b.dimension
