"""What must hold of a comparison for any data: mirrors, order, gaps, sizes, and no surprises."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gate.records import Direction, Evidence
from gate.stats.change import ChangeQuestion, change_in_mean
from gate.stats.pairs import Array, pair
from gate.stats.permutation_test import shuffle_test

Arms = tuple[Array, Array]
PASS_FAIL = st.sampled_from([0.0, 1.0])
SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0])
LEVELS = (0.2, 0.05, 0.01, 1e-4)


def compared(arms: Arms, direction: Direction = "higher") -> Evidence:
    return change_in_mean(*arms, ChangeQuestion(direction=direction, span=1.0))


@st.composite
def two_arms(
    draw: st.DrawFn, *, alike: bool = False, gaps: bool = False, kinds: tuple = (PASS_FAIL, SCORES)
) -> Arms:
    """Cases x rounds, of pass/fail or scores; `alike`: as many rounds in both."""
    elements = draw(st.sampled_from(kinds))
    if gaps:
        elements = st.one_of(elements, st.just(math.nan))
    cases, rounds = draw(st.integers(1, 14)), draw(st.integers(1, 5))
    other = rounds if alike else draw(st.integers(1, 5))
    return tuple(draw(arrays(np.float64, (cases, r), elements=elements)) for r in (rounds, other))


def same(one: Evidence, other: Evidence) -> None:
    for name in ("delta", "se", "p_worse", "p_better", "p_doubt"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-9, nan_ok=True)
    assert (one.n_paired, one.too_few) == (other.n_paired, other.too_few)
    for alpha in LEVELS:
        assert one.bounds(alpha) == pytest.approx(other.bounds(alpha), abs=1e-9)


@settings(max_examples=50)
@given(two_arms(gaps=True))
def test_swapping_the_arms_mirrors_the_change(arms: Arms) -> None:
    there, back = compared(arms), compared(arms[::-1])
    assert there.n_paired == back.n_paired
    assume(there.n_paired)
    assert there.delta == pytest.approx(-back.delta, abs=1e-9)
    assert there.se == pytest.approx(back.se, abs=1e-9)
    assert there.p_worse == pytest.approx(back.p_better, abs=1e-9)
    assert there.p_better == pytest.approx(back.p_worse, abs=1e-9)
    assert there.p_doubt == pytest.approx(compared(arms[::-1], "lower").p_doubt, abs=1e-9)


@settings(max_examples=36)
@given(two_arms(alike=True))
def test_swapping_the_arms_mirrors_the_bounds(arms: Arms) -> None:
    for alpha in LEVELS:
        low, high = compared(arms).bounds(alpha)
        assert compared(arms[::-1]).bounds(alpha) == pytest.approx((-high, -low), abs=1e-9)


@settings(max_examples=36)
@given(two_arms(gaps=True, kinds=(PASS_FAIL,)))
def test_counting_failures_mirrors_the_change(arms: Arms) -> None:
    found = compared((1.0 - arms[0], 1.0 - arms[1]))

    def bounds(alpha: float) -> tuple[float, float]:
        low, high = found.bounds(alpha)
        return -high, -low

    same(compared(arms, "lower"), replace(found, delta=-found.delta, bounds=bounds))


@settings(max_examples=36)
@given(two_arms(gaps=True), st.integers(1, 4))
def test_identical_rounds_never_look_worse(arms: Arms, times: int) -> None:
    """Also when one arm has the same rounds several times over."""
    found = compared((np.tile(arms[0], (1, times)), arms[0]))
    assume(found.n_paired)
    assert found.delta == 0.0
    assert min(found.p_worse, found.p_better) >= 0.5 - 1e-9
    assert found.p_doubt >= 0.3  # a skewed distribution's mean is not its median
    low, high = found.bounds(0.2)
    assert low < 0.0 < high


@settings(max_examples=36)
@given(two_arms(gaps=True), st.randoms(use_true_random=False))
def test_order_of_cases_and_of_rounds_does_not_matter(arms: Arms, random) -> None:
    def some_order(n: int) -> list[int]:
        return random.sample(range(n), n)

    cases = some_order(len(arms[0]))
    shuffled = tuple(arm[cases][:, some_order(arm.shape[1])] for arm in arms)
    same(compared(arms), compared(shuffled))


@settings(max_examples=36)
@given(two_arms(gaps=True), st.integers(0, 3), st.integers(1, 3))
def test_calls_that_were_not_made_do_not_matter(arms: Arms, wider: int, longer: int) -> None:
    """However the calls came in batches, and however many rounds and cases are still to come."""
    padded = tuple(np.pad(arm, ((0, longer), (0, wider)), constant_values=math.nan) for arm in arms)
    same(compared(arms), compared(padded))


@settings(max_examples=36)
@given(two_arms(gaps=True))
def test_cases_that_one_arm_lacks_do_not_matter(arms: Arms) -> None:
    both = ~(np.isnan(arms[0]).all(axis=1) | np.isnan(arms[1]).all(axis=1))
    found = compared(arms)
    assert found.n_paired == both.sum()
    same(found, compared((arms[0][both], arms[1][both])))


@settings(max_examples=36)
@given(two_arms(alike=True, kinds=(PASS_FAIL,)), PASS_FAIL)
def test_a_case_that_never_varies_leaves_the_chance_as_it_is(arms: Arms, value: float) -> None:
    wider = tuple(np.vstack([arm, np.full((1, arm.shape[1]), value)]) for arm in arms)
    assert compared(wider).p_worse == pytest.approx(compared(arms).p_worse, abs=1e-9)


@settings(max_examples=50)
@given(two_arms(alike=True, kinds=(PASS_FAIL,)), st.integers(0, 13), st.integers(0, 4))
def test_one_more_failure_never_helps(arms: Arms, case: int, turn: int) -> None:
    was, now = arms
    case, turn = case % len(now), turn % now.shape[1]
    worse = now.copy()
    worse[case, turn] = 0.0
    before, after = shuffle_test(pair(was, now)), shuffle_test(pair(was, worse))
    assume(before.method == after.method == "exact shuffle test")
    assert after.p_down <= before.p_down + 1e-12
    assert after.delta <= before.delta


@settings(max_examples=50)
@given(two_arms(gaps=True))
def test_every_number_is_one(arms: Arms) -> None:
    found = compared(arms)
    assume(found.n_paired)
    assert 0.0 <= found.p_doubt <= found.p_worse <= 1.0
    assert found.p_worse + found.p_better >= 1.0 - 1e-9
    assert abs(found.delta) <= 1.0 + 1e-12  # a mean of ones may be off in its last digit
    assert 0.0 <= found.se < math.inf
    widest = (-1.0, 1.0)
    for alpha in sorted(LEVELS):
        low, high = found.bounds(alpha)
        assert widest[0] <= low <= found.delta + 1e-12
        assert found.delta - 1e-12 <= high <= widest[1]
        widest = low, high


def test_without_a_common_case_nothing_is_known() -> None:
    nothing = np.full((3, 2), math.nan)
    for arms in ((nothing, np.ones((3, 2))), (np.ones((3, 2)), nothing), (nothing, nothing)):
        found = compared(arms)
        assert found.n_paired == 0
        assert found.too_few
        assert (found.p_worse, found.p_better, found.p_doubt) == (1.0, 1.0, 1.0)
        assert found.bounds(0.01) == (-math.inf, math.inf)


@pytest.mark.parametrize("cases", [1, 2, 3, 5, 14, 15, 100, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("kind", ["alike", "all fail now", "half fail now", "scores", "tiny drop"])
def test_any_number_of_cases(cases: int, kind: str) -> None:
    """Finite numbers, the right sign, and certainty that grows with the cases."""
    rounds = 1 if cases == 1_000_000 else 2
    was = np.ones((cases, rounds))
    now = {
        "alike": was,
        "all fail now": np.zeros_like(was),
        "half fail now": np.where(np.arange(cases) % 2 == 0, 0.0, 1.0)[:, None] * was,
        "scores": was * 0.5,
        "tiny drop": was - 1e-9,
    }[kind]
    found = compared((was, now))
    low, high = found.bounds(0.01)
    assert found.delta == pytest.approx(float((now - was).mean()), abs=1e-12)
    assert -1.0 <= low <= found.delta <= high <= 1.0
    if kind == "alike":
        assert found.p_worse == 0.5
        assert low == pytest.approx(-min(1.0, 5.4119 / (cases * rounds)), rel=1e-4)  # z^2 / calls
    else:
        assert found.p_worse <= max(0.75**cases, 1e-12)
