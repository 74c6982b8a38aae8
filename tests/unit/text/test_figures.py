import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gate.text import figures

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
UNITS = ["share", "ms", "USD", "tokens", "steps", "points", ""]


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0.934, "share", "0.93"),
        (0.575, "share", "0.58"),
        (0.5749999999999998, "share", "0.58"),  # what sums of floats make of 0.575
        (-0.125, "", "−0.13"),
        (4e-17, "share", "0.00"),
        (0.0004, "share", "0.0004"),
        (0.9996, "share", "0.9996"),
        (2310.4, "ms", "2,310 ms"),
        (99.96, "ms", "100 ms"),
        (19.64, "ms", "19.6 ms"),
        (8.25, "ms", "8.3 ms"),
        (0.04, "ms", "0.04 ms"),
        (0.84, "USD", "$0.84"),
        (0.00139, "USD", "$0.0014"),
        (0.05, "USD", "$0.050"),
        (0.0, "USD", "$0.00"),
        (1234.5, "USD", "$1,234.50"),
        (-0.0014, "USD", "−$0.0014"),
        (1834.2, "tokens", "1,834"),
        (3.416, "steps", "3.42"),
        (42.25, "", "42.3"),
        (-0.5, "", "−0.50"),
        (None, "ms", "–"),
        (math.nan, "share", "–"),
        (math.inf, "ms", "–"),
    ],
)
def test_values_by_unit(number, unit, shown):
    assert figures.value(number, unit) == shown


@pytest.mark.parametrize(
    ("number", "unit", "limits", "shown"),
    [
        (0.8996, "share", (0.9,), "0.8996"),
        (0.9004, "share", (0.9,), "0.9004"),
        (0.9, "share", (0.9,), "0.90"),
        (0.8999999999999, "share", (0.9,), "0.90"),
        (0.09091, "share", (0.6,), "0.09"),
        (0.995, "share", (0.995,), "0.995"),
        (5000.4, "ms", (3000.0, 5000.0), "5,000.4 ms"),
        (0.01003, "USD", (0.01,), "$0.01003"),
    ],
)
def test_no_value_reads_as_a_limit_that_it_is_not(number, unit, limits, shown):
    assert figures.value(number, unit, limits=limits) == shown


@pytest.mark.parametrize(
    ("amount", "unit", "shown"),
    [
        (0.9, "share", "0.90"),
        (0.995, "share", "0.995"),
        (4, "", "4.00"),
        (5000.0, "ms", "5,000 ms"),
        (0.0005, "USD", "$0.00050"),
        (0.01234, "USD", "$0.01234"),
    ],
)
def test_a_limit_is_not_rounded(amount, unit, shown):
    assert figures.limit(amount, unit) == shown


@pytest.mark.parametrize(
    ("delta", "unit", "relative", "shown"),
    [
        (-0.091, "share", False, "−9.1 pt"),
        (0.003, "share", False, "+0.3 pt"),
        (-0.0004, "share", False, "−0.04 pt"),
        (-0.0199, "share", False, "−1.99 pt"),
        (-0.02, "share", False, "−2.0 pt"),
        (1e-17, "share", False, "0.0 pt"),
        (0.0, "share", False, "0.0 pt"),
        (0.182, "ms", True, "+18 %"),
        (-0.0124, "ms", True, "−1.2 %"),
        (8.9, "ms", True, "+890 %"),
        (255.15, "ms", True, "256 x"),
        (-250.0, "ms", False, "−250 ms"),
        (0.0012, "USD", False, "+$0.0012"),
        (0.0, "ms", False, "0.0 ms"),
        (-1.5, "points", False, "−1.50"),
        (None, "share", False, "–"),
    ],
)
def test_changes_have_a_sign_and_a_unit(delta, unit, relative, shown):
    assert figures.change(delta, unit, relative=relative, tolerance=0.02) == shown


def test_intervals_of_a_change():
    assert figures.interval(-0.132, -0.05, "share", relative=False) == "(−13.2 … −5.0)"
    assert figures.interval(-0.132, -0.0001, "share", relative=False) == "(−13.2 … −0.01)"
    assert figures.interval(-0.132, 0.0, "share", relative=False) == "(−13.2 … 0.0)"
    flagged = {"relative": False, "delta": -0.09}
    assert figures.interval(-0.132, 0.0, "share", **flagged) == "(−13.2 … below 0)"
    assert figures.interval(0.0, 12.0, "ms", relative=True, delta=0.3) == "(above 0 … 13.0 x)"
    assert figures.interval(-0.06, 0.041, "ms", relative=True) == "(−6.0 % … +4.1 %)"
    assert figures.interval(-math.inf, 1.0, "points", relative=False) == "(−∞ … +1.00)"
    assert figures.interval(None, 1.0, "", relative=False) == "(unknown … +1.00)"
    assert figures.interval(None, None, "", relative=False) == ""
    assert figures.interval_in_words(-0.132, -0.05, "share", relative=False) == "−13.2 to −5.0"


def test_spans_of_values():
    assert figures.span(0.03085, 0.239, "share") == "0.03 … 0.24"
    assert figures.span_in_words(0.03085, 0.239, "share") == "0.03 to 0.24"
    assert figures.span(913.2, 5704.0, "ms") == "913 … 5,704 ms"
    assert figures.span(0.8, 0.8999, "share", limits=(0.9,)) == "0.80 … 0.8999"
    assert figures.span(None, 0.5, "share") == "unknown … 0.50"
    assert figures.span(None, None, "share") == ""


def read(shown):
    return float(re.sub(r"[ms, $]", "", shown).replace("−", "-"))


@given(
    st.lists(NUMBERS, min_size=2, max_size=2),
    st.sampled_from(UNITS),
    st.lists(st.floats(0.0, 5_000.0), max_size=2),
)
def test_figures_stand_in_the_order_of_the_numbers(numbers, unit, limits):
    low, high = sorted(numbers)
    shown = [read(figures.value(n, unit, limits=limits)) for n in (low, high)]
    assert shown[0] <= shown[1]


@given(NUMBERS, st.sampled_from(UNITS), st.floats(0.0, 5_000.0))
def test_a_figure_stands_on_its_side_of_a_limit(number, unit, limit):
    assume(abs(number - limit) > 1e-6)
    shown = read(figures.value(number, unit, limits=(limit,)))
    assert (shown > limit) == (number > limit)


@given(st.floats(-1.0, 40.0), st.floats(-1.0, 40.0), st.booleans(), st.floats(0.0, 1.0))
def test_the_bounds_of_a_change_hold_it(low, delta, relative, tolerance):
    low, delta = sorted((low, delta))
    shown = [
        figures.change(n, "share", relative=relative, tolerance=tolerance) for n in (low, delta)
    ]
    first, second = (
        100 * (float(s[:-2]) - 1) if s.endswith(" x") else read(s.rstrip("pt% ")) for s in shown
    )
    assert first <= second + 1e-6
    assert (second < 0) == (delta < -1e-9)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (161.2, "2 min 41 s"),
        (3840, "1 h 04 min"),
    ],
)
def test_durations(seconds, shown):
    assert figures.duration(seconds) == shown


@pytest.mark.parametrize(
    ("days", "shown"),
    [
        (0.01, "less than an hour ago"),
        (0.06, "1 hour ago"),
        (1.9, "1 day ago"),
        (44.0, "44 days ago"),
    ],
)
def test_ages(days, shown):
    assert figures.age(days) == shown


def test_lists_plurals_and_sizes():
    assert figures.join_words([]) == ""
    assert figures.join_words(["a"]) == "a"
    assert figures.join_words(["a", "b"]) == "a and b"
    assert figures.join_words(list("abcde")) == "a, b, c and 2 more"
    assert figures.count(1, "case") == "1 case"
    assert figures.count(1200, "case") == "1,200 cases"
    assert figures.size(0.02, "share", relative=False) == "2 pt"
    assert figures.size(0.1254, "ms", relative=True) == "12.5 %"
    assert figures.size(250.0, "ms", relative=True) == "250 x the baseline"
    assert figures.size(0.1, "points", relative=False) == "0.10"
    assert figures.tolerance_in_words(0.0125, "share", relative=False) == "1.25 pt"
    assert figures.tolerance_in_words(0.1, "ms", relative=True) == "10 %"
    assert figures.tolerance_in_words(0.1, "", relative=False) == "0.10"
    assert figures.percent(0.995) == "99.5 %"
    assert (figures.often(0.8), figures.often(0.85)) == ("8 times in 10", "85 % of the time")
    assert figures.money(None) == "unknown"
    assert figures.money(-2.0) == "−$2.00"


@pytest.mark.parametrize(
    ("p", "level", "shown", "words"),
    [
        (0.44, None, "p = 0.44", "44 %"),
        (0.0312, None, "p = 0.031", "3.1 %"),
        (0.01, 0.01, "p = 0.01", "1 %"),
        (0.0102, 0.01, "p = 0.0102", "1 %"),
        (0.00003, None, "p < 0.0001", "less than 0.01 %"),
        (1.0, None, "p = 1", "100 %"),
        (0.9996, None, "p = 0.9996", "99.96 %"),
    ],
)
def test_chances(p, level, shown, words):
    assert figures.p_value(p, level=level) == shown
    assert figures.chance(p) == words


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.024, "2.4 %"), (0.44, "44 %"), (0.0, "0.0 %"), (1.0, "100 %"), (0.9999, "99.99 %")],
)
def test_counted_shares(share, shown):
    assert figures.portion(share) == shown
    assert figures.portions(0.003, share)[1] == shown


def test_figures_break_only_where_they_may():
    assert figures.tight("−9 pt (−13 … −5)").split(" ") == ["−9\xa0pt", "(−13\xa0…\xa0−5)"]
    assert figures.tight("min 1 · drop ≤ 2").split(" ") == ["min\xa01", "·", "drop\xa0≤\xa02"]


numbers = st.one_of(st.none(), st.floats())


@given(numbers, numbers, st.sampled_from(["share", "ms", "USD", "tokens", ""]), st.booleans())
def test_any_float_can_be_shown(low, high, unit, relative):
    for shown in (
        figures.value(low, unit),
        figures.change(low, unit, relative=relative),
        figures.interval(low, high, unit, relative=relative),
    ):
        assert "nan" not in shown
        assert "-" not in shown.replace("e-", "")


@pytest.mark.parametrize(
    ("chance", "shown"),
    [(0.0, "< 1 %"), (0.0099, "< 1 %"), (0.01, "1 %"), (0.123, "12 %"), (0.995, "> 99 %")],
)
def test_odds_are_whole_percents(chance, shown):
    assert figures.odds(chance) == shown
