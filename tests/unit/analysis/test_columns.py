import pytest

from gate.analysis.columns import TrialColumns, trial_values
from gate.records.trials import TRIAL_COLUMNS


def attempt(status="completed", *, passed=True):
    return {"n": 1, "status": status, "passed": passed, "failures": []}


def row(case="a", number=1, **more):
    return {
        "case_id": case,
        "case_digest": f"d-{case}",
        "category": "x",
        "round": number,
        "attempts": [attempt()],
        "status": "completed",
        "passed": True,
        "scores": {"m": 0.5},
        "latency_ms": 10.0,
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "cost_usd": 0.1,
        "steps": [{}, {}],
        "safety_violations": ["leak"],
        **more,
    }


def test_an_answered_trial_fills_every_column():
    values = trial_values(row())
    assert tuple(values) == TRIAL_COLUMNS
    assert values == {
        "success": 1.0,
        "first_success": 1.0,
        "agent_error": 0.0,
        "infra_error": 0.0,
        "retried": 0.0,
        "latency_ms": 10.0,
        "total_tokens": 7.0,
        "input_tokens": 3.0,
        "cached_tokens": None,
        "output_tokens": 4.0,
        "reasoning_tokens": None,
        "score": 1.0,
        "steps": 2.0,
        "cost_usd": 0.1,
        "violations": 1.0,
        "unsafe": 1.0,
        "turns": None,
        "judge_coverage": None,
        "judge_injection": None,
    }


def test_steps_that_were_not_kept_and_turns_count():
    values = trial_values(row(omitted_steps=998, turns=4))
    assert (values["steps"], values["turns"]) == (1000.0, 4.0)


def test_what_a_failed_agent_is_known_to_have_cost_counts():
    tries = [attempt("agent_error", passed=False)]
    failed = trial_values(row(status="agent_error", passed=False, attempts=tries, turns=4))
    assert (failed["cost_usd"], failed["turns"]) == (0.1, None)


def test_nobodys_answer_says_nothing_but_that_it_is_missing():
    tries = [attempt("infra_error", passed=None)] * 2
    missing = trial_values(row(status="infra_error", passed=None, attempts=tries))
    known = {name: value for name, value in missing.items() if value is not None}
    assert known == {"infra_error": 1.0, "retried": 1.0, "first_success": 0.0}


def test_an_agents_error_is_a_failure_without_a_latency():
    failed = trial_values(
        row(status="agent_error", passed=False, attempts=[attempt("agent_error", passed=False)])
    )
    assert (failed["success"], failed["agent_error"], failed["latency_ms"]) == (0.0, 1.0, None)
    assert failed["steps"] is failed["total_tokens"] is failed["violations"] is None


def test_the_first_try_counts_an_infrastructure_error_as_failed():
    tries = [attempt("infra_error", passed=None), attempt()]
    values = trial_values(row(attempts=tries))
    assert (values["success"], values["first_success"], values["retried"]) == (1.0, 0.0, 1.0)


def test_unscored_is_neither():
    values = trial_values(row(passed=None, attempts=[attempt(passed=None)]))
    assert values["success"] is None
    assert values["first_success"] is None


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None, "output_tokens": None}])
def test_unknown_tokens_are_unknown(usage):
    assert trial_values(row(usage=usage))["total_tokens"] is None


def test_of_tokens_known_in_part_the_sum_is_unknown():
    values = trial_values(row(usage={"input_tokens": None, "output_tokens": 5}))
    assert (values["total_tokens"], values["output_tokens"]) == (None, 5)


def test_rows_without_keys_of_later_versions_are_read():
    old = row()
    for key in ("safety_violations", "steps", "category", "case_digest"):
        del old[key]
    columns = TrialColumns("s")
    columns.add(old)
    assert (columns.categories, columns.digests) == ([None], [""])
    assert "violations" not in columns.values


def test_columns_that_come_late_or_end_early_are_padded():
    columns = TrialColumns("s")
    columns.add(row("a", 1, scores={"m": 1.0}))
    columns.add(row("b", 2, scores={"late": None}))
    columns.add(row("a", 2, scores={"m": 0.0, "late": 3.0}))
    assert columns.rounds == 2
    assert columns.index == {"a": 0, "b": 1}
    assert list(columns.at) == [0, 0, 1, 1, 0, 1]
    assert [str(v) for v in columns.values["m"]] == ["1.0", "nan", "0.0"]
    assert [str(v) for v in columns.values["late"]] == ["nan", "nan", "3.0"]
    assert {len(values) for values in columns.values.values()} == {3}


@pytest.mark.parametrize(
    ("dimensions", "score"),
    [({"a": 0.5, "b": 1.0, "c": None}, 0.75), ({"a": None}, 0.0), ({}, 0.0)],
)
def test_the_score_is_the_mean_of_the_dimensions_or_else_whether_it_passed(dimensions, score):
    values = trial_values(row(passed=False, dimension_scores=dimensions))
    assert values["score"] == score
    unanswered = row(status="infra_error", passed=None, attempts=[], dimension_scores=dimensions)
    assert trial_values(unanswered)["score"] is None


def test_tokens_are_counted_kind_by_kind_and_none_below_zero():
    usage = {"input_tokens": 9, "cached_tokens": 4, "output_tokens": -1, "reasoning_tokens": 2}
    values = trial_values(row(usage=usage))
    assert [values[f"{kind}_tokens"] for kind in ("input", "cached", "output", "reasoning")] == [
        *(9.0, 4.0, None, 2.0)
    ]
    assert values["total_tokens"] is None


def test_answers_of_unknown_cost_are_marked_where_others_are_known():
    columns = TrialColumns("s")
    columns.add(row("a"))
    assert columns.mark_unscored() == {}
    columns.add(row("b", cost_usd=None))
    failed = [attempt("agent_error", passed=False)]
    columns.add(row("c", cost_usd=None, status="agent_error", passed=False, attempts=failed))
    assert columns.mark_unscored()["cost_usd"].tolist() == [0.0, 1.0, 0.0]


def test_where_no_cost_is_known_none_is_marked():
    columns = TrialColumns("s")
    columns.add(row("a", cost_usd=None))
    assert columns.mark_unscored() == {}


def test_more_trials_of_a_case_do_not_count_for_another():
    columns = TrialColumns("s")
    for case_id, number in (("a", 1), ("a", 2), ("a", 3), ("b", 1)):
        columns.add(row(case_id, number))
    assert [columns.count_within(rounds) for rounds in (1, 2, 3, 4)] == [2, 3, 4, 4]
