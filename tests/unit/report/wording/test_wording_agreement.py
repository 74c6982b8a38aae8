"""The page of `gate review agreement`."""

from dataclasses import replace

import pytest

from gate.records import Agreement, Measure
from gate.records.labels import Checked
from gate.report.wording.agreement import blocks
from gate.report.wording.blocks import markdown_of, text_of

METRIC = "correctness.factual_correctness"
ONE = Agreement(
    suite="faq",
    rubric="answer",
    metric=METRIC,
    labels=60,
    answers=30,
    cases=30,
    reviewers=("Ann", "Ben"),
    kappa=Measure(value=0.74, low=0.58, high=0.86),
    kappa_linear=Measure(value=0.6, low=0.5, high=0.7),
    alpha_people=Measure(value=0.8, low=0.7, high=0.9),
    alpha_all=Measure(value=0.76, low=0.6, high=0.85),
    bias=Measure(value=0.29, low=0.1, high=0.48),
)


def page(*agreements, **more):
    values = {"file": "l.jsonl", "least": None, "agreements": agreements, "advisory": {}}
    return Checked(**{**values, **more})


def text(*agreements, **more):
    return " ".join(text_of(blocks(page(*agreements, **more)), width=130).split())


def barred(**more):
    return {"least": 0.6, "advisory": {"faq": {METRIC: "does not gate: nobody knows"}}, **more}


def test_numbers_stand_with_their_intervals():
    found = text(ONE)
    assert "60 labels on 30 answers of 30 cases, by Ann and Ben." in found
    assert "60 0.74 (0.58 … 0.86) 0.80 (0.70 … 0.90) 0.76 (0.60 … 0.85) +0.29 (+0.10 … +0.48)" in (
        found
    )
    assert "All may gate: judge.min_agreement is not set." in found


@pytest.mark.parametrize(
    ("bias", "words"),
    [
        (Measure(value=0.29, low=0.1, high=0.48), "The judge gives 0.29 more than people on"),
        (Measure(value=-0.29, low=-0.48, high=-0.1), "The judge gives 0.29 less than people on"),
        (Measure(reason="3 of the 5 labelled cases"), "nothing is corrected (3 of the 5 labelled"),
    ],
)
def test_a_certain_bias_is_said_in_words(bias, words):
    assert words in text(replace(ONE, bias=bias))


def test_a_bias_that_may_be_none_is_not_said():
    sure_of_nothing = Measure(value=0.1, low=-0.1, high=0.3)
    assert "The judge gives" not in text(replace(ONE, bias=sure_of_nothing))


def test_what_is_unknown_is_a_dash():
    assert "60 0.74 (0.58 … 0.86) – 0.76" in text(
        replace(ONE, alpha_people=Measure(reason="no answer has two ratings"))
    )


def test_pass_and_fail_are_counted_at_the_limit():
    found = text(replace(ONE, pass_limit=4.0, confusion=(20, 1, 6, 3)))
    assert (
        "passes at 4.00: 20 by both, 1 by people only, 6 by the judge only, 3 by neither." in found
    )


def test_a_judge_that_may_not_gate_is_told_what_it_takes():
    """The distance to the limit is 0.14, to the lower end 0.16: (0.16 / 0.14)² x 30 cases."""
    found = text(ONE, **barred())
    assert (
        "does not gate: kappa is not shown to be at least 0.60; about 40 rated cases like "
        "these" in found
    )


def test_one_below_the_limit_needs_no_more_labels_but_a_better_judge():
    poor = replace(ONE, kappa=Measure(value=0.4, low=0.2, high=0.6))
    assert "more labels will not change that" in text(poor, **barred())


def test_one_that_nobody_rated_is_told_too():
    found = text(**barred())
    assert f"{METRIC} does not gate: nobody knows." in found
    assert "No label in l.jsonl matches the current judge." in found


def test_many_rows_that_were_left_out_are_counted():
    found = text(ONE, wrong=tuple(f"l.jsonl:{n}: bad" for n in range(25)))
    assert "25 rows are wrong and left out:" in found
    assert "l.jsonl:19: bad" in found
    assert "l.jsonl:20: bad" not in found
    assert "and 5 more (--format json has all)" in found


def test_what_reviewers_and_labels_say_is_text():
    hostile = "\x1b[31m<img src=x> @octocat | x"
    found = page(replace(ONE, reviewers=(hostile,)), stale=(f"l.jsonl:1: {hostile}",))
    assert "\x1b" not in text_of(blocks(found), width=100)
    marked = markdown_of(blocks(found))
    assert "\x1b" not in marked
    assert "<img" not in marked
    assert "@octocat" not in marked.replace("@\u200boctocat", "").replace("\\@octocat", "")


@pytest.mark.parametrize("width", [40, 80, 130])
def test_no_line_is_wider_than_the_terminal(width):
    lines = text_of(blocks(page(ONE)), width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert "0.80 (0.70 … 0.90)" in "\n".join(lines)


def test_metrics_that_do_not_gate_for_the_same_reason_are_told_in_one_sentence():
    why = dict.fromkeys(
        ("a.x", "a.y"), "does not gate: no person has rated answers that this judge scored"
    )
    found = text(least=0.6, advisory={"faq": why})
    assert "a.x, a.y do not gate: no person has rated answers that this judge scored." in found
