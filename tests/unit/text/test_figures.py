import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.text import figures


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0.934, "share", "0.93"),
        (2310.4, "ms", "2,310 ms"),
        (8.25, "ms", "8.2 ms"),
        (0.84, "USD", "$0.84"),
        (0.00139, "USD", "$0.0014"),
        (1234.5, "USD", "$1,234.50"),
        (1834.2, "tokens", "1,834"),
        (3.416, "steps", "3.42"),
        (42.25, "", "42.2"),
        (-0.5, "", "−0.50"),
        (None, "ms", "–"),
        (math.nan, "share", "–"),
        (math.inf, "ms", "–"),
    ],
)
def test_values_by_unit(number, unit, shown):
    assert figures.value(number, unit) == shown


@pytest.mark.parametrize(
    ("delta", "unit", "relative", "shown"),
    [
        (-0.091, "share", False, "−9.1 pt"),
        (0.003, "share", False, "+0.3 pt"),
        (-0.0004, "share", False, "0.0 pt"),
        (0.0, "share", False, "0.0 pt"),
        (0.182, "ms", True, "+18 %"),
        (-0.0124, "ms", True, "−1.2 %"),
        (-250.0, "ms", False, "−250 ms"),
        (0.0012, "USD", False, "+$0.0012"),
        (-1.5, "points", False, "−1.50"),
        (None, "share", False, "–"),
    ],
)
def test_changes_have_a_sign_and_a_unit(delta, unit, relative, shown):
    assert figures.change(delta, unit, relative=relative) == shown


def test_intervals():
    assert figures.interval(-0.132, -0.05, "share", relative=False) == "(−13.2 … −5.0)"
    assert figures.interval(-0.06, 0.041, "ms", relative=True) == "(−6.0 % … +4.1 %)"
    assert figures.interval(-math.inf, 1.0, "points", relative=False) == "(−∞ … +1.00)"
    assert figures.interval(None, 1.0, "", relative=False) == ""


def test_different_numbers_look_different():
    assert figures.digits_of([0.93, 0.84], "share") == 2
    assert figures.digits_of([0.899, 0.90], "share") == 3
    assert figures.digits_of([0.89996, 0.9], "share") == 4
    assert figures.digits_of([0.9, 0.9, None], "share") == 2
    assert figures.digits_of([1.0001, 1.0], "ms") == 2


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
    assert figures.listed([]) == ""
    assert figures.listed(["a"]) == "a"
    assert figures.listed(["a", "b"]) == "a and b"
    assert figures.listed(list("abcde")) == "a, b, c and 2 more"
    assert figures.count(1, "case") == "1 case"
    assert figures.count(1200, "case") == "1,200 cases"
    assert figures.size(0.02, "share", relative=False) == "2 pt"
    assert figures.size(0.125, "ms", relative=True) == "12.5 %"
    assert figures.size(0.1, "points", relative=False) == "0.10"
    assert figures.percent(0.995) == "99.5 %"
    assert (figures.often(0.8), figures.often(0.85)) == ("8 times in 10", "85 % of the time")
    assert figures.money(None) == "unknown"
    assert figures.money(-2.0) == "−$2.00"


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
