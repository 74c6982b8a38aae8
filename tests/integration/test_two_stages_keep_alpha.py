"""The look after stage 1 and the verdict after stage 2 together block an unchanged agent no more
often than one test would: alpha. Two tests that do not know of each other block it more often.
"""

import numpy as np

from benchmarks.verdict_sim_adapter import fixed, two_stages

ALPHA, TOLERANCE = 0.05, 0.02
CASES, ROUNDS, OF_MAIN, RUNS = 40, 3, 12, 400
PLANNED, CAP = CASES * ROUNDS, 2 * CASES * ROUNDS


def draw_unchanged(rng):
    """Rounds of main and of a pull request that changed nothing: cases x rounds x 1 metric."""
    chances = rng.beta(2.0, 0.7, size=(CASES, 1, 1))
    draw = [(rng.random((CASES, n, 1)) < chances).astype(float) for n in (OF_MAIN, 2 * ROUNDS)]
    return draw[0], draw[1]


def in_two_stages(main, change):
    """The verdict, and the calls it took."""
    first = change.copy()
    first[:, ROUNDS:] = np.nan
    for calls, seen in ((PLANNED, first), (CAP, change)):
        given = {"tolerance": TOLERANCE, "alpha": ALPHA, "looks": [PLANNED, CAP]}
        (status,) = two_stages(main, seen, calls_done=calls, **given)
        if status != "continue":
            return status, calls
    raise AssertionError("the last look decides")


def judged_twice(main, change):
    tests = (fixed(main, part, tolerance=TOLERANCE, alpha=ALPHA) for part in halves(change))
    return any(status == "regression" for (status,) in tests)


def halves(change):
    return change[:, :ROUNDS], change


def test_two_looks_share_one_alpha():
    rng = np.random.default_rng(22)
    blocked = twice = calls = 0
    for _ in range(RUNS):
        main, change = draw_unchanged(rng)
        status, made = in_two_stages(main, change)
        blocked += status == "regression"
        twice += judged_twice(main, change)
        calls += made
    noise = 3.0 * (ALPHA * (1.0 - ALPHA) / RUNS) ** 0.5
    assert blocked / RUNS <= ALPHA + noise
    assert twice > 1.3 * blocked
    assert PLANNED < calls / RUNS < 1.3 * PLANNED  # stage 2 is rare


def test_a_drop_that_is_certain_after_stage_1_needs_no_stage_2():
    main, change = draw_unchanged(np.random.default_rng(1))
    change[: CASES // 2] = 0.0
    assert in_two_stages(main, change) == ("regression", PLANNED)
