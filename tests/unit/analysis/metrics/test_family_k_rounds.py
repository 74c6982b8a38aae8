"""The family of pass@k, pass^k and consistency."""

import math

import numpy as np
import pytest

from gate.analysis.catalogue import trial_metrics
from gate.analysis.estimates import estimates
from gate.analysis.metrics.k_rounds import KRounds
from gate.errors import UsageError
from gate.records import Evidence, MetricSpec, Sight, Tolerance
from tests.support.growth import calls
from tests.support.verdict_tables import build

NAN = math.nan
SPEC = MetricSpec(name="d.m", column="m")
ALL2, ALL3 = KRounds(k=2, wanted="all"), KRounds(k=3, wanted="all")
ANY3, ALIKE = KRounds(k=3, wanted="any"), KRounds(k=2, wanted="alike")
NONE3, UNLIKE = KRounds(k=3, wanted="none"), KRounds(k=2, wanted="unlike")
FAMILIES = pytest.mark.parametrize(
    "family", [ALL2, ALL3, ANY3, ALIKE, NONE3, UNLIKE], ids=lambda f: f"{f.wanted} of {f.k}"
)
SIGHT = Sight(drift=3.17, power=0.8, level=0.01)


def compare(family: KRounds, was: np.ndarray, now: np.ndarray, **changes: object) -> Evidence:
    return family.compare(was, now, SPEC, **{"tolerance": Tolerance(value=0.02), **changes})


def drawn(rng: np.random.Generator, chance: np.ndarray, rounds: int) -> np.ndarray:
    return (rng.random((len(chance), rounds)) < chance[:, None]).astype(float)


def chance_of(family: KRounds, p: np.ndarray) -> float:
    """The mean over the cases of what the family estimates."""
    every, none = p**family.k, (1.0 - p) ** family.k
    both = {"all": every, "any": 1.0 - none, "alike": every + none}
    both |= {"none": none, "unlike": 1.0 - every - none}
    return float(both[family.wanted].mean())


# ------------------------------------------------------------------------------------------- values


def test_a_case_with_too_few_rounds_has_no_value() -> None:
    values = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, NAN], [NAN, NAN, 1.0]])
    assert ALL2.per_case(values)[:2].tolist() == [1.0, 0.0]
    assert math.isnan(ALL2.per_case(values)[2])
    assert ALL2.reduce(values) == 0.5
    assert ALIKE.per_case(values)[1] == 0.0
    assert math.isnan(ALL3.reduce(values[1:]))
    assert ALL3.interval(values[1:], SPEC, confidence=0.95) is None


def test_a_partial_score_is_no_pass() -> None:
    assert ALL2.reduce(np.array([[1.0, 0.999]])) == 0.0
    assert ALL2.reduce(np.array([[1.0, 1.0 - 1e-9]])) == 1.0


def test_a_draw_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="k 0: must be at least 1"):
        KRounds(k=0, wanted="all")


def test_the_reason_names_the_rounds_that_are_needed() -> None:
    table = build({"success": np.ones((4, 2)), "agent_error": np.zeros((4, 2))})
    found = estimates(table, {spec.name: spec for spec in trial_metrics(3)})
    assert found["agent.pass^2"].value == 1.0
    assert found["agent.pass^3"].value is None
    assert found["agent.pass^3"].reason == "3 rounds of each case are needed"
    once = build({"success": np.ones((4, 1)), "agent_error": np.zeros((4, 1))})
    found = estimates(once, {spec.name: spec for spec in trial_metrics(3)})
    assert found["agent.consistency"].reason == "2 rounds of each case are needed"


# ---------------------------------------------------------------------------------------- intervals


@FAMILIES
def test_an_interval_misses_as_often_as_it_says(family: KRounds) -> None:
    rng = np.random.default_rng(8)
    missed = np.zeros(2)
    for _ in range(300):
        p = np.concatenate([rng.beta(20, 1, 30), rng.beta(0.5, 0.5, 30)])
        found = family.interval(drawn(rng, p, 3), SPEC, confidence=0.9)
        assert found is not None
        missed += (found.low > chance_of(family, p), found.high < chance_of(family, p))
    assert (missed <= 27).all()  # 5 % of 300 are 15, standard deviation 4


@FAMILIES
def test_an_interval_is_no_wider_than_that_of_as_many_coins(family: KRounds) -> None:
    """What differs between the cases is no noise."""
    values = np.repeat([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [60, 40], axis=0)
    values[::10, 0] = 1.0 - values[::10, 0]
    found = family.interval(values, SPEC, confidence=0.95)
    assert found is not None
    coins = 2 * 1.96 * math.sqrt(found.value * (1 - found.value) / 100)
    assert 0.0 < found.high - found.low < max(coins, 0.1)


def test_rounds_that_agree_still_leave_doubt() -> None:
    found = ALL3.interval(np.ones((30, 3)), SPEC, confidence=0.9)
    assert found is not None
    assert found.high == 1.0
    assert found.low == pytest.approx(1.0 - 1.645**2 / 30, abs=1e-3)  # z^2 k / calls
    low, high = compare(ALL3, np.ones((30, 3)), np.ones((30, 3))).bounds(0.05)
    assert low == -high == pytest.approx(-(1.645**2) / 30, abs=1e-3)


# -------------------------------------------------------------------------------------- comparisons


@FAMILIES
def test_the_same_data_are_no_change(family: KRounds) -> None:
    values = drawn(np.random.default_rng(3), np.full(40, 0.7), 4)
    for tolerance in (Tolerance(value=0.02), Tolerance(value=0.05, relative=True)):
        found = compare(family, values, values, tolerance=tolerance)
        assert (found.delta, found.relative) == (0.0, tolerance.relative)
        assert found.p_worse == pytest.approx(found.p_better)
        assert found.p_worse > 0.49
        low, high = found.bounds(0.01)
        assert low < 0.0 < high


@FAMILIES
def test_swapping_the_runs_mirrors_everything(family: KRounds) -> None:
    rng = np.random.default_rng(4)
    p = rng.beta(4, 1, 50)
    was, now = drawn(rng, p, 4), drawn(rng, p * 0.8, 4)
    there, back = compare(family, was, now), compare(family, now, was)
    assert there.p_worse == pytest.approx(back.p_better)
    assert there.delta == pytest.approx(-back.delta)
    assert there.bounds(0.05) == pytest.approx(tuple(-end for end in reversed(back.bounds(0.05))))
    lower = MetricSpec(name="d.m", column="m", direction="lower")
    other = family.compare(was, now, lower, tolerance=Tolerance(value=0.02))
    assert (other.p_worse, other.p_better) == (there.p_better, there.p_worse)


def test_a_drop_is_seen() -> None:
    rng = np.random.default_rng(6)
    p = rng.beta(8, 1, 80)
    was, now = drawn(rng, p, 12), drawn(rng, p - 0.2, 3)
    found = compare(ALL3, was, now)
    assert found.p_worse < 1e-3
    assert found.p_doubt <= found.p_worse
    assert found.bounds(0.01)[1] < 0.0
    assert found.current - found.baseline == pytest.approx(found.delta)
    assert found.n_paired == 80
    share = compare(ALL3, was, now, tolerance=Tolerance(value=0.05, relative=True))
    assert share.delta == pytest.approx(found.delta / found.baseline)


def test_order_of_rounds_and_cases_does_not_matter() -> None:
    rng = np.random.default_rng(7)
    p = rng.random(30)
    was, now = drawn(rng, p, 6), drawn(rng, p, 3)
    order = rng.permutation(30)
    shuffled = compare(ALL2, was[order][:, ::-1], now[order][:, ::-1])
    assert shuffled.p_worse == pytest.approx(compare(ALL2, was, now).p_worse)


def test_runs_without_a_case_of_enough_rounds() -> None:
    twice, thrice = np.ones((9, 2)), np.ones((9, 3))
    for was, now in ((thrice, twice), (twice, thrice), (np.full((9, 3), NAN), thrice)):
        found = compare(ALL3, was, now)
        assert found.too_few == "no case has 3 rounds in both runs"
        assert (found.n_paired, found.p_worse) == (0, 1.0)
    now = thrice.copy()
    now[2:, 2] = NAN
    assert compare(ALL3, thrice, now).n_paired == 2


@pytest.mark.parametrize("rounds_b", [3, 12])
@FAMILIES
def test_false_alarms_when_nothing_changed(family: KRounds, rounds_b: int) -> None:
    rng = np.random.default_rng(rounds_b)
    alarms = 0
    for _ in range(100):
        p = rng.beta(0.5, 0.5, 40)
        alarms += compare(family, drawn(rng, p, rounds_b), drawn(rng, p, 3)).p_worse <= 0.05
    assert alarms <= 12  # 5 expected, standard deviation 2.2


def test_agent_that_only_became_flakier_is_not_accused() -> None:
    rng = np.random.default_rng(9)
    flagged = unguarded = 0
    steady = np.where(np.arange(60) % 2, 0.95, 0.05)
    flaky = np.full(60, math.sqrt(chance_of(ALL2, steady)))
    for _ in range(100):
        found = compare(ALL2, drawn(rng, steady, 12), drawn(rng, flaky, 3))
        flagged += found.p_worse <= 0.05
        unguarded += found.p_doubt <= 0.05
    assert unguarded >= 8
    assert flagged <= 12  # 5 % of 100 and its noise


def test_a_session_effect_makes_a_change_less_sure() -> None:
    rng = np.random.default_rng(1)
    was, now = drawn(rng, np.full(60, 0.9), 6), drawn(rng, np.full(60, 0.7), 6)
    sharp, blurred = compare(ALL2, was, now), compare(ALL2, was, now, drift=0.01)
    assert blurred.p_worse > sharp.p_worse
    assert blurred.bounds(0.05)[1] > sharp.bounds(0.05)[1]
    assert blurred.se == pytest.approx(math.hypot(sharp.se, 0.1))
    assert blurred.detectable(SIGHT) > sharp.detectable(SIGHT)


# --------------------------------------------------------------------------------- what can be seen


def test_more_calls_see_smaller_changes() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(5, 1, 400)
    was, now = drawn(rng, p, 12), drawn(rng, p, 3)
    few = compare(ALL3, was[:50], now[:50]).detectable(SIGHT)
    many = compare(ALL3, was, now).detectable(SIGHT)
    assert 0.02 < many < few < 1.0
    halfway = Sight(drift=3.17, power=0.8, level=0.01, share=0.5)
    assert compare(ALL3, was, now).detectable(halfway) < many
    wide = compare(ALL3, was, now, tolerance=Tolerance(value=0.4)).detectable(SIGHT)
    assert wide > 0.4


@FAMILIES
def test_nothing_is_detectable_where_the_worst_is_not_significant(family: KRounds) -> None:
    two = compare(family, np.ones((2, 3)), np.ones((2, 3)))
    assert two.detectable(Sight(drift=3.17, power=0.8, level=1e-3)) == math.inf
    twelve = compare(family, np.ones((12, 3)), np.ones((12, 3)))
    assert math.isfinite(twelve.detectable(Sight(drift=3.17, power=0.8, level=1e-3)))


def test_the_smallest_p_is_that_of_the_worst_result() -> None:
    """Detectable exactly from the level on at which the worst is significant."""
    was, now = np.ones((3, 3)), np.zeros((3, 3))
    p = compare(ALL3, was, now).p_worse
    assert p == pytest.approx(0.5 / 20**3)
    above, below = (
        compare(ALL3, was, was).detectable(Sight(drift=3.0, power=0.8, level=level))
        for level in (p * 1.01, p * 0.99)
    )
    assert math.isfinite(above)
    assert below == math.inf


def test_a_hundred_thousand_cases_are_quick() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(100_000)
    was, now = drawn(rng, p, 12), drawn(rng, p, 3)
    assert calls(lambda: compare(ALL3, was, now)) < 30_000  # 3,000: there is no loop over cases
