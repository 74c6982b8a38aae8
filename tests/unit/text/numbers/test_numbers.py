from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.text.numbers.agreement import agrees, stated
from gate.text.numbers.number import LIMIT, Number
from gate.text.numbers.scanning import numbers
from tests.support.growth import calls, cpu_seconds

# text -> (value, unit) of every number in it
EN = {
    # B1: one pass, each number once
    "$1.2M": [(1.2e6, "$")],
    "15.3%": [(15.3, "%")],
    "grew 15.3% to $1.2M": [(15.3, "%"), (1.2e6, "$")],
    "1,234,567.89": [(1234567.89, "")],
    # B2: signs
    "-5.2%": [(-5.2, "%")],
    "−5.2 %": [(-5.2, "%")],
    "–5.2%": [(-5.2, "%")],
    "-$5": [(-5, "$")],
    "$-5": [(-5, "$")],
    "+5": [(5, "")],
    "($3.4M)": [(-3.4e6, "$")],
    "(USD 3.4 million)": [(-3.4e6, "USD")],
    "(EUR 12)": [(-12, "EUR")],
    "Airnode (1,200) and Mini (692)": [(1200, ""), (692, "")],
    "Fallow Freight (43,233.75 USD)": [(43233.75, "USD")],
    "10-20 %": [(10, "%"), (20, "%")],
    "5%-7%": [(5, "%"), (7, "%")],
    "$1.2M-$1.5M": [(1.2e6, "$"), (1.5e6, "$")],
    "10–20": [(10, ""), (20, "")],
    "from 3 to -3": [(3, ""), (-3, "")],
    "- 5 apples": [(5, "")],
    # B3: scales and currencies
    "1.2M users": [(1.2e6, "")],
    "$500k": [(5e5, "$")],
    "500K": [(5e5, "")],
    "€3M": [(3e6, "€")],
    "$1.5T": [(1.5e12, "$")],
    "£2.5bn": [(2.5e9, "£")],
    "2.5BN": [(2.5e9, "")],
    "3 tn": [(3e12, "")],
    "4 mn": [(4e6, "")],
    "3.5 million": [(3.5e6, "")],
    "3-million": [(3e6, "")],
    "12 Thousand": [(12e3, "")],
    "2 billion": [(2e9, "")],
    "1 trillion": [(1e12, "")],
    "₹5 crore": [(5e7, "₹")],
    "$5MM": [(5e6, "$")],
    "5MM": [(5, "")],
    "5m users": [(5e6, "")],
    "5m tall": [(5, "")],
    "5m 30s": [(5, ""), (30, "")],
    "$5 m": [(5e6, "$")],
    "5 m": [(5, "")],
    "5 t": [(5, "")],
    "5kg, 5MB and 5Mbps": [(5, ""), (5, ""), (5, "")],
    "100ms": [(100, "")],
    "USD 5": [(5, "USD")],
    "USD120": [(120, "USD")],
    "EGP 1.2M": [(1.2e6, "EGP")],
    "1.2M EUR": [(1.2e6, "EUR")],
    "US$5 and HK$7": [(5, "US$"), (7, "HK$")],
    "R$ 10": [(10, "R$")],
    "5 dollars": [(5, "dollars")],
    "120,411.25 USD.": [(120411.25, "USD")],
    # B4: what is no number
    "1e6": [(1e6, "")],
    "1.5E-3": [(0.0015, "")],
    "2.5×10^6": [(2.5e6, "")],
    "3 x 10⁶": [(3e6, "")],
    "v1.2.3": [],
    "1.2.3": [],
    "10.0.0.1": [],
    "12:30": [],
    "09:15:30 and 5 pm and 10am": [],
    "Q3 2024": [(2024, "")],
    "1,2,3": [(1, ""), (2, ""), (3, "")],
    "2024-05-01": [],
    "2024-05-01T10:00:00Z": [],
    "2024-05": [],
    "12/31/2024 or 31.12.2024": [],
    "March 5, 2024": [(5, ""), (2024, "")],
    "5 March": [(5, "")],
    "3rd, 21st and 1,000th": [],
    "1. one\n2. two\n3) three": [],
    "- 1. one\n- 2. two": [],
    "42. That is it": [(42, "")],
    "kb-001, GPT-4.1, H1, x86 and #12": [(12, "")],
    "550e8400-e29b-41d4-a716-446655440000": [],
    "0x1F 12_000 3a4f": [(12000, "")],
    "555-123-4567": [],
    "https://example.com/2024/5?x=3 holds 7": [(7, "")],
    "as said [1] and [23].": [],
    "[42]": [(42, "")],
    "[12, 15]": [(12, ""), (15, "")],
    # B5: percent with a space
    "20 %": [(20, "%")],
    "20 percent, 3 per cent, 4 pct": [(20, "%"), (3, "%"), (4, "%")],
    "2 percentage points": [(2, "pp")],
    "1.234,56": [(1234.56, "")],
    # layout and other scripts
    ".5 and -.5": [(0.5, ""), (-0.5, "")],
    "It is 0.5.": [(0.5, "")],
    "1'000'000": [(1e6, "")],
    "1\u00a0234\u202f567": [(1234, ""), (567, "")],
    "1\u202f234\u202f567": [(1234567, "")],
    "**1,200** and `7`": [(1200, ""), (7, "")],
    "| 12 | (3) |": [(12, ""), (3, "")],
    "35 m²": [(35, "")],
    "35m2": [(35, "")],
    "営業120件": [(120, "")],
    "١٢٣ and １２": [(123, ""), (12, "")],
    "nothing": [],
    "": [],
}
DE = {
    "1.234,56": [(1234.56, "")],
    "1.234.567 €": [(1234567, "€")],
    "12,5 %": [(12.5, "%")],
    "10.000": [(10000, "")],
    "1.2.3": [],
    ".5": [(0.5, "")],
}
FR = {
    "1 234,5": [(1234.5, "")],
    "1 234 567 €": [(1234567, "€")],
    "12,5": [(12.5, "")],
}


def seen(text, locale="en"):
    return [(number.value, number.unit) for number in numbers(text, locale)]


@pytest.mark.parametrize("text", EN, ids=repr)
def test_english(text):
    assert seen(text) == EN[text]


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [*(("de", t, e) for t, e in DE.items()), *(("fr", t, e) for t, e in FR.items())],
)
def test_decimal_comma(locale, text, expected):
    assert seen(text, locale) == expected


def test_a_number_knows_where_it_stands_and_how_exactly():
    text = "about -$1.25M, or 12 %"
    first, second = numbers(text)
    assert text[first.start : first.end] == first.text == "-$1.25M"
    assert text[second.start : second.end] == second.text == "12 %"
    assert (first.step, second.step) == (10_000, 1)


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("2024", [True]),
        ("2,024", [False]),
        ("2024 USD", [False]),
        ("1850", [False]),
        ("in May 12", [True]),
        ("in May 45", [False]),
    ],
)
def test_what_may_be_a_date_is_marked(text, flags):
    assert [number.maybe_date for number in numbers(text)] == flags


def test_brackets_after_a_word_may_be_an_aside():
    assert numbers("Pebble ($20)")[0].either_sign
    assert not numbers("Result: ($20)")[0].either_sign


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$1.2M", 1.2e6),
        (" 15 % ", 15),
        ("0", 0),
        ("12", 12),
        (7, 7),
        (7.5, 7.5),
        (10**400, float("inf")),
    ],
)
def test_stated(text, value):
    assert stated(text).value == value


@pytest.mark.parametrize(
    "text", ["4 years", "Osaka", "", "007", "1 and 2", "1.2.3", "0245776b", "12e4", "7k"]
)
def test_a_text_that_is_not_just_a_number(text):
    assert stated(text) is None


@pytest.mark.parametrize(
    ("text", "expected", "options", "result"),
    [
        # B6: percent and fraction
        ("30 %", 0.3, {}, True),
        ("0.30", "30 %", {}, True),
        ("30 %", 30, {}, True),
        ("30", "30 %", {}, True),
        ("1200 %", 12, {}, False),  # a whole number is no fraction
        ("100 %", 1, {}, False),
        ("100 %", 1.0, {}, True),
        ("12", "1200 %", {}, False),
        ("0.3 %", "30 %", {}, False),
        # B7: tolerances
        ("101", 100, {"rel_tol": 0.01}, True),
        ("102", 100, {"rel_tol": 0.01}, False),
        ("0.004", 0, {"rel_tol": 0.01}, False),
        ("0.004", 0, {"abs_tol": 0.005}, True),
        ("-101", -100, {"rel_tol": 0.01}, True),
        ("343,349.50", 343349.5, {}, True),
        ("$4.35M", 4_350_000, {}, True),
        ("1.2", 1.23, {}, False),
        ("1.2", 1.23, {"rounding": True}, True),
        ("1.2", 1.27, {"rounding": True}, False),
        ("$1.2M", 1_234_567, {"rounding": True}, True),
        ("15 %", 0.153, {"rounding": True}, True),
        ("16 %", 0.153, {"rounding": True}, False),
        # B2: signs
        ("5.2 %", -5.2, {}, False),
        ("5.2 %", -5.2, {"sign": "ignore"}, True),
        ("sales ($5)", 5, {}, True),
        ("sales ($5)", -5, {}, True),
        ("sales: ($5)", 5, {}, False),
        # years
        ("2024", 2010, {"rel_tol": 0.01}, False),
        ("2024", 2024, {"rel_tol": 0.01}, True),
        ("2,024", 2010, {"rel_tol": 0.01}, True),
    ],
)
def test_agrees(text, expected, options, result):
    (number,) = numbers(text)
    assert agrees(number, stated(expected), **options) is result


def test_infinity_agrees_with_nothing():
    assert not agrees(Number(value=5.0), Number(value=float("inf")))


LOCALES = st.sampled_from(["en", "de", "fr"])
TEXTS = st.text(alphabet="0123456789.,-%$()eEMmk \n[]/:xé ²١₀'_#^", max_size=60)


@given(TEXTS, LOCALES)
def test_numbers_never_overlap(text, locale):
    found = numbers(text, locale)
    for before, after in pairwise(found):
        assert before.end <= after.start
    for number in found:
        assert text[number.start : number.end] == number.text
        assert abs(number.value) < float("inf")


@given(st.text())
def test_any_text_can_be_read(text):
    for locale in ("en", "de", "fr"):
        numbers(text, locale)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_what_is_printed_with_separators_is_read_back(value):
    assert [n.value for n in numbers(f"{value:,}")] == [float(value)]


@pytest.mark.parametrize("text", ["5$3", "5 € -3", "5 USD USD 7"])
def test_a_currency_belongs_to_one_number(text):
    first, second = numbers(text)
    assert first.end <= second.start


# What stands first, what is repeated, and what stands last.
HOSTILE = [
    ("", "1", ""),
    ("", "1,", ""),
    ("", "1,234", ""),
    ("1", ",234", ""),
    ("", "1.", ""),
    ("", "1-", ""),
    ("", "a-1", ""),
    ("", "1a", ""),
    ("1", "a", ""),
    ("", "((($", "1"),
    ("1 x 10", "⁶", ""),
    ("", "1e", ""),
    ("", "x.5", ""),
    ("", " .5", ""),
    ("", "1.234,5", ""),
    ("", "1/", ""),
    ("", "1:23", ""),
    ("", "1\u00a0", ""),
    ("", "1'", ""),
    ("", "1_", ""),
    ("", "USD", "1"),
    ("", "March ", "1"),
    ("", "1 234 ", "5"),
    ("", "123 ", "12"),
    ("", "123,", "12"),
    ("", "minus ", "1"),
    ("", "+1 ", ""),
    ("", "(555) ", "1"),
    ("", "0 ", ""),
    ("", "0-", ""),
    ("", "1/2", ""),
    ("", "1 1/2 ", ""),
    ("", "½", ""),
    ("", "10^", "1"),
    ("", "1-2k-", ""),
    ("", "1,5,", ""),
    ("", "12. ", "2024"),
    ("www.", "1", ""),
]


@pytest.mark.parametrize("locale", ["en", "de", "fr"])
@pytest.mark.parametrize(("first", "piece", "last"), HOSTILE)
def test_time_grows_with_the_length_only(first, piece, last, locale):
    def read(length):
        text = first + piece * (length // len(piece)) + last
        return lambda: numbers(text, locale)

    read(100)()  # what is compiled once
    short = calls(read(500))
    assert calls(read(2_000)) < 5 * short
    assert cpu_seconds(read(40_000)) < 3  # 0.1; four and more where the square counts


def test_what_is_longer_than_the_limit_is_not_read():
    assert [one.text for one in numbers("a " * (LIMIT // 2) + "1")] == []
    assert [one.text for one in numbers("a " * (LIMIT // 2 - 1) + " 1 2")] == ["1"]
