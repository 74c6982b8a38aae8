"""pass@k, pass^k and consistency against published values, and their test against enumeration."""

import json
import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from gate.analysis.metrics.k_rounds import KRounds
from gate.records import MetricSpec, Tolerance
from gate.stats.lattice import Numbers, tails

SPEC = MetricSpec(name="d.m", column="m")
NONE = Tolerance(value=0.0)


def rounds(passed: int, of: int) -> list[float]:
    return [1.0] * passed + [0.0] * (of - passed)


# The estimator of Chen et al. 2021 (arXiv 2107.03374). Two of the values are worked examples:
# 3 of 20 and 0 of 20 from the introduction to code generation at
# huggingface.co/spaces/codeparrot/code-generation-models (pass@1 .0750, pass@10 .4473, pass@20 .5),
# 1 of 2 from the card of the metric huggingface.co/metrics/code_eval (pass@1 .5, pass@2 1).
@pytest.mark.parametrize(
    ("suite", "k", "published"),
    [
        ([(3, 20), (0, 20)], 1, 0.0750),
        ([(3, 20), (0, 20)], 10, 0.4473),
        ([(3, 20), (0, 20)], 20, 0.5),
        ([(1, 2)], 1, 0.5),
        ([(1, 2)], 2, 1.0),
    ],
)
def test_pass_at_k(suite: list[tuple[int, int]], k: int, published: float) -> None:
    values = np.array([rounds(*case) for case in suite])
    assert KRounds(k=k, wanted="any").reduce(values) == pytest.approx(published, abs=1e-4)


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_pass_at_k_by_the_product_that_its_paper_prints(k: int) -> None:
    n = 9
    for c in range(n + 1):
        printed = 1.0 if n - c < k else 1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1))
        ours = KRounds(k=k, wanted="any").reduce(np.array([rounds(c, n)]))
        assert ours == pytest.approx(printed, abs=1e-12)


def test_pass_hat_k_of_tau_bench(gate_real_data) -> None:
    """gpt-4o on the airline tasks, 50 x 4: the row of the leaderboard in the README of
    github.com/sierra-research/tau-bench.
    """
    path = gate_real_data / "tau-bench" / "gpt-4o-airline.rewards.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    values = np.full((50, 4), math.nan)
    for row in data["results"]:
        values[row["task_id"], row["trial"]] = row["reward"]
    for k, expected in data["expected"]["pass_hat_k"].items():
        assert KRounds(k=int(k), wanted="all").reduce(values) == pytest.approx(expected)


# Fleiss' P_i of 14 raters who choose between two categories: rows 1 and 6 of the worked example at
# en.wikipedia.org/wiki/Fleiss%27_kappa (14 : 0 gives 1.000, 7 : 7 gives .462).
@pytest.mark.parametrize(("passed", "published"), [(14, 1.0), (0, 1.0), (7, 0.462)])
def test_consistency_is_the_agreement_of_fleiss(passed: int, published: float) -> None:
    found = KRounds(k=2, wanted="alike").reduce(np.array([rounds(passed, 14)]))
    assert found == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_shares_are_those_of_all_draws(k: int) -> None:
    for passed in range(6):
        case = rounds(passed, 5)
        draws = list(combinations(case, k))
        for wanted, holds in (
            ("all", all),
            ("any", any),
            ("alike", lambda d: len(set(d)) == 1),
            ("none", lambda d: not any(d)),
            ("unlike", lambda d: len(set(d)) > 1),
        ):
            share = sum(bool(holds(draw)) for draw in draws) / len(draws)
            found = KRounds(k=k, wanted=wanted).reduce(np.array([case]))
            assert found == pytest.approx(share, abs=1e-12)


def test_the_interval_says_how_many_rounds_it_rests_on() -> None:
    values = np.array([[1.0, 0.0, math.nan], [1.0, 1.0, 1.0]])
    assert KRounds(k=2, wanted="all").interval(values, SPEC, confidence=0.9).n == 5


# ----------------------------------------------------------------------------------------- the test


def _enumerated(was: list[list[float]], now: list[list[float]], family: KRounds) -> float:
    """Mid-p of "worse" over every way to deal each case's rounds out to the two runs again."""

    def share(case: tuple[float, ...]) -> float:
        return family.reduce(np.array([case]))

    dealt = []
    for b, c in zip(was, now, strict=True):
        both = [*b, *c]
        ways = Counter()
        for chosen in combinations(range(len(both)), len(c)):
            inside = tuple(both[i] for i in chosen)
            outside = tuple(both[i] for i in range(len(both)) if i not in chosen)
            ways[round(share(inside) - share(outside), 9)] += 1
        dealt.append(ways)
    seen = sum(share(tuple(c)) - share(tuple(b)) for b, c in zip(was, now, strict=True))
    below = at = everything = 0
    for outcome in product(*(ways.items() for ways in dealt)):
        total, number = sum(d for d, _ in outcome), math.prod(n for _, n in outcome)
        everything += number
        below += number * (total < seen - 1e-6)
        at += number * (abs(total - seen) <= 1e-6)
    return (below + at / 2) / everything


@pytest.mark.parametrize(
    "family",
    [
        KRounds(k=2, wanted="all"),
        KRounds(k=3, wanted="all"),
        KRounds(k=2, wanted="any"),
        KRounds(k=2, wanted="alike"),
        KRounds(k=2, wanted="unlike"),
        KRounds(k=3, wanted="none"),
    ],
    ids=lambda f: f"{f.wanted} of {f.k}",
)
@pytest.mark.parametrize("seed", range(4))
def test_every_shuffle_of_a_tiny_suite(family: KRounds, seed: int) -> None:
    rng = np.random.default_rng(seed)
    chance = rng.random((4, 1))
    was = (rng.random((4, 3)) < chance).astype(float)
    now = (rng.random((4, 3)) < chance - 0.2).astype(float)
    found = family.compare(was, now, SPEC, tolerance=NONE)
    assert found.method == "exact shuffle test"
    assert found.p_worse == pytest.approx(_enumerated(was.tolist(), now.tolist(), family))
    assert found.p_better == pytest.approx(1.0 - found.p_worse)


def test_every_shuffle_when_the_rounds_are_unlike() -> None:
    """The guard may only make it harder to accuse."""
    was = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=float)
    now = np.array([[1, 0, math.nan], [0, 0, 1], [1, 1, 0]])
    family = KRounds(k=2, wanted="all")
    current = [[x for x in case if not math.isnan(x)] for case in now.tolist()]
    expected = _enumerated(was.tolist(), current, family)
    found = family.compare(was, now, SPEC, tolerance=NONE)
    assert found.p_worse >= expected - 1e-12
    assert found.p_doubt == pytest.approx(min(expected, found.p_doubt))
    assert expected in (pytest.approx(found.p_worse), pytest.approx(found.p_doubt))


def test_one_case_is_a_single_hypergeometric() -> None:
    was, now = np.array([rounds(9, 10)]), np.array([rounds(2, 5)])
    found = KRounds(k=1, wanted="all").compare(was, now, SPEC, tolerance=NONE)
    below, upto = stats.hypergeom.cdf([1, 2], 15, 11, 5)
    assert (below + upto) / 2 in (
        pytest.approx(found.p_worse),
        pytest.approx(found.p_doubt),
    )


def _long_sum(cases: int) -> tuple[Numbers, np.ndarray, int]:
    """Cases of 3 against 12 rounds, k = 3: the numbers, the exact distribution of 220 times their
    sum by scipy's hypergeometric, and the place of 0 in it.
    """
    rng = np.random.default_rng(5)
    passed, counts = np.unique(rng.integers(1, 15, cases), return_counts=True)
    now, size = np.arange(4), 2**18
    values, chances = np.empty((2, len(passed), 4))
    transform, zero = np.ones(size // 2 + 1, dtype=complex), 0
    for row, (total, count) in enumerate(zip(passed, counts, strict=True)):
        before = [math.comb(int(b), 3) for b in np.clip(total - now, 0, 12)]
        steps = 220 * (now == 3) - np.array(before)
        values[row], chances[row] = steps / 220, stats.hypergeom.pmf(now, 15, total, 3)
        one = np.bincount(steps - steps.min(), weights=chances[row], minlength=size)
        transform *= np.fft.rfft(one) ** count
        zero -= count * int(steps.min())
    numbers = Numbers(values=values, chances=chances, counts=counts, steps=220)
    return numbers, np.fft.irfft(transform, size), zero


@pytest.mark.parametrize("cases", [30, 120, 700])
def test_long_sums(cases: int) -> None:
    """The lattice, the coarser lattice and the normal curve."""
    numbers, exact, zero = _long_sum(cases)
    spread = math.sqrt(numbers.variance)
    for z in (-3.0, -2.0, -1.0, 0.0, 1.5, 2.5):
        at = round(z * spread * 220)
        down = exact[: zero + at].sum() + exact[zero + at] / 2
        found = tails(numbers, at / 220)
        assert found.exact == (cases == 30)
        close = 1e-9 if found.exact else 0.015
        assert found.down == pytest.approx(down, rel=close)
        assert found.up == pytest.approx(1.0 - down, rel=close)
