r"""Numbers of formulas: "\frac{3}{4}" is 3/4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.text.numbers.latex import unfold_formulas
from gate.text.numbers.scanning import numbers

FORMULAS = {
    r"$\frac{3}{4}$": [0.75],
    r"\(\dfrac{1}{2}\)": [0.5],
    r"\frac{22}{70}": [pytest.approx(22 / 70, rel=0.01)],
    r"$6.02 \times 10^{23}$": [6.02e23],
    r"$1.5 \cdot 10^{-5}$": [1.5e-5],
    r"$10^{-3}\,\mathrm{mol}$": [1e-3],
    r"$1{,}200$": [1200],
    r"$1\,234\,567$": [1234567],
    r"\boxed{42}": [42],
    r"$3.2\,\mathrm{kg}$": [3.2],
    r"a $b = 5$ and $\frac{3}{4}$": [5, 0.75],
    r"costs \$5 and 6\%": [5, 6],
    r"$x_{12} = 3$, $y^{2}$ \alpha": [3],
    r"C:\temp\12 files": [12],
}


@pytest.mark.parametrize("text", FORMULAS)
def test_the_numbers_of_a_formula(text):
    assert [number.value for number in numbers(text)] == FORMULAS[text]


def test_dollars_around_a_formula_are_no_currency():
    assert [number.unit for number in numbers(r"$b = 5$ \, $5 and \$6")] == ["", "$", "$"]


@given(st.text(alphabet="\\{}$^_,. 0123frac-timesbox~", max_size=80))
def test_all_stays_where_it_is(text):
    assert len(unfold_formulas(text)) == len(text)
