"""What must hold for any data: mirrors, order, identity, and that errors never help."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gate.analysis.estimates import estimates
from gate.analysis.table import Table
from gate.records import Comparison, GateRule, MetricRule, Policy, RegressionRules, Verdict
from gate.verdict.decide import decide
from tests.support.verdict_tables import COST, RECALL, SUCCESS, build, suite_data

MIRROR = {"regression": "improvement", "improvement": "regression"}
RULES = RegressionRules(
    alpha=0.05,
    metrics={m: MetricRule(metric=m, level="block") for m in (RECALL.name, COST.name)},
)
SPECS = (SUCCESS, RECALL, COST)


def verdict(was: Table, now: Table, *gates: GateRule, **extra: object) -> Verdict:
    return decide(
        [suite_data(name="s", current=now, baseline=was, **extra)],
        gates=gates,
        regression=RULES,
        policy=Policy(),
    )


@st.composite
def tables(draw: st.DrawFn, cases: int | None = None) -> Table:
    """Passes, scores of a few levels with gaps, and positive costs."""
    n = draw(st.integers(5, 12)) if cases is None else cases
    rounds = draw(st.integers(1, 4))
    passes = draw(arrays(np.float64, (n, rounds), elements=st.sampled_from([0.0, 1.0])))
    scores = draw(
        arrays(np.float64, (n, rounds), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]))
    )
    costs = draw(arrays(np.float64, (n, rounds), elements=st.sampled_from([0.01, 0.02, 0.05])))
    return build({"success": passes, "recall": scores, "cost_usd": costs}, specs=SPECS)


@st.composite
def two(draw: st.DrawFn) -> tuple[Table, Table]:
    n = draw(st.integers(5, 12))
    return draw(tables(n)), draw(tables(n))


def rows(found: Verdict) -> dict[str, Comparison]:
    return {row.metric: row for row in found.comparisons}


@settings(max_examples=36)
@given(two())
def test_swapping_the_sides_mirrors_everything(pair: tuple[Table, Table]) -> None:
    forth, back = rows(verdict(*pair)), rows(verdict(*reversed(pair)))
    for name in (SUCCESS.name, RECALL.name):
        if name not in forth or forth[name].delta is None:
            continue
        a, b = forth[name], back[name]
        assert a.delta == pytest.approx(-(b.delta or 0.0), abs=1e-9)
        assert a.p_value == pytest.approx(b.p_better, abs=1e-9)
        assert a.p_better == pytest.approx(b.p_value, abs=1e-9)
        if a.status in MIRROR:
            assert b.status == MIRROR[a.status]


@settings(max_examples=24)
@given(tables())
def test_identical_data_never_fail(table: Table) -> None:
    found = verdict(table, table)
    assert found.outcome in ("pass", "inconclusive")
    for row in found.comparisons:
        assert row.status in ("no_regression", "inconclusive")
        assert row.delta in (None, 0.0)
    assert found.cases.newly_failing == found.cases.newly_passing == ()


@settings(max_examples=24)
@given(two(), st.randoms(use_true_random=False))
def test_order_of_cases_and_rounds_does_not_matter(pair: tuple[Table, Table], random) -> None:
    was, now = pair
    order = list(range(len(now.cases)))
    random.shuffle(order)
    turn = list(range(now.rounds))
    random.shuffle(turn)
    shuffled = now.select(order)
    shuffled = replace(shuffled, columns={k: v[:, turn] for k, v in shuffled.columns.items()})
    one, other = verdict(was, now), verdict(was, shuffled)
    assert one.outcome == other.outcome
    for a, b in zip(one.comparisons, other.comparisons, strict=True):
        assert (a.metric, a.status, a.n_paired) == (b.metric, b.status, b.n_paired)
        assert a.delta == pytest.approx(b.delta, nan_ok=True)
        assert a.p_value == pytest.approx(b.p_value)
    assert {c.case_id for c in one.cases.flaky} == {c.case_id for c in other.cases.flaky}


GATE = GateRule(metric=SUCCESS.name, min=0.5, rule="point")


@settings(max_examples=36)
@given(two())
def test_an_added_case_that_nobody_answered_never_improves(pair: tuple[Table, Table]) -> None:
    was, now = pair
    before = verdict(was, now, GATE)
    wider = Table(
        suite="s",
        cases=(*now.cases, "new"),
        digests=(*now.digests, "new"),
        rounds=now.rounds,
        columns={
            name: np.vstack(
                [values, np.full((1, now.rounds), 1.0 if name == "infra_error" else np.nan)]
            )
            for name, values in now.columns.items()
        },
        specs=now.specs,
    )
    after = verdict(was, wider, GATE)
    assert after.gates[0].value == pytest.approx(before.gates[0].value)
    assert after.exit_code >= before.exit_code or after.outcome == "error"
    if before.outcome != "pass":
        assert after.outcome != "pass"


@settings(max_examples=36)
@given(tables(), st.integers(0, 11))
def test_losing_a_case_never_raises_a_score(table: Table, row: int) -> None:
    assume(len(table.cases) > 5)  # fewer pairs are not comparable
    row %= len(table.cases)
    keep = [i for i in range(len(table.cases)) if i != row]
    whole = verdict(table, table, GATE).gates[0].value
    rules = replace(RULES, max_removed=0.5)
    removed = decide(
        [suite_data(name="s", current=table.select(keep), baseline=table)],
        gates=(GATE,),
        regression=rules,
        policy=Policy(),
    )
    assert removed.gates[0].value == pytest.approx(whole)


@settings(max_examples=24)
@given(tables())
def test_an_interval_holds_its_value(table: Table) -> None:
    for found in estimates(table, table.specs).values():
        if found.value is None:
            assert found.reason
            continue
        assert found.ci_low is None or found.ci_low <= found.value + 1e-9
        assert found.ci_high is None or found.ci_high >= found.value - 1e-9
        assert (found.min or 0.0) <= found.value + 1e-9


def test_the_whole_gate_raises_few_false_alarms() -> None:
    """A/A with three blocking metrics at alpha 5 %: any of them, fixed seed."""
    alarms = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        level = rng.beta(0.5, 0.5, (40, 1))

        def run(rounds: int, level: np.ndarray = level, rng: np.random.Generator = rng) -> Table:
            draws = {name: rng.random((40, rounds)) for name in ("success", "recall", "cost_usd")}
            return build(
                {
                    "success": (draws["success"] < level).astype(float),
                    "recall": np.clip(level + 0.3 * (draws["recall"] - 0.5), 0.0, 1.0),
                    "cost_usd": 0.01 * np.exp(level + draws["cost_usd"]),
                },
                specs=SPECS,
            )

        alarms += verdict(run(6), run(3)).outcome == "fail"
    assert alarms <= 24  # 15 expected at most, standard deviation 4
