"""The rules of other tools in benchmarks/other_rules.py decide as computed by hand.

They also decide as the tools' own packages do, where GATE_PEERS has these (`install_peers.sh`).
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks import other_rules, peer_rules

HAVE_PACKAGES = (Path(os.environ.get("GATE_PEERS") or "-") / "rules").is_dir()
PACKAGED = (
    "nel_compare",
    "nel_compare_strict",
    "agent_regress",
    "multivon_compare",
    "multivon_mcnemar",
)


def blocks(rule, was, now):
    """Whether the rule blocks one metric; `was` and `now`: cases x rounds."""
    arms = (np.asarray(arm, dtype=float)[:, :, np.newaxis] for arm in (was, now))
    return getattr(other_rules, rule)(*arms, alpha=0.01) == ["regression"]


def single_answers(lost, gained, kept=0, failed=0):
    """Cases x 1 round of main and of a pull request, by what became of the cases."""
    was = [1] * lost + [0] * gained + [1] * kept + [0] * failed
    now = [0] * lost + [1] * gained + [1] * kept + [0] * failed
    return np.array(was)[:, np.newaxis], np.array(now)[:, np.newaxis]


def passed_of_ten(*passed):
    """Ten cases x one round for each number of cases that passed it."""
    return np.array([[case < count for count in passed] for case in range(10)])


def passed_calls(passed, calls):
    return (np.arange(calls) < passed)[:, np.newaxis]


@pytest.mark.parametrize(
    ("lost", "blocked", "red"),
    [
        (0, False, False),  # the same answers: PASS
        (4, False, True),  # p = 1/16: too few flips to rule out a drop, INCONCLUSIVE
        (5, False, True),  # p = 1/32 and 5 points: not more than --max-drop, WARN
        (6, True, True),  # p = 1/64 and 6 points
    ],
)
def test_nel_compare_of_single_answers(lost, blocked, red):
    answers = single_answers(lost, 0, kept=60, failed=40 - lost)
    assert blocks("nel_compare", *answers) is blocked
    assert blocks("nel_compare_strict", *answers) is red


def test_nel_compare_passes_where_each_case_keeps_one_passing_round():
    was, now = np.ones((50, 3)), np.ones((50, 3))
    now[:, 1:] = 0.0
    assert not blocks("nel_compare_strict", was, now)
    now[:10] = 0.0  # ten cases lost: 50 falls, none of which shuffling turns around
    assert blocks("nel_compare", was, now)


def test_gym_eval_compare_needs_a_whole_interval_below_zero():
    """Variance .01 / 3 a side: 4 degrees of freedom, t = 2.776, a reach of 0.227."""
    main = passed_of_ten(10, 9, 8)
    assert blocks("gym_eval_compare", main, passed_of_ten(7, 6, 5))
    assert not blocks("gym_eval_compare", main, passed_of_ten(8, 7, 6))
    assert blocks("gym_eval_compare", passed_of_ten(9, 9), passed_of_ten(8, 8))  # no variance
    assert not blocks("gym_eval_compare", passed_of_ten(10), passed_of_ten(0))  # one round


def test_gym_eval_compare_has_the_interval_of_scipy():
    rng = np.random.default_rng(5)
    for _ in range(40):
        was, now = rng.random((20, 4)) < 0.7, rng.random((20, 3)) < rng.uniform(0.3, 0.7)
        means = now.mean(axis=0), was.mean(axis=0)
        interval = stats.ttest_ind(*means, equal_var=False).confidence_interval(0.95)
        assert blocks("gym_eval_compare", was, now) == (interval.high < 0.0)


@pytest.mark.parametrize(
    ("calls", "before", "after", "blocked"),
    [
        (50, 45, 35, True),  # z = 2.48, d = -0.51
        (50, 40, 35, False),  # z = 1.14
        (3000, 2400, 2220, False),  # z = 5.5, d = -0.14: too small an effect
        (9, 9, 0, False),  # fewer than ten calls
        (10, 10, 0, True),
        (10, 10, 10, False),
    ],
)
def test_agent_regress_wants_a_test_and_an_effect(calls, before, after, blocked):
    pots = passed_calls(before, calls), passed_calls(after, calls)
    assert blocks("agent_regress", *pots) is blocked


def test_llm_eval_action_tests_single_answers_and_means():
    assert blocks("llm_eval_action", *single_answers(6, 0, kept=9))  # p = 2/64
    assert not blocks("llm_eval_action", *single_answers(5, 0, kept=9))  # p = 2/32
    assert not blocks("llm_eval_action", *single_answers(0, 6, kept=9))
    was, now = np.ones((10, 2)), np.ones((10, 2))
    now[:4, 1] = 0.0  # t = -2.45 with 9 degrees of freedom: p = 0.037
    assert blocks("llm_eval_action", was, now)
    assert not blocks("llm_eval_action", now, was)
    now[3, 1] = 1.0  # t = -1.96: p = 0.081
    assert not blocks("llm_eval_action", was, now)


def test_multivon_compares_cases_that_passed_everything():
    was, now = np.ones((20, 3, 2)), np.ones((20, 3, 2))
    assert other_rules.multivon_compare(was, now) == ["inconclusive"] * 2
    now[0, 2, 1] = 0.0
    assert other_rules.multivon_compare(was, now) == ["regression"] * 2
    now[:5, 2, 1] = 0.0  # z = 4 / sqrt(5): p = 0.074
    assert other_rules.multivon_mcnemar(was, now) == ["inconclusive"] * 2
    now[:6, 2, 1] = 0.0  # z = 5 / sqrt(6): p = 0.041
    assert other_rules.multivon_mcnemar(was, now) == ["regression"] * 2
    assert other_rules.multivon_mcnemar(now, was) == ["inconclusive"] * 2


@pytest.mark.peers
@pytest.mark.skipif(not HAVE_PACKAGES, reason="GATE_PEERS names no folder with rules")
@pytest.mark.parametrize("name", PACKAGED)
@pytest.mark.filterwarnings("ignore:n_")  # few calls, says one of them
def test_the_package_decides_the_same(name):
    rng = np.random.default_rng(11)
    for shape in [(60, 3), (10, 5), (120, 1), (12, 1)] * 3:
        chances = rng.beta(0.7, 0.4, (shape[0], 1, 2))
        fallen = np.clip(chances - rng.choice([0.0, 0.1, 0.3]), 0.0, 1.0)
        was, now = ((rng.random((*shape, 2)) < p).astype(float) for p in (chances, fallen))
        own, theirs = getattr(other_rules, name), getattr(peer_rules, name)
        assert own(was, now, alpha=0.01) == theirs(was, now, alpha=0.01)
