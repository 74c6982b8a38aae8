from dataclasses import replace

import pytest

from gate.records import Cost, ListedPrice
from gate.report.wording.cost import list_prices, spending
from gate.text.spans import plain
from tests.support.reports import comparison, estimate, passing, suite

TOKENS = "operational.avg_tokens"


def told(report):
    return plain(spending(report))


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        (Cost(usd=None), "cost unknown · "),
        (Cost(usd=None, budget_usd=5.0), "cost unknown of the $5.00 budget · "),
        (Cost(usd=0.5), "$0.50 · "),
        (Cost(usd=0.5, baseline_usd=0.5), "$0.50 · "),
        (Cost(usd=0.5, baseline_usd=0.4), "$0.50 (25 % more than the baseline) · "),
        (Cost(usd=0.5, baseline_usd=0.0), "$0.50 · "),
        (
            Cost(usd=0.39, baseline_usd=0.4, budget_usd=2.0),
            "$0.39 of the $2.00 budget (2.5 % less than the baseline) · ",
        ),
        (
            Cost(usd=0.8, judge_usd=0.4, judge_calls=9, budget_usd=2.0),
            "$1.20 of the $2.00 budget · $0.40 of it for 9 calls of the judge · ",
        ),
        (
            Cost(usd=None, judge_usd=0.4, judge_calls=9, budget_usd=2.0),
            "$0.40 as far as known of the $2.00 budget · $0.40 of it for 9 calls of the judge · ",
        ),
        (
            Cost(usd=0.8, judge_usd=0.4, judge_calls=9),
            "$0.80 · $0.40 for 9 calls of the judge · ",
        ),
        (Cost(usd=0.9, control_usd=0.4, baseline_usd=3.0), "$0.90 ($0.40 of it for the control) "),
    ],
)
def test_money(cost, said):
    assert told(replace(passing(), cost=cost)).startswith(said)


def two_suites(*, baselines):
    """200 answers of 1,000 tokens and 100 of 4,000."""
    sizes = {"a": (1_000.0, 200), "b": (4_000.0, 100)}
    suites = {
        name: suite(name, metrics={TOKENS: estimate(TOKENS, value, n=n, unit="tokens")})
        for name, (value, n) in sizes.items()
    }
    rows = tuple(
        comparison(TOKENS, suite=name, baseline=before, current=sizes[name][0], unit="tokens")
        for name, before in baselines.items()
    )
    return replace(passing(), suites=suites, comparisons=rows)


def test_tokens_are_the_mean_over_all_answers():
    same = two_suites(baselines={"a": 1_000.0, "b": 2_500.0})
    assert "2,000 tokens an answer (33 % more) · " in told(same)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (800.0, "1,000 tokens an answer (25 % more) · "),
        (999.8, "1,000 tokens an answer · "),
        (2.0, "1,000 tokens an answer (500 times as much) · "),
    ],
)
def test_the_means_are_compared_that_are_shown(before, said):
    """Not with the change of a typical answer, which is another one; and only where it shows."""
    moved = comparison(TOKENS, suite="a", baseline=before, current=1_000.0, unit="tokens")
    moved = replace(moved, delta=-0.25, relative=True, method="shuffle test of logarithms")
    report = two_suites(baselines={})
    report = replace(report, suites={"a": report.suites["a"]}, comparisons=(moved,))
    assert said in told(report)


def test_a_suite_that_the_baseline_lacks_leaves_nothing_to_compare_with():
    assert "2,000 tokens an answer · " in told(two_suites(baselines={"a": 1_000.0}))


def test_a_suite_without_tokens_leaves_no_mean():
    report = two_suites(baselines={})
    report = replace(report, suites={**report.suites, "c": suite("c", metrics={})})
    assert "tokens" not in told(report)


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ({}, ""),
        ({"judge_calls": 1, "judge_usd": 0.12}, " · $0.12 for 1 call of the judge · "),
        (
            {"judge_calls": 255, "judge_usd": 0.12, "judge_unknown": 3},
            " · $0.12 for 255 calls of the judge, some of unknown cost · ",
        ),
        (
            {"judge_calls": 255, "judge_unknown": 255},
            " · cost unknown for 255 calls of the judge · ",
        ),
    ],
)
def test_the_judge_is_told_apart(cost, said):
    line = told(replace(passing(), cost=Cost(usd=0.5, **cost)))
    assert said in line
    assert ("judge" in line) is bool(said)


def test_list_prices_are_named_with_page_and_day_once():
    price = ListedPrice(
        model="a", input=1.0, output=2.0, source="a.example/p", read_on="2026-08-05"
    )
    listed = (price, replace(price, model="b"), replace(price, model="c", read_on="2026-09-07"))
    assert [plain(line) for line in list_prices(listed)] == [
        "a, b at the list prices of 2026-08-05 (a.example/p)",
        "c at the list price of 2026-09-07 (a.example/p)",
    ]
