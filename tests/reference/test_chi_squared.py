"""Quantiles of chi-squared against scipy's."""

import pytest
from scipy import stats

from gate.stats.session_effect import chi_squared_quantile


@pytest.mark.parametrize("df", [3, 4, 8, 19, 60])
@pytest.mark.parametrize("p", [0.5, 0.9, 0.95])
def test_the_cube_of_a_normal_is_close(p: float, df: int) -> None:
    assert chi_squared_quantile(p, df) == pytest.approx(stats.chi2.ppf(p, df), rel=0.01)
