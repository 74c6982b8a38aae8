import pytest

from gate.text.numbers.scanning import numbers

# text -> value, unit and other reading of every number
RANGES = {
    "$10-20k": [(10_000, "$", None), (20_000, "$", None)],
    "1.2–1.4M": [(1.2e6, "", None), (1.4e6, "", None)],
    "10-20 %": [(10, "%", None), (20, "%", None)],
    "3 to 4 percent": [(3, "%", None), (4, "%", None)],
    "5 to 7 million": [(5, "", 5e6), (7e6, "", None)],
    "between 2 and 3 million": [(2, "", 2e6), (3e6, "", None)],
    "from 900 to 1.2 million": [(900, "", None), (1.2e6, "", None)],
    "10k-20k": [(10_000, "", None), (20_000, "", None)],
    "5% to 7": [(5, "%", None), (7, "", None)],
    "2 and 3 million": [(2, "", None), (3e6, "", None)],
    "2020 to 25 %": [(2020, "", None), (25, "%", None)],
    "$5-7": [(5, "$", None), (7, "$", None)],
    "1.234 or 5": [(1.234, "", 1234), (5, "", None)],
}


@pytest.mark.parametrize("text", RANGES, ids=repr)
def test_ends_of_ranges(text):
    seen = [(one.value, one.unit, one.other) for one in numbers(text)]
    assert seen == [(pytest.approx(value), unit, other) for value, unit, other in RANGES[text]]
