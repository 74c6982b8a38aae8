"""The interval of a change after a run that may have ended early."""

from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.metrics.rate import Rate
from gate.records import Evidence, MetricSpec, Tolerance
from gate.stats.boundaries import boundaries, nominal
from gate.verdict.early_end import StopRules, find_interval
from gate.verdict.interim_looks import LookBoundary, LookPosition, find_boundary

SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate")
TIMES = (0.25, 0.5, 0.75, 1.0)


def flaky(rounds: int, share: float, seed: int) -> np.ndarray:
    """60 cases that pass with this chance."""
    return (np.random.default_rng(seed).random((60, rounds)) < share).astype(np.float64)


def evidence(now: float, seed: int = 1) -> Evidence:
    was, values = flaky(12, 0.8, 3), flaky(3, now, seed)
    return Rate().compare(was, values, SUCCESS, tolerance=Tolerance(value=0.0))


def at_look(index: int, times: tuple[float, ...] = TIMES) -> LookBoundary:
    return find_boundary(0.01, 0.8, LookPosition(times=times, index=index))


def rules(
    boundary: LookBoundary, *, alone: bool = True, blocks: bool = True, both: bool = False
) -> StopRules:
    return StopRules(
        boundary=boundary, blocks=blocks, alone=alone, both=both, allowed=0.02, doubt=0.04
    )


def test_a_run_of_a_fixed_size_has_the_bounds_of_its_test() -> None:
    e, look = evidence(0.8), at_look(0, (1.0,))
    found = find_interval(e, "higher", look, rules(look))
    assert (found.low, found.high) == e.bounds(0.01)
    assert found.estimate is None


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("now", [0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize("alone", [True, False])
def test_zero_is_outside_just_where_the_test_says_so(now: float, seed: int, alone: bool) -> None:
    e, look = evidence(now, seed), at_look(1)
    found = find_interval(e, "higher", look, rules(look, alone=alone))
    assert (found.high <= 0.0) is (e.p_worse <= look.harm)
    assert (found.low >= 0.0) is (e.p_better <= look.harm)
    assert found.low <= e.delta <= found.high


def test_the_metric_that_ends_the_run_alone_has_the_narrower_interval() -> None:
    """Both are narrower than the bounds that the harm boundary of the first look would give."""
    e, look = evidence(0.78), at_look(0)
    one, several = (
        find_interval(e, "higher", look, rules(look, alone=alone)) for alone in (True, False)
    )
    first = e.bounds(nominal(boundaries(TIMES, 0.01, 0.2).harm[0]))
    widths = [found.high - found.low for found in (one, several)]
    assert widths[0] < widths[1] < first[1] - first[0]


def test_the_estimate_of_a_regression_is_smaller_than_what_was_measured() -> None:
    e, look = evidence(0.55), at_look(2)
    found = find_interval(e, "higher", look, rules(look))
    assert found.estimate is not None
    assert e.delta < found.estimate < found.high


def test_less_may_be_better() -> None:
    e, look = evidence(0.55), at_look(2)

    def turn(level: float) -> tuple[float, float]:
        low, high = e.bounds(level)
        return -high, -low

    mirrored = replace(e, delta=-e.delta, bounds=turn)
    found = find_interval(e, "higher", look, rules(look))
    turned = find_interval(mirrored, "lower", look, rules(look))
    assert (turned.low, turned.high) == (-found.high, -found.low)
    assert turned.estimate == pytest.approx(-(found.estimate or 0.0))


def test_a_metric_that_only_warns_has_no_estimate() -> None:
    look = at_look(2)
    found = find_interval(evidence(0.7), "higher", look, rules(look, alone=False, blocks=False))
    assert found.estimate is None


def test_an_improvement_that_ended_the_run_is_corrected_too() -> None:
    e, look = evidence(0.98, 3), at_look(1)
    found = find_interval(e, "higher", look, rules(look, both=True))
    assert found.estimate is not None
    assert found.low < found.estimate < e.delta
