"""What people read of an import: another tool asked, so nothing is told of calls or of asking."""

from dataclasses import replace

import pytest

from gate.records import CaseChanges, Cost, Provenance
from gate.report.formats.comment import Comment
from gate.report.wording import plain_counts, sentences
from gate.report.wording.cost import spending
from gate.report.wording.dimensions import first_figures
from gate.report.wording.method import provenance
from gate.report.wording.next_step import next_step
from gate.text.spans import plain
from tests.support.reports import (
    SUCCESS,
    agent_down,
    change,
    comparison,
    estimate,
    no_baseline,
    passing,
    suite,
)

RATE = "promptfoo.score"
MEASURED = {SUCCESS: estimate(SUCCESS, 0.9), RATE: estimate(RATE, 0.75)}


def imported(report, **changes):
    made = Provenance(agent="shop", tool_version="promptfoo 0.123.1", event="import")
    return replace(report, provenance=made, **changes)


def first(**changes):
    suites = {"shop": suite("shop", cases=40, rounds=1, trials=40, metrics=MEASURED)}
    return imported(no_baseline(), suites=suites, gates=(), cost=Cost(usd=None), **changes)


def test_an_import_has_results_and_neither_calls_nor_time():
    assert plain(spending(first())) == "40 results imported"
    priced = imported(first(), cost=Cost(usd=0.5))
    assert plain(spending(priced)) == "$0.50 · 40 results imported"
    assert "cost unknown" in plain(spending(no_baseline()))


@pytest.mark.parametrize(
    ("cost", "noted"),
    [
        (Cost(usd=None, unknown_models=("unnamed",), unknown_trials=40), False),
        (Cost(usd=None, unknown_models=("m-1",), unknown_trials=40), True),
        (Cost(usd=0.1, unknown_models=("unnamed",), unknown_trials=3), True),
    ],
)
def test_a_cost_that_nobody_could_know_is_no_caution(cost, noted):
    report = replace(first(), cost=cost)
    assert any("The cost of" in plain(one) for one in sentences.cautions(report)) is noted


def test_without_a_table_the_comment_has_the_tools_own_figures():
    said = [plain(plain_counts.passing(first())), *map(plain, first_figures(first()))]
    assert said == [
        f"40 cases x 1 round: {SUCCESS} 0.90.",
        "promptfoo: score 0.75 (cases 0.00 to 1.00)",
    ]
    shown = Comment().render(first(), list).replace("`", "")
    assert all(line in shown for line in said)
    assert first_figures(replace(first(), comparisons=(comparison(),))) == ()


def test_cases_are_not_said_to_newly_fail_where_nothing_was_compared():
    lists = CaseChanges(errored=(change(1),), flaky=(change(2), change(3)))
    assert plain(sentences.case_counts(replace(first(), cases=lists))) == (
        "Cases: 2 flaky, 1 errored."
    )


def test_next_steps_ask_nobody():
    report = imported(agent_down(), reproduce="")
    assert "gate run" not in plain(next_step(report))
    unsure = imported(passing(), outcome="inconclusive", reproduce="")
    assert "gate plan latest" in plain(next_step(unsure))
    assert "gate run" not in plain(next_step(unsure))
    assert "import the results of the base branch" in plain(next_step(first()))


def test_the_tool_that_measured_is_not_called_agent_gate():
    rows = {name: plain(value) for name, value in provenance(first())}
    assert rows["measured by"] == "promptfoo 0.123.1"
    assert not {"Agent Gate", "seed"} & rows.keys()
