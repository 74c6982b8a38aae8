"""Whether cases pass always, never or now and then, and what they did in earlier runs."""

from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.catalogue import trial_metrics
from gate.analysis.categories import categories
from gate.analysis.estimates import estimates
from gate.analysis.reliability import list_histories, measure_reliability
from gate.records import Reliability
from gate.records.baseline import BaselineRun
from gate.stats.change import ChangeQuestion
from gate.stats.change_k_rounds import change_in_share
from gate.stats.k_rounds import Draw
from tests.support.verdict_tables import build

NAN = float("nan")


def table(success, **columns):
    values = np.array(success, dtype=float)
    return build({"success": values, **columns}, specs=trial_metrics(values.shape[1]))


def run(number, kept):
    return BaselineRun(
        session_id=str(number), commit=None, created_at=f"2026-01-{number:02}", kept=kept
    )


def test_always_failing_varies_as_little_as_always_passing_and_is_no_reliability():
    """The variance of both is 0: it cannot tell them apart."""
    never, always = table(np.zeros((12, 10))), table(np.ones((12, 10)))
    for one in (never, always):
        assert estimates(one, one.specs)["agent.consistency"].value == 1.0
        assert estimates(one, one.specs)["agent.flip_rate"].value == 0.0
        assert estimates(one, one.specs)["agent.score_spread"].value is None
    found = {name: estimate.value for name, estimate in estimates(never, never.specs).items()}
    assert found["agent.reliable_rate"] == 0.0
    assert found["agent.consistently_failing_rate"] == 1.0
    assert [found[f"agent.pass^{k}"] for k in (2, 3, 5, 10)] == [0.0] * 4
    assert measure_reliability(never).consistently_failing == 12
    assert measure_reliability(never).reliable == 0


def test_cases_are_told_apart_by_their_rounds():
    success = [[1, 1, 1], [1, 0, 1], [0, 0, 0], [1, NAN, NAN], [0, 0, NAN], [NAN] * 3]
    expected = Reliability(rounds=3, reliable=1, flaky=1, consistently_failing=2)
    assert measure_reliability(table(success)) == expected


@pytest.mark.parametrize("success", [[[1.0], [0.0]], [[NAN, NAN]]])
def test_one_round_tells_nothing(success):
    assert measure_reliability(table(success)) is None


def test_the_three_shares_of_a_whole_run_add_up():
    success = (np.random.default_rng(1).random((50, 10)) < 0.8).astype(float)
    one = table(success)
    found, cases = estimates(one, one.specs), measure_reliability(one)
    assert found["agent.reliable_rate"].value == cases.reliable / 50
    assert found["agent.consistently_failing_rate"].value == cases.consistently_failing / 50
    assert cases.reliable + cases.flaky + cases.consistently_failing == 50
    flips = found["agent.flip_rate"].value
    assert flips == pytest.approx(1.0 - found["agent.consistency"].value)


@pytest.mark.parametrize("rounds", [10, 25, 100, 400])
def test_any_number_of_rounds_can_be_compared(rounds):
    rng = np.random.default_rng(rounds)
    was, now = ((rng.random((6, rounds)) < 0.99).astype(float) for _ in range(2))
    for draw in (
        Draw(k=10, wanted="all"),
        Draw(k=rounds, wanted="all"),
        Draw(k=2, wanted="unlike"),
    ):
        found = change_in_share(was, now, draw, ChangeQuestion(direction="higher"))
        assert 0.0 < found.p_worse < 1.0
        assert found.n_paired == 6


def test_the_history_of_a_case_is_what_it_did_run_by_run():
    success = np.array([[1, 1, 0, NAN, 0, 0], [1, 1, 1, NAN, NAN, NAN]])
    baseline = build({"success": success})
    runs = (run(1, 2), run(2, 2), run(3, 0), run(4, 2))
    found = list_histories(baseline, runs, baseline, ["c000", "c001", "unheard of"])
    assert found == {"c000": ((2, 2), (0, 1), (0, 2)), "c001": ((2, 2), (1, 1))}


def test_only_the_newest_ten_runs_are_told():
    baseline = build({"success": np.eye(1, 14)})
    found = list_histories(baseline, [run(n, 1) for n in range(1, 15)], baseline, ["c000"])
    assert found == {"c000": ((0, 1),) * 10}


def test_an_edited_case_has_no_history_and_neither_has_a_baseline_of_unknown_runs():
    baseline = build({"success": np.ones((1, 2))})
    edited = replace(baseline, digests=("other",))
    assert list_histories(baseline, [run(1, 2)], edited, ["c000"]) == {}
    assert list_histories(baseline, [run(1, 3)], baseline, ["c000"]) == {}
    assert list_histories(baseline, (), baseline, ["c000"]) == {}


# --------------------------------------------------------------------------------------- categories


def billed():
    success = np.array([[1, 1], [1, 0], [0, 0], [1, 1]], dtype=float)
    cost = np.array([[0.1, 0.1], [0.2, NAN], [0.3, 0.3], [0.4, 0.4]])
    one = table(
        success,
        cost_usd=cost,
        agent_error=np.zeros((4, 2)),
        steps=np.array([[1, 1], [3, NAN], [NAN, NAN], [2, 4]]),
    )
    return replace(one, categories=("b", "b", None, "a"))


def test_categories_stand_side_by_side_with_their_own_numbers():
    failed = {"wrong_tool": {"c001": 1}, "timeout": {"c001": 1, "c002": 2}}
    a, b, without = categories(billed(), failed)
    assert [one.category for one in (a, b, without)] == ["a", "b", None]
    assert (b.cases, b.trials, b.success_rate, b.avg_steps) == (2, 4, 0.75, 2.0)
    assert b.cost_per_task == pytest.approx(0.15)
    assert b.cost_per_success == pytest.approx(0.15)
    assert (b.unknown_cost, b.top_mode, b.top_mode_cases) == (1, "timeout", 1)
    assert (a.top_mode, a.top_mode_cases, a.avg_steps) == (None, 0, 3.0)
    assert (without.success_rate, without.avg_steps) == (0.0, None)
    assert (without.cost_per_task, without.cost_per_success) == (pytest.approx(0.3), None)


def test_who_failed_without_an_answer_is_no_unknown_cost_and_who_was_not_asked_no_trial():
    one = billed()
    one.columns["agent_error"][1, 1] = 1.0
    one.columns["infra_error"][0, 1] = NAN
    b = categories(one, {})[1]
    assert (b.category, b.unknown_cost, b.trials) == ("b", 0, 3)


def test_the_mode_of_most_cases_is_told_then_that_of_most_trials():
    both = {"wrong_tool": {"c001": 1}, "wrong_answer": {"c000": 1, "c001": 1}}
    assert categories(billed(), both)[1].top_mode == "wrong_answer"
    tied = {"wrong_tool": {"c001": 1}, "wrong_answer": {"c000": 2}}
    assert categories(billed(), tied)[1].top_mode == "wrong_answer"


def test_one_category_is_none():
    assert categories(replace(billed(), categories=("a",) * 4), {}) == ()
    assert categories(replace(billed(), categories=()), {}) == ()


def test_of_many_categories_the_largest_are_told():
    many = table(np.ones((500, 1)))
    names = tuple(f"n{i:03}" if i < 300 else "zz" for i in range(500))
    found = categories(replace(many, categories=names), {})
    assert len(found) == 200
    assert (found[-1].category, found[-1].cases) == ("zz", 200)
