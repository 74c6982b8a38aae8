"""What must hold for any history of main."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gate.analysis.pooling import pool
from gate.analysis.session_effect import session_effects
from tests.support.main_runs import past
from tests.support.verdict_tables import RECALL, SUCCESS

SPECS = (SUCCESS, RECALL)
seeds = st.integers(0, 10_000)


def history(rng: np.random.Generator, rounds: list[int], tau: float) -> list[dict[str, np.ndarray]]:
    case = rng.beta(0.5, 0.5, (40, 1))
    return [
        {
            "success": (rng.random((40, n)) < case + shift).astype(float),
            "recall": np.clip(case + shift + rng.normal(0.0, 0.1, (40, n)), 0.0, 1.0),
        }
        for n, shift in zip(rounds, rng.normal(0.0, tau, len(rounds)), strict=True)
    ]


@settings(max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=7), st.sampled_from([0.0, 0.1]), seeds)
def test_a_pool_is_the_newest_runs(rounds: list[int], tau: float, seed: int) -> None:
    table, runs = past(*history(np.random.default_rng(seed), rounds, tau), specs=SPECS)
    found = pool(table, runs)
    assert found.runs == tuple(run.session_id for run in runs[-len(found.runs) :])
    kept = sum(rounds[-len(found.runs) :])
    assert found.table.rounds == kept
    for name, values in found.table.columns.items():
        assert np.array_equal(values, table.column(name)[:, sum(rounds) - kept :])
    assert len(found.left_out) == (len(found.runs) < len(runs))


@settings(max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=5, max_size=7), st.sampled_from([0.0, 0.1]), seeds)
def test_the_order_of_rounds_in_a_run_does_not_matter(
    rounds: list[int], tau: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    blocks = history(rng, rounds, tau)
    mixed = [{name: rng.permuted(values, axis=1) for name, values in b.items()} for b in blocks]
    one, other = (pool(*past(*columns, specs=SPECS)) for columns in (blocks, mixed))
    assert one.runs == other.runs
    assert one.notes == other.notes
    assert one.drift.keys() == other.drift.keys()
    assert all(abs(one.drift[name] / other.drift[name] - 1.0) < 1e-6 for name in one.drift)


@settings(max_examples=30)
@given(st.integers(5, 9), st.integers(1, 4), seeds)
def test_identical_runs_have_no_session_effect(runs: int, rounds: int, seed: int) -> None:
    (block,) = history(np.random.default_rng(seed), [rounds], 0.0)
    found = pool(*past(*[block] * runs, specs=SPECS))
    assert len(found.runs) == runs
    assert (found.drift, found.notes) == ({}, ())
    assert {effect.variance for effect in found.effects.values()} == {0.0}


@settings(max_examples=30)
@given(st.integers(8, 14), st.integers(2, 4), st.sampled_from([0.15, 0.4]), seeds)
def test_a_single_step_is_hardly_taken_for_one(
    runs: int, newer: int, size: float, seed: int
) -> None:
    """Runs that repeat each other but for one step."""
    (block,) = history(np.random.default_rng(seed), [3], 0.0)
    lower = {
        name: np.where(np.arange(40)[:, None] < 40 * size, 0.0, v) for name, v in block.items()
    }
    effects = session_effects(*past(*[block] * (runs - newer), *[lower] * newer, specs=SPECS))
    assert all(effect.variance == 0.0 for effect in effects.values())
