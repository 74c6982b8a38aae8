import pytest

from gate.agents.list_prices import LIST_PRICES
from gate.agents.pricing import cost_usd, listed_model, trial_cost, with_list_prices
from gate.records import Attempt, Case, Price, Response, Trial, Usage

PRICES = {
    "small": Price(input=0.27, cached_input=0.07, output=1.10),
    "plain": Price(input=2.0, output=10.0),
    "thinker": Price(input=1.0, output=4.0, reasoning=9.0),
}


def test_tokens_times_prices_per_million():
    usage = Usage(input_tokens=1_000_000, output_tokens=500_000)
    assert cost_usd(usage, "plain", PRICES) == pytest.approx(2.0 + 5.0)


def test_cached_tokens_are_part_of_the_input_and_have_their_own_price():
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=0)
    assert cost_usd(usage, "small", PRICES) == pytest.approx(0.6 * 0.27 + 0.4 * 0.07)


def test_fewer_cached_than_none_is_none():
    usage = Usage(input_tokens=1_000_000, cached_tokens=-400_000, output_tokens=0)
    assert cost_usd(usage, "small", PRICES) == pytest.approx(0.27)


def test_without_a_cached_price_cached_tokens_cost_what_input_costs():
    usage = Usage(input_tokens=1000, cached_tokens=900, output_tokens=0)
    assert cost_usd(usage, "plain", PRICES) == pytest.approx(0.002)


def test_more_cached_than_read_is_all_cached():
    usage = Usage(input_tokens=100, cached_tokens=500, output_tokens=0)
    assert cost_usd(usage, "small", PRICES) == pytest.approx(100 * 0.07 / 1e6)


def test_reasoning_tokens_are_part_of_the_output_and_may_have_their_own_price():
    usage = Usage(input_tokens=0, output_tokens=1_000_000, reasoning_tokens=400_000)
    assert cost_usd(usage, "plain", PRICES) == pytest.approx(10.0)
    assert cost_usd(usage, "thinker", PRICES) == pytest.approx(0.6 * 4.0 + 0.4 * 9.0)


def test_more_reasoning_than_was_written_is_all_reasoning():
    usage = Usage(input_tokens=0, output_tokens=100, reasoning_tokens=500)
    assert cost_usd(usage, "thinker", PRICES) == pytest.approx(100 * 9.0 / 1e6)


@pytest.mark.parametrize(
    ("usage", "model"),
    [
        (Usage(input_tokens=10, output_tokens=10), "unlisted"),
        (Usage(input_tokens=10, output_tokens=10), None),
        (Usage(input_tokens=10), "plain"),
        (Usage(output_tokens=10), "plain"),
        (Usage(), "plain"),
        (Usage(input_tokens=-1, output_tokens=10), "plain"),
        (Usage(input_tokens=10, output_tokens=-1), "plain"),
        (Usage(cost_usd=float("nan")), "plain"),
        (Usage(cost_usd=-0.1), "plain"),
        (Usage(cost_usd=float("inf")), "plain"),
    ],
)
def test_unknown_is_none_and_never_zero(usage, model):
    assert cost_usd(usage, model, PRICES) is None


def test_what_the_agent_reports_wins():
    usage = Usage(input_tokens=10, output_tokens=10, cost_usd=0.5)
    assert cost_usd(usage, "plain", PRICES) == 0.5
    assert cost_usd(Usage(cost_usd=0.0), "unlisted", PRICES) == 0.0


@pytest.mark.parametrize("model", ["plain-2026-01-31", "plain-20260131", "plain@20260131"])
def test_a_dated_snapshot_costs_what_its_model_costs(model):
    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    assert cost_usd(usage, model, PRICES) == 2.0
    assert cost_usd(usage, "plain-mini", PRICES) is None
    own = {**PRICES, model: Price(input=7.0, output=1.0)}
    assert cost_usd(usage, model, own) == 7.0
    mini = {"plain-mini": Price(input=1.0, output=1.0)}
    assert cost_usd(usage, f"{model}-mini", mini) is None


def trial(*attempts):
    return Trial(
        suite="s",
        case=Case(id="a", input="?", keys={}),
        round=1,
        attempts=attempts,
        started_at="",
        judged=len(attempts) - 1,
    )


def attempt(status, cost=None):
    response = None if cost is None else Response(answer="", usage=Usage(cost_usd=cost))
    return Attempt(n=1, status=status, latency_ms=1.0, response=response)


@pytest.mark.parametrize(
    ("attempts", "cost"),
    [
        ([attempt("completed", 0.2)], 0.2),
        ([attempt("completed", 0.2), attempt("completed", 0.3)], 0.5),
        ([attempt("infra_error"), attempt("completed", 0.2)], 0.2),
        ([attempt("infra_error"), attempt("infra_error")], None),
        ([attempt("agent_error"), attempt("completed", 0.2)], None),
        ([attempt("agent_error")], None),
    ],
)
def test_a_trial_costs_all_its_tries(attempts, cost):
    assert trial_cost(trial(*attempts), {}) == cost


SPENT = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def test_a_model_that_gate_yml_does_not_name_costs_what_its_providers_list_says():
    listed = LIST_PRICES["gpt-4o"]
    prices = with_list_prices(PRICES)
    assert cost_usd(SPENT, "gpt-4o", prices) == pytest.approx(listed.input + listed.output)
    assert cost_usd(SPENT, "gpt-4o-2024-08-06", prices) == cost_usd(SPENT, "gpt-4o", prices)
    assert cost_usd(SPENT, "plain", prices) == cost_usd(SPENT, "plain", PRICES)
    assert cost_usd(SPENT, "unlisted", prices) is None


def test_a_price_in_gate_yml_goes_before_the_list():
    prices = with_list_prices({"gpt-4o": Price(input=1.0, output=1.0)})
    assert cost_usd(SPENT, "gpt-4o", prices) == pytest.approx(2.0)
    assert listed_model(SPENT, "gpt-4o-2024-08-06", prices) == ""


@pytest.mark.parametrize(
    ("usage", "model", "listed"),
    [
        (SPENT, "gpt-4o", "gpt-4o"),
        (SPENT, "gpt-4o-2024-08-06", "gpt-4o"),
        (SPENT, "plain", ""),
        (SPENT, "unlisted", ""),
        (SPENT, None, ""),
        (Usage(input_tokens=1, output_tokens=1, cost_usd=0.1), "gpt-4o", ""),
    ],
)
def test_which_list_a_cost_rests_on_is_known(usage, model, listed):
    assert listed_model(usage, model, with_list_prices(PRICES)) == listed
