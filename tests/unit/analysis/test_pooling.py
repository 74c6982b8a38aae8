"""Which runs of main are compared with, and what is said of the others."""

from __future__ import annotations

import numpy as np
import pytest

from gate.analysis.pooling import pool
from gate.records import MetricSpec
from tests.support.main_runs import NAN, header, passes, past
from tests.support.verdict_tables import RECALL, SUCCESS

LATENCY = MetricSpec(
    name="operational.mean_latency_ms",
    column="latency_ms",
    family="log_mean",
    unit="ms",
    direction="lower",
    high=None,
)


def shocked(*shifts: float, cases: int = 300, rounds: int = 3) -> list[np.ndarray]:
    """Runs of cases that pass half the time, each run's chance shifted."""
    rng = np.random.default_rng(5)
    return [(rng.random((cases, rounds)) < 0.5 + shift).astype(float) for shift in shifts]


def test_runs_that_agree_are_pooled() -> None:
    found = pool(*past(*(passes(0.8, seed=n) for n in range(3))))
    assert found.runs == ("r00", "r01", "r02")
    assert found.table.rounds == found.rounds == 9
    assert found.notes == ()


def test_the_run_that_ends_the_pool_is_named_with_its_difference() -> None:
    found = pool(*past(*(passes(x, seed=n) for n, x in enumerate((0.8, 0.3, 0.8, 0.8)))))
    assert found.runs == ("r02", "r03")
    assert found.table.column("success").shape == (60, 6)
    (note,) = found.notes
    assert note.startswith(
        "run r01 (commit 0101010, 2026-11-02) and 1 older run left out: "
        "agent.success_rate differs by −5"
    )
    assert note.endswith(" pt from the newer runs (p < 0.0001)")


def test_a_run_is_held_against_all_newer_ones_together() -> None:
    """Four points less in each of three runs is too little for one, enough for three."""
    old, *new = (passes(x, cases=400, seed=n) for n, x in enumerate((0.86, 0.8, 0.8, 0.8)))
    assert len(pool(*past(old, new[0])).runs) == 2
    assert pool(*past(old, *new)).runs == ("r01", "r02", "r03")


def test_runs_of_other_cases_end_the_pool() -> None:
    old = passes(0.8)
    old[:] = NAN
    found = pool(*past(old, passes(0.8)))
    assert found.runs == ("r01",)
    assert found.notes == ("run r00 (commit 0000000, 2026-11-01) left out: other cases or graders",)


def test_cases_of_other_content_start_anew_and_the_others_keep_their_rounds() -> None:
    old = passes(0.8)
    old[:10] = NAN
    found = pool(*past(old, passes(0.8, seed=1)))
    assert found.runs == ("r00", "r01")
    counts = (~np.isnan(found.table.column("success"))).sum(axis=1)
    assert counts.tolist() == [3] * 10 + [6] * 50


def test_samples_without_a_common_case_are_pooled() -> None:
    old, new = passes(0.8), passes(0.2)
    old[:30], new[30:] = NAN, NAN
    assert pool(*past(old, new)).runs == ("r00", "r01")


def test_a_score_alone_can_end_the_pool() -> None:
    same = passes(0.8)
    low, high = np.tile([0.4, 0.5, 0.6], (60, 1)), np.tile([0.7, 0.8, 0.9], (60, 1))
    blocks = [{"success": same, "recall": recall} for recall in (low, high, high)]
    found = pool(*past(*blocks, specs=(SUCCESS, RECALL)))
    assert found.runs == ("r01", "r02")
    assert "retrieval.recall@5 differs by −30.0 pt" in found.notes[0]


def test_time_does_not_end_the_pool() -> None:
    blocks = [
        {"success": passes(0.8, seed=n), "latency_ms": np.full((60, 3), 100.0) + n + k}
        for n, k in enumerate((0, 500))
    ]
    table, runs = past(*blocks, specs=(SUCCESS, LATENCY))
    table.graders.pop("latency_ms")
    assert pool(table, runs).runs == ("r00", "r01")


def test_many_scores_do_not_end_the_pool_more_often() -> None:
    specs = tuple(MetricSpec(name=f"s.{n}", column=f"s{n}") for n in range(20))
    ended = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        blocks = [{spec.column: rng.random((30, 2)) for spec in specs} for _ in range(2)]
        ended += len(pool(*past(*blocks, specs=specs)).runs) < 2
    assert ended <= 5  # 1 expected; without a correction 18


def test_without_any_judgement_everything_is_pooled() -> None:
    nothing = np.full((6, 3), NAN)
    assert pool(*past(nothing, nothing)).runs == ("r00", "r01")


def test_without_runs_there_is_no_pool() -> None:
    table, _ = past(passes(0.8))
    found = pool(table, [])
    assert (found.runs, found.table.rounds, found.rounds) == ((), 0, 0)


def test_runs_without_values_are_passed_over() -> None:
    older = [header(n, kept=0, rounds=3, means={SUCCESS.name: 0.8}) for n in range(3)]
    assert pool(*past(passes(0.8), older=older)).runs == ("r03",)


def test_the_session_effect_does_not_end_the_pool_but_is_counted_in() -> None:
    shifts = (0.1, -0.1, -0.08, 0.09, 0.1, -0.07, 0.09, 0.1)
    found = pool(*past(*shocked(*shifts)))
    assert len(found.runs) == len(shifts)
    effect = found.effects[SUCCESS.name]
    assert effect.sd == pytest.approx(0.1, abs=0.03)
    assert found.drift[SUCCESS.name] == pytest.approx(effect.drift(1 / 8))
    assert found.notes == (
        "the baseline's runs differ by more than chance, and the comparison allows for it: "
        f"agent.success_rate by ±{100 * effect.sd:.1f} pt (8 runs)",
    )
    two = pool(*past(*shocked(*shifts[:2])))
    assert (len(two.runs), two.drift) == (1, {})


def test_a_step_ends_the_pool_although_the_runs_could_have_a_session_effect() -> None:
    found = pool(*past(*shocked(0.2, 0.2, 0.2, 0.2, 0.2, 0.0, 0.0)))
    assert found.runs == ("r05", "r06")
    assert found.drift == {}
    assert "and 4 older runs left out" in found.notes[0]


def test_an_effect_too_small_to_matter_is_not_mentioned() -> None:
    """One tenth of a point, seen because the agent gives the same answers all day."""
    blocks = [np.zeros((1000, 2)) for _ in range(6)]
    for number, block in enumerate(blocks):
        block[: 500 + (number % 2), :] = 1.0
    found = pool(*past(*blocks))
    assert 0.0 < found.effects[SUCCESS.name].sd < 0.001
    assert found.drift[SUCCESS.name] > 0.0
    assert found.notes == ()


def test_a_run_with_few_of_the_rounds_counts_for_little() -> None:
    """Equal runs: drift = tau^2 (1 + 1/K); a run of one round beside those of three is no K."""
    even, uneven = shocked(*[0.1, -0.1] * 3), shocked(*[0.1, -0.1] * 3)
    uneven[0] = uneven[0][:, :1]
    all_even, with_stub = pool(*past(*even)), pool(*past(*uneven))
    share = 5 * (3 / 16) ** 2 + (1 / 16) ** 2
    for found, concentration in ((all_even, 1 / 6), (with_stub, share)):
        effect = found.effects[SUCCESS.name]
        assert found.drift[SUCCESS.name] == pytest.approx(effect.drift(concentration))
