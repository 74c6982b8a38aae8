"""What the first line says of a verdict that hides something."""

import pytest

from gate.records import GateRule
from gate.report.wording.headline import headline
from tests.support.drawn_runs import Agent, Drawn, answers, concluded, ids
from tests.support.reports import FACTS


def of(cases, now, was, **more):
    names = ids(cases)
    suite = Drawn(
        now=answers(names, 1, now, seed=2),
        was=answers(names, 1, was, seed=1),
        rounds=1,
        **more,
    )
    return concluded([suite]).report


STEADY = Agent(fails=0.0, flaky=0.0)


def test_a_pass_that_was_blind_says_so_first():
    """Six cases that all pass: no drop is large enough to be caught, or a huge one is."""
    few = of(6, STEADY, STEADY)
    assert few.outcome == "pass"
    assert headline(few).startswith("Pass: no regression in analytics, but ")
    assert headline(few).endswith(("would have been noticed", "could have been noticed"))


def test_a_pass_that_could_see_has_nothing_to_add():
    many = of(200, STEADY, STEADY)
    assert headline(many) == "Pass: no regression in analytics"


def test_the_size_is_that_of_the_sentence_below():
    report = of(13, STEADY, STEADY)
    row = next(c for c in report.comparisons if c.metric == "agent.success_rate")
    assert row.mde is not None
    if row.mde <= row.baseline:
        shown = headline(report).partition("only a drop of ")[2].split(" points")[0]
        assert f"a drop of {shown} points or more" in report.reason


@pytest.mark.parametrize("lost", [0.1])
def test_missing_answers_are_not_called_too_few_data(lost):
    gates = (GateRule(metric=FACTS, min=0.97),)
    lossy = Agent(fails=0.0, flaky=0.0, lost=lost)
    report = of(60, lossy, STEADY, gates=gates)
    assert report.outcome == "inconclusive"
    assert "too few data" not in headline(report)
    assert headline(report) == "Inconclusive: too many answers are missing to judge analytics"
