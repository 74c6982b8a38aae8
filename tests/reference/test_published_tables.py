"""Our formulas against figures in print; the source stands beside each."""

import math

import numpy as np
import pytest
from scipy import stats

from gate.stats.distributions import t_quantile
from gate.stats.intervals import clopper_pearson, wilson
from gate.stats.multiplicity import benjamini_hochberg
from gate.stats.pairs import Pairs, pair
from gate.stats.permutation_test import hypergeometric, shuffle_test
from tests.support.sights import holm


def calls(passed: int, failed: int, width: int) -> list[float]:
    """One case's rounds: so many 1, so many 0, the rest not made."""
    return [1.0] * passed + [0.0] * failed + [math.nan] * (width - passed - failed)


def arms(strata: list[tuple[int, int, int, int]]) -> Pairs:
    """Of each stratum: baseline passed and failed, current passed and failed."""
    width = max(max(a + b, c + d) for a, b, c, d in strata)
    was = np.array([calls(a, b, width) for a, b, _, _ in strata])
    now = np.array([calls(c, d, width) for _, _, c, d in strata])
    return pair(was, now)


def test_mcnemars_mid_p_of_airway_hyper_responsiveness() -> None:
    """Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13:91 (2013), table 1: 21
    children, 7 changed one way and 1 the other; two-sided: mid-p .039, exact .070, asymptotic .034.
    """
    test = shuffle_test(arms([(1, 0, 0, 1)] * 7 + [(0, 1, 1, 0)] + [(1, 0, 1, 0)] * 13))
    assert 2.0 * test.p_down == pytest.approx(0.0390625, abs=1e-12)
    exact = 2.0 * test.p_down + stats.binom.pmf(1, 8, 0.5)
    assert round(exact, 3) == 0.070
    assert round(2.0 * stats.norm.cdf(test.z), 3) == 0.034


RABBITS = [(0, 5, 0, 6), (0, 6, 3, 3), (2, 4, 6, 0), (6, 0, 5, 1), (5, 0, 2, 0)]


def test_the_stratified_test_of_penicillin_in_rabbits() -> None:
    """Agresti, Categorical Data Analysis (1990), pages 231 to 237: cured and died, injected after
    1.5 hours or at once, at five levels of penicillin. As the manual of R's mantelhaen.test gives
    it: p .047 with the continuity correction; exact: one-sided .020, two-sided .040.
    """
    pairs = arms(RABBITS)
    test = shuffle_test(pairs)
    u, v = test.delta * test.information, (test.se * test.information) ** 2
    corrected = (abs(u) - 0.5) ** 2 / v
    assert round(stats.chi2.sf(corrected, 1), 3) == 0.047
    total = np.ones(1)
    for rounds, drawn, successes in zip(pairs.rounds, pairs.rounds_c, pairs.successes, strict=True):
        total = np.convolve(total, hypergeometric(int(rounds), int(drawn), int(successes)))
    cured = 16
    upper = total[cured:].sum()
    assert round(upper, 3) == 0.020
    assert round(total[total <= total[cured] * (1 + 1e-9)].sum(), 3) == 0.040
    # Unlike numbers of rounds: the weaker of two tests accuses, and here that is the exact one.
    assert test.p_up == pytest.approx(upper - total[cured] / 2.0, abs=1e-9)


@pytest.mark.parametrize(
    ("passed", "n", "score", "exact"),
    [
        (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
        (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
        (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
        (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
    ],
)
def test_intervals_of_a_proportion(
    passed: int, n: int, score: tuple[float, float], exact: tuple[float, float]
) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), 857-872, table I: methods 3 and 5, 95 %."""
    ours = wilson(passed / n, n, 0.95)
    assert (ours.low, ours.high) == pytest.approx(score, abs=5.1e-5)
    ours = clopper_pearson(passed, n, 0.95)
    assert (ours.low, ours.high) == pytest.approx(exact, abs=5.1e-5)


@pytest.mark.parametrize(
    ("df", "upper"), [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)]
)
def test_the_table_of_students_t(df: int, upper: float) -> None:
    """Two-sided 5 % points, as every table prints them (Fisher and Yates 1938, table III)."""
    assert t_quantile(0.975, df) == pytest.approx(upper, abs=5.1e-4)


def test_false_discovery_rate_of_the_original_paper() -> None:
    """Benjamini and Hochberg, JRSS B 57 (1995), section 4.2: 15 hypotheses about a thrombolytic
    treatment. At .05 theirs rejects four, Bonferroni's (and Holm's) procedure three.
    """
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    rng = np.random.default_rng(4)
    order = rng.permutation(15)
    shuffled = [p[i] for i in order]
    rejected = benjamini_hochberg(shuffled) <= 0.05
    assert sorted(np.array(shuffled)[rejected]) == p[:4]
    assert benjamini_hochberg(p)[3] == pytest.approx(15 * 0.0095 / 4)
    assert sorted(x for x, q in zip(shuffled, holm(shuffled), strict=True) if q <= 0.05) == p[:3]
    assert benjamini_hochberg(shuffled) == pytest.approx(stats.false_discovery_control(shuffled))


def test_holms_procedure_step_by_step() -> None:
    """The example of Wikipedia's article on it: of .01, .04, .03, .005 at 5 % the last and the
    first are rejected: .005 <= .05/4, .01 <= .05/3, .03 > .05/2.
    """
    adjusted = holm([0.01, 0.04, 0.03, 0.005])
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [q <= 0.05 for q in adjusted] == [True, False, False, True]
