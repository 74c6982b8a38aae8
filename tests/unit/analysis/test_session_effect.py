"""The session effect of each metric, from stored values and from means that outlived them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.session_effect import session_effects
from gate.records import MetricSpec
from gate.records.baseline import BaselineRun
from tests.support.main_runs import NAN, header, passes, past
from tests.support.verdict_tables import COST, P95, SUCCESS

NAME = SUCCESS.name
SWING = (0.55, 0.75, 0.5, 0.8, 0.6, 0.7)  # means of runs with an effect of about 12 points
TWICE = (0.6, 0.6, 0.75, 0.75, 0.62, 0.62, 0.78, 0.78)  # each level in two runs
VIOLATIONS = MetricSpec(
    name="agent.safety_violations_per_100",
    column="violations",
    family="mean",
    options={"scale": 100.0},
    high=None,
)


def swinging(*levels: float, rounds: int = 3, cases: int = 200) -> list[np.ndarray]:
    return [passes(level, cases, rounds, seed=n) for n, level in enumerate(levels)]


def gone(
    *means: float, cases: int = 200, made: Mapping[str, str] | None = None
) -> list[BaselineRun]:
    """Runs of which the means are left."""
    return [
        header(n, rounds=3, cases=cases, means={NAME: mean}, fingerprint=made or {})
        for n, mean in enumerate(means)
    ]


def test_the_size_of_the_effect_is_found() -> None:
    effect = session_effects(*past(*swinging(*SWING)))[NAME]
    noise = 0.65 * 0.35 / 600
    assert effect.runs == 6
    assert effect.variance == pytest.approx(np.mean(np.diff(SWING) ** 2) / 2 - noise, rel=0.35)


def test_four_runs_say_nothing() -> None:
    assert session_effects(*past(*swinging(*SWING[:4]))) == {}


def test_means_outlive_the_values() -> None:
    table, runs = past(*swinging(0.6, 0.7), older=gone(*SWING))
    effect = session_effects(table, runs)[NAME]
    assert effect.runs == 8
    assert effect.sd == pytest.approx(0.11, abs=0.04)


@pytest.mark.parametrize(
    "other",
    [
        gone(*SWING, cases=20),  # a sample
        gone(*SWING, cases=0),  # a file of before the number was kept
        gone(*SWING, made={"dataset": "older"}),
        [header(n, rounds=3, cases=200, means={NAME: None}) for n in range(6)],
        gone(1e308, -1e308, 2.0, -1.0, 1e308, 1.5),  # no share of trials
    ],
)
def test_means_of_other_cases_are_no_help(other: list[BaselineRun]) -> None:
    assert session_effects(*past(*swinging(0.6, 0.7), older=other)) == {}


def test_a_known_change_of_the_agent_is_no_effect() -> None:
    """Pairs of runs that are alike, each pair of another agent."""
    blocks = swinging(0.6, 0.6, 0.75, 0.75, 0.65, 0.65, 0.8, 0.8)
    made = [{"agent_digest": agent} for agent in "aabbccdd"]
    assert session_effects(*past(*blocks, fingerprints=made))[NAME].variance == 0.0
    assert session_effects(*past(*blocks))[NAME].variance > 0.0


def test_an_accepted_change_is_no_effect() -> None:
    """Its moment divides the runs, also where only their means are left."""
    older = [
        replace(run, created_at=f"2026-01-0{n + 1}T03:00:00") for n, run in enumerate(gone(*TWICE))
    ]
    blocks = swinging(0.7, 0.7)
    table, runs = past(*blocks, older=older)
    changes = [f"2026-01-0{day}T00:00:00Z" for day in (3, 5, 7)]
    assert session_effects(table, runs, changes)[NAME].variance == 0.0
    assert session_effects(table, runs)[NAME].seen


def test_a_dataset_that_grew_is_compared_on_its_common_cases() -> None:
    """The new cases fail: without pairing, the means would drop for good with each of them."""
    blocks = swinging(*[0.8] * 6)
    for number, block in enumerate(blocks):
        block[:60] = 0.0
        block[10 * number : 60] = NAN
    made = [{"dataset": str(n)} for n in range(6)]
    assert session_effects(*past(*blocks, fingerprints=made))[NAME].variance == 0.0


def test_a_run_of_other_cases_ends_what_is_compared() -> None:
    blocks = swinging(*SWING)
    blocks[2][20:] = NAN
    assert session_effects(*past(*blocks)) == {}


def test_single_rounds_have_their_noise_from_neighbouring_runs() -> None:
    rng = np.random.default_rng(1)
    case = rng.beta(0.5, 0.5, (400, 1))
    quiet = [(rng.random((400, 1)) < case).astype(float) for _ in range(8)]
    assert session_effects(*past(*quiet))[NAME].variance == 0.0
    loud = [(rng.random((400, 1)) < case + s).astype(float) for s in (0.2, -0.2) * 4]
    assert session_effects(*past(*loud))[NAME].sd > 0.05


def test_one_round_in_all_leaves_the_noise_unknown() -> None:
    assert session_effects(*past(passes(0.6, 200, 1), older=gone(*SWING))) == {}


def test_each_mean_is_in_its_own_unit() -> None:
    rng = np.random.default_rng(2)
    blocks = []
    days = (1.0, 1.3, 0.8, 1.2, 0.9, 1.1)
    swing = np.sqrt(np.mean(np.diff(days) ** 2) / 2)
    for day in days:
        cost = 0.05 * day * rng.lognormal(0.0, 0.1, (100, 3))
        violations = (rng.random((100, 3)) < 0.3 * day).astype(float)
        blocks.append({"cost_usd": cost, "violations": violations, "latency_ms": 1000 * cost})
    found = session_effects(*past(*blocks, specs=(COST, VIOLATIONS, P95)))
    assert found[COST.name].sd == pytest.approx(0.05 * swing, rel=0.1)
    assert found[VIOLATIONS.name].sd == pytest.approx(30 * swing, rel=0.5)
    assert P95.name not in found  # no mean of calls: nothing would take its effect


def test_a_metric_that_the_newest_run_lacks_has_no_effect() -> None:
    blocks = swinging(*SWING)
    blocks[-1][:] = NAN
    assert session_effects(*past(*blocks)) == {}
    assert session_effects(past(*blocks)[0], []) == {}
