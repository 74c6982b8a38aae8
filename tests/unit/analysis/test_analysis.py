"""Estimates, pairing, missing calls and the case lists."""

import math
from collections.abc import Mapping

import numpy as np
import pytest

from gate.analysis.cases import case_changes
from gate.analysis.columns import LEFT_UNSCORED
from gate.analysis.estimates import default_level, default_tolerance, estimates
from gate.analysis.missing_answers import (
    Missing,
    find_errored_cases,
    infra_share,
    pessimistic,
    pessimistic_values,
    too_much_missing,
)
from gate.analysis.pairing import pair_cases
from gate.analysis.table import Table
from gate.errors import UsageError
from gate.records import CaseChange, MetricSpec, Tolerance

NAN = math.nan
SUCCESS = MetricSpec(name="agent.success_rate", column="success", family="rate", unit="share")
LATENCY = MetricSpec(
    name="operational.p95_latency_ms",
    column="latency_ms",
    family="quantile",
    unit="ms",
    direction="lower",
    high=None,
)


def table(
    columns: Mapping[str, list[list[float]]],
    cases: str = "",
    *,
    digests: tuple[str, ...] = (),
    specs: tuple[MetricSpec, ...] = (SUCCESS,),
) -> Table:
    """Cases are called by single letters: a, b, c, ..."""
    arrays = {name: np.array(rows, dtype=float) for name, rows in columns.items()}
    first = next(iter(arrays.values()))
    names = tuple(cases or "abcdefghijklmnopqrstuvwxyz"[: len(first)])
    return Table(
        suite="s",
        cases=names,
        digests=digests or names,
        rounds=first.shape[1],
        columns=arrays,
        specs={spec.name: spec for spec in specs},
        categories=tuple(f"kind-{name}" for name in names),
    )


# --------------------------------------------------------------------------------------- estimates


def test_estimate_of_a_rate() -> None:
    found = estimates(table({"success": [[1, 1], [0, 1], [NAN, NAN]]}), {"m": SUCCESS})["m"]
    assert (found.value, found.min, found.max, found.n) == (0.75, 0.5, 1.0, 4)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert found.ci_low < 0.75 < found.ci_high <= 1.0
    assert (found.confidence, found.unit, found.direction) == (0.95, "share", "higher")


def test_bounds_beyond_the_data_are_unknown() -> None:
    data = table({"latency_ms": [[1.0, 2.0], [3.0, 4.0]]})
    found = estimates(data, {"p": LATENCY})["p"]
    assert found.value is not None
    assert found.ci_high is None


def test_a_spread_within_cases_needs_two_rounds() -> None:
    spec = MetricSpec(name="o.std", column="x", family="std", direction="lower", high=None)
    found = estimates(table({"x": [[1.0], [2.0], [4.0]]}), {"s": spec})["s"]
    assert found.value == pytest.approx(np.std([1, 2, 4], ddof=1))
    assert (found.min, found.max) == (None, None)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"infra_error": [[1.0], [1.0]]}, "every call ended in an infrastructure error"),
        (
            {"infra_error": [[0.0], [1.0]], "agent_error": [[1.0], [NAN]]},
            "every call ended in an agent error",
        ),
        (
            {"infra_error": [[0.0], [0.0]], "agent_error": [[0.0], [1.0]]},
            "no trial has a value: no case needs it, or the agent does not report it",
        ),
    ],
)
def test_why_a_metric_is_missing(columns: dict[str, list[list[float]]], reason: str) -> None:
    found = estimates(table(columns), {"m": LATENCY})["m"]
    assert found.value is None
    assert found.reason == reason
    assert found.n == 0


def test_no_case_and_one_value() -> None:
    empty = table({"success": [[1.0]]}).select([])
    assert estimates(empty, {"m": SUCCESS})["m"].reason == "no case ran"
    spec = MetricSpec(name="o.std", column="x", family="std")
    data = table({"x": [[1.0]], "infra_error": [[0.0]], "agent_error": [[0.0]]})
    assert estimates(data, {"s": spec})["s"].reason == "one value is too few"


def test_an_unknown_family_names_the_nearest() -> None:
    spec = MetricSpec(name="d.m", column="success", family="quantil")
    with pytest.raises(UsageError, match="did you mean 'quantile'"):
        estimates(table({"success": [[1.0]]}), {"m": spec})


@pytest.mark.parametrize(
    ("low", "high", "tolerance"),
    [
        (0.0, 1.0, Tolerance(value=0.02)),
        (1.0, 5.0, Tolerance(value=0.1)),
        (0.0, 10.0, Tolerance(value=0.2)),
        (0.0, 100.0, Tolerance(value=0.05, relative=True)),
        (0.0, None, Tolerance(value=0.05, relative=True)),
        (None, None, Tolerance(value=0.05, relative=True)),
    ],
)
def test_default_tolerances(low: float | None, high: float | None, tolerance: Tolerance) -> None:
    spec = MetricSpec(name="d.m", column="m", low=low, high=high)
    assert default_tolerance(spec) == tolerance


def test_latency_only_warns() -> None:
    assert default_level(LATENCY) == "warn"
    assert default_level(SUCCESS) == "block"


# ----------------------------------------------------------------------------------------- pairing


def test_cases_are_paired_by_id_and_content() -> None:
    was = table({"success": [[1], [1], [1], [1]]}, "abcd", digests=("1", "2", "3", "4"))
    now = table({"success": [[0], [0], [0]]}, "eba", digests=("5", "X", "1"))
    found = pair_cases(was, now, not_asked=frozenset("d"))
    assert found.baseline.cases == found.current.cases == ("a",)
    assert found.n_paired == 1
    assert (found.added, found.removed, found.changed) == (("e",), ("c",), ("b",))
    assert found.whole is was


# ----------------------------------------------------------------------------------- missing calls


def test_share_of_infrastructure_errors() -> None:
    data = table({"infra_error": [[1, 0, NAN], [0, 0, 0]], "success": [[NAN, 1, NAN], [1, 1, 1]]})
    assert infra_share(data) == pytest.approx(0.2)
    assert infra_share(data.select([])) == 0.0
    assert infra_share(table({"success": [[1.0]]})) == 0.0


def test_few_missing_calls_are_left_out() -> None:
    errors = np.zeros((100, 3))
    errors[:6, 0] = 1.0
    ids = tuple(f"c{i}" for i in range(100))

    def of(values: np.ndarray) -> Table:
        return Table(suite="s", cases=ids, digests=ids, rounds=3, columns={"infra_error": values})

    now, clean = of(errors), of(np.zeros((100, 3)))
    assert not too_much_missing(now, None, SUCCESS)
    assert not too_much_missing(now, pair_cases(now, now), SUCCESS)
    assert not too_much_missing(clean, pair_cases(now, clean), SUCCESS)  # main missed more
    told = too_much_missing(now, pair_cases(clean, now), SUCCESS)
    assert "differ from the baseline's (p = " in told.reason
    assert told.beyond is None
    assert not too_much_missing(now, pair_cases(clean.select([]), now), SUCCESS)
    errors[6, 0] = 1.0
    told = too_much_missing(of(errors), None, SUCCESS)
    assert told == Missing(reason="2.3 % of the calls ended in infrastructure errors")


def lost(calls: np.ndarray, p: np.ndarray, seed: int) -> Table:
    """100 cases x 3, half of them sure, the others with chance p; `calls` got no answer."""
    rng = np.random.default_rng(seed)
    success = (rng.random(calls.shape) < p[:, None]).astype(float)
    columns = {"success": np.where(calls, NAN, success), "infra_error": calls.astype(float)}
    ids = tuple(f"c{i}" for i in range(len(p)))
    rounds = calls.shape[1]
    return Table(suite="s", cases=ids, digests=ids, rounds=rounds, columns=columns, specs=SPECS)


SPECS = {SUCCESS.name: SUCCESS}
P = np.where(np.arange(100) % 2, 1.0, 0.5)


def test_where_both_miss_alike_only_what_is_beyond_the_baseline_counts() -> None:
    rng = np.random.default_rng(1)
    was, now = lost(rng.random((100, 12)) < 0.05, P, 2), lost(rng.random((100, 3)) < 0.06, P, 3)
    pairing = pair_cases(was, now)
    told = too_much_missing(now, pairing, SUCCESS)
    assert told.beyond is not None
    assert 0.0 < told.beyond < 0.04
    arms = pessimistic(was, now, SUCCESS, told)
    assert np.array_equal(arms.baseline, was.values(SUCCESS), equal_nan=True)
    filled = np.isnan(now.values(SUCCESS)) & ~np.isnan(arms.current)
    assert filled.sum() == round(told.beyond * 300)
    assert (arms.current[filled] == 0.0).all()
    assert (np.nonzero(filled)[0] % 2 == 1).all()  # of the cases that main is best at
    assert filled.sum() == np.count_nonzero(pessimistic_values(now, SUCCESS, told) == 0.0) - (
        np.count_nonzero(now.values(SUCCESS) == 0.0)
    )
    assert "counted as failures those that the baseline does not have would" in told.could


def test_errors_that_take_the_place_of_failures_are_no_chance() -> None:
    """As many as on main, but all on the cases that fail."""
    rng = np.random.default_rng(4)
    was = lost(rng.random((100, 12)) < 0.05, P, 5)
    hidden = (rng.random((100, 3)) < 0.10) & (P == 0.5)[:, None]
    now = lost(hidden, P, 6)
    told = too_much_missing(now, pair_cases(was, now), SUCCESS)
    assert told.beyond is None
    assert ", on cases that fail more often (p " in told.reason


def test_errors_of_the_baseline_alone_do_not_make_up_for_hidden_failures() -> None:
    """Main's own, at random, are gone; nearly as many fall on the cases that fail. Counted without
    regard to main's they are no more there than main's were.
    """
    rng, seen = np.random.default_rng(7), 0
    for seed in range(60):
        was = lost(rng.random((100, 12)) < 0.05, P, 2 * seed)
        now = lost((rng.random((100, 3)) < 0.08) & (P == 0.5)[:, None], P, 2 * seed + 1)
        told = too_much_missing(now, pair_cases(was, now), SUCCESS)
        seen += "on cases that fail" in told.reason
    assert seen >= 45


@pytest.mark.parametrize("rounds", [3, 6, 7, 11])
def test_where_all_cases_are_alike_none_fails_more_often(rounds: int) -> None:
    """Weights that differ by rounding alone would look like a pattern."""

    def of(lost: int) -> Table:
        values = np.tile(np.r_[1.0, np.zeros(rounds - 1), [0.0] * 9], (60, 1))
        missing = np.arange(rounds + 9) >= rounds + 9 - lost
        columns = {
            "success": np.where(missing, NAN, values),
            "infra_error": np.where(missing, 1.0, np.zeros_like(values)),
        }
        ids = tuple(f"c{i}" for i in range(60))
        return Table(suite="s", cases=ids, digests=ids, rounds=rounds + 9, columns=columns)

    assert too_much_missing(of(1), pair_cases(of(5), of(1)), SUCCESS).beyond == 0.0


def test_the_worst_that_missing_calls_can_hide() -> None:
    was = table({"success": [[1, NAN], [NAN, NAN]], "infra_error": [[0, 1], [1, 1]]})
    now = table({"success": [[NAN, 1], [NAN, NAN]], "infra_error": [[1, 0], [1, 1]]})
    arms = pessimistic(was, now, SUCCESS, Missing())
    assert arms.baseline[0].tolist() == [1.0, 1.0]
    assert arms.current[0].tolist() == [0.0, 1.0]
    assert np.isnan(arms.current[1]).all()  # the metric may not apply to this case
    assert pessimistic_values(now, SUCCESS, Missing()).tolist() == [[0, 1], [0, 0]]


def test_an_unbounded_metric_takes_the_ends_of_the_data() -> None:
    was = table({"latency_ms": [[5.0, NAN]], "infra_error": [[0, 1]]})
    now = table({"latency_ms": [[NAN, 9.0]], "infra_error": [[1, 0]]})
    arms = pessimistic(was, now, LATENCY, Missing())
    assert arms.baseline.tolist() == [[5.0, 5.0]]
    assert arms.current.tolist() == [[9.0, 9.0]]
    nothing = table({"infra_error": [[1.0]]})
    assert np.isnan(pessimistic_values(nothing, LATENCY, Missing())).all()


def test_errored_cases() -> None:
    data = table({"infra_error": [[1, 1], [1, 0], [1, NAN], [NAN, NAN]]})
    assert find_errored_cases(data) == {"a", "c"}


# -------------------------------------------------------------------------------------- case lists


def _ids(changes: tuple[CaseChange, ...]) -> list[str]:
    return [change.case_id for change in changes]


def test_case_lists() -> None:
    was = table(
        {
            "success": [[1, 1, 1]] * 2 + [[0, 0, 0]] + [[1, 1, 0]] + [[1, 1, 1]] * 3,
            "infra_error": [[0, 0, 0]] * 7,
        },
        "abcdefg",
    )
    now = table(
        {
            "success": [[0, 0, 0], [1, 0, 0], [1, 1, 1], [1, 0, 1], [NAN] * 3, [0, 0, 0], [0] * 3],
            "infra_error": [[0, 0, 0]] * 4 + [[1, 1, 1]] + [[0, 0, 0]] * 2,
        },
        "abcdefh",
        digests=("a", "b", "c", "d", "e", "X", "h"),
    )
    found = case_changes(now, was)
    assert _ids(found.newly_failing) == ["a", "b"]
    assert _ids(found.newly_passing) == ["c"]
    assert _ids(found.flaky) == ["b", "d"]
    assert _ids(found.added) == ["h"]
    assert _ids(found.removed) == ["g"]
    assert _ids(found.changed) == ["f"]
    assert _ids(found.errored) == ["e"]
    first = found.newly_failing[0]
    assert (first.baseline_passed, first.baseline_rounds) == (3, 3)
    assert (first.current_passed, first.current_rounds) == (0, 3)
    assert first.category == "kind-a"
    assert first.p_value == pytest.approx(0.1, abs=0.02)
    assert found.errored[0].current_rounds is None
    assert found.removed[0].category == "kind-g"


def test_quarantined_cases_are_only_listed_as_such() -> None:
    was = table({"success": [[1], [1], [1]]}, "abz")
    now = table({"success": [[0], [0], [0]]}, "abn")
    found = case_changes(now, was, quarantined=frozenset("anzq"))
    assert _ids(found.newly_failing) == ["b"]
    assert _ids(found.quarantined) == ["a", "n"]
    assert found.removed == found.added == ()


def test_a_tie_changes_no_side() -> None:
    was, now = table({"success": [[1, 1]]}), table({"success": [[1, 0]]})
    assert case_changes(now, was).newly_failing == ()
    assert _ids(case_changes(now, was).flaky) == ["a"]


def test_lists_without_a_baseline() -> None:
    found = case_changes(table({"success": [[1, 0], [NAN, NAN]]}), None)
    assert _ids(found.flaky) == ["a"]
    assert _ids(found.errored) == ["b"]
    assert found.added == found.removed == ()


def test_a_case_without_a_grader_that_judges_it_is_in_no_error() -> None:
    columns = {
        "success": [[1, 1], [NAN, NAN], [NAN, NAN], [NAN, NAN], [NAN, NAN], [NAN, NAN]],
        "infra_error": [[0, 0], [0, 0], [0, 1], [0, NAN], [NAN, NAN], [0, 0]],
        LEFT_UNSCORED: [[0, 0], [0, 0], [0, 0], [0, NAN], [NAN, NAN], [0, 1]],
    }
    found = case_changes(table(columns), None)
    assert _ids(found.no_opinion) == ["b", "d"]
    assert _ids(found.errored) == ["c", "e", "f"]
    assert _ids(case_changes(table(columns), None, lost=frozenset("b")).errored) == [*"bcef"]
    assert _ids(case_changes(table(columns), None, quarantined=frozenset("b")).no_opinion) == ["d"]


def test_a_suite_without_pass_or_fail_has_no_errored_cases() -> None:
    data = table({"success": [[NAN], [NAN]], "infra_error": [[0], [1]]})
    assert _ids(case_changes(data, None).errored) == ["b"]
    bare = Table(suite="s", cases=("a",), digests=("a",), rounds=1, columns={})
    assert case_changes(bare, bare).errored == ()


def test_a_suite_whose_graders_never_decide_says_so():
    answered = {"infra_error": [[0.0], [0.0]], "agent_error": [[0.0], [0.0]]}
    found = estimates(table({"success": [[NAN], [NAN]], **answered}), {SUCCESS.name: SUCCESS})
    assert found[SUCCESS.name].value is None
    assert "no grader of this suite decides" in found[SUCCESS.name].reason
