"""What a plan says, for a terminal and as Markdown."""

import re
from dataclasses import replace

import pytest

from gate.records import BaselineInfo
from gate.records.planning import Action, Bill, MetricOutlook, Plan, SuiteOutlook, Target
from gate.report.wording.blocks import markdown_of, text_of
from gate.report.wording.planning import blocks

TARGET = Target(
    change=0.05,
    seen=False,
    caught=0.8,
    cases=340,
    max_rounds=12,
    at_most=Bill(calls=680, usd=6.8),
    unchanged=Bill(calls=261, usd=2.61),
    changed=Bill(calls=408, usd=4.08),
    fixed=Bill(calls=560, usd=5.6),
    floor_unchanged=104,
    floor_changed=215,
)
METRIC = MetricOutlook(
    metric="agent.success_rate",
    unit="share",
    direction="higher",
    relative=False,
    value=0.91,
    cases=10,
    tolerance=0.02,
    sd=0.29,
    variance=0.084,
    between=0.4,
    mde=0.36,
    mde_fixed=0.41,
    targets=(TARGET,),
)
ACTION = Action(kind="cases", value=20, mde=0.25, calls=Bill(calls=40))
SUITE = SuiteOutlook(
    suite="support",
    cases=10,
    unstored=0,
    rounds=1,
    max_rounds=2,
    looks=2,
    fresh=False,
    baseline=BaselineInfo(source="repo", detail="baselines/support.json", runs=4),
    rounds_b=4.0,
    keep_rounds=15,
    assumed=False,
    planned=Bill(calls=10, usd=0.1),
    at_most=Bill(calls=20, usd=0.2),
    unchanged=Bill(calls=11, usd=0.11),
    unchanged_apart=Bill(calls=11, usd=0.11),
    usd_per_call=0.01,
    never_changing=0.62,
    numbered=False,
    metrics=(METRIC,),
    actions=(ACTION,),
    best=ACTION,
)


def told(suite=SUITE, **more):
    """One line a sentence."""
    whole = text_of(
        blocks(Plan(alpha=0.01, power=0.8, tests=1, suites=(replace(suite, **more),))), width=999
    )
    return [line for line in whole.split("\n") if line]


def metric(**more):
    return (replace(METRIC, **more),)


def test_the_whole_of_a_small_suite():
    assert told() == [
        "A harmless change is blocked at most 1 % of the time. A change listed as "
        "caught is blocked 80 % of the time.",
        "support: 10 cases x 1 round, up to 2 while undecided",
        "====================================================",
        "Baseline: 4 stored rounds a case of 4 runs (baselines/support.json).",
        "  blocking metric     baseline   least caught  fixed at 1 round  call noise",
        "  agent.success_rate      0.91  drop of 36 pt     drop of 41 pt     ± 29 pt",
        "A run makes 20 calls at most (cost: $0.20), on average 11 when nothing changed (cost: "
        "$0.11).",
        'What it takes to catch other changes. "at most": calls of the longest run. '
        '"unchanged", "changed": calls of an average run without and with that '
        'change. "fixed": calls when every round is made and judged once. "cost": of '
        "an average run without a change.",
        "  to catch      cases  at most  unchanged  changed  fixed   cost",
        "  drop of 5 pt    340      680        261      408    560  $2.61",
        "For a drop of 5 pt: 560 calls when fixed, 261 when it may end early and nothing changed; "
        "no test with these error rates needs fewer than 104 (Wald's bound).",
        "10 cases cannot protect 5 pt of agent.success_rate: 36 pt is the smallest change "
        "that can be caught. 340 "
        "cases or up to 12 rounds would.",
        "62 % of the calls go to cases whose stored answers all passed or all failed. "
        "40 % of the variance of "
        "agent.success_rate is between cases and cancels out, because each case is compared with "
        "itself.",
        "Next: 20 cases instead of 10, at most 40 calls a run: 25 pt is caught instead of 36 pt.",
    ]


@pytest.mark.parametrize(
    ("target", "end"),
    [
        ({"max_rounds": None}, "340 cases would (more rounds alone would not be enough)."),
        ({"cases": None, "max_rounds": None}, "No number of cases or rounds would, as runs differ"),
        ({"change": 0.02}, "12 rounds would, if regression.tolerance were below 2 pt."),
        ({"cases": 9, "max_rounds": 2, "change": 0.02}, "within regression.tolerance (2 pt) is"),
    ],
)
def test_what_a_suite_cannot_do_and_what_would(target, end):
    lines = told(metrics=metric(targets=(replace(TARGET, **target),)))
    (line,) = [line for line in lines if "cannot protect" in line]
    assert end in line


def test_a_baseline_of_few_runs_says_how_many_make_it_sound():
    one = replace(SUITE.baseline, runs=1)
    assert told(baseline=one)[3] == (
        "Baseline: 4 stored rounds a case (baselines/support.json). 4 more runs of the base "
        "branch make it sound: few may be lucky ones."
    )
    assert "sound" not in told(baseline=replace(one, runs=3))[3]
    assert told(assumed=True)[3].endswith("; 5 runs of it make a sound baseline.")


def test_nothing_is_called_impossible_when_everything_is_seen():
    lines = told(metrics=metric(targets=(replace(TARGET, seen=True),)))
    assert not [line for line in lines if "cannot protect" in line]


def test_a_suite_that_catches_nothing_says_why():
    lines = told(metrics=metric(mde=None, mde_fixed=None, reason="not even the worst answers"))
    assert "agent.success_rate: not even the worst answers." in lines
    assert "no change can be caught" in "\n".join(lines)
    assert lines[-1].endswith("25 pt is caught instead of nothing.")


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"assumed": True}, "Next: measure the base branch: gate run, then gate baseline save"),
        ({"assumed": True}, "There is no baseline (baselines/support.json): the figures are est"),
        (
            {"best": None},
            "Next: nothing: the smallest change that is caught is already close to the tolerance.",
        ),
        (
            {"best": replace(ACTION, kind="baseline", value=15)},
            "Next: let the base branch collect 15 rounds instead of 4; this adds no cost to pull "
            "requests: 25 pt is caught",
        ),
        (
            {"best": replace(ACTION, kind="baseline", value=24)},
            "Next: let the base branch collect 24 rounds (baseline.keep_rounds: 24) instead of 4",
        ),
        ({"best": replace(ACTION, kind="rounds", value=2)}, "Next: 2 rounds instead of 1, at most"),
        (
            {"best": replace(ACTION, kind="metrics")},
            "Next: let fewer metrics block; with only success",
        ),
        (
            {"numbered": True},
            "A gate with a value close to its limit always needs all 10 planned calls",
        ),
        ({"unchanged_apart": Bill(calls=15)}, "on average 11 to 15 when nothing changed"),
        ({"at_most": Bill(calls=20)}, "A run makes 20 calls at most (cost: unknown)"),
        ({"unstored": 3}, "(baselines/support.json), 3 of the cases are not in it."),
        ({"fresh": True}, "Noise from 4 stored rounds a case"),
        ({"metrics": ()}, "No metric of this suite can block, so there is nothing to plan."),
        ({"notes": ("two `cases` went",)}, "Note: two cases went"),
    ],
)
def test_other_situations(more, line):
    assert line in "\n".join(told(**more))


def test_without_early_ends_there_is_one_number_of_calls():
    lines = told(max_rounds=1, looks=1)
    assert "A run makes 20 calls (cost: $0.20)." in lines
    assert "  to catch      cases  calls   cost" in lines
    assert not [line for line in lines if "early" in line or "fixed" in line]


def test_several_metrics_are_listed_below_their_names():
    slower = replace(METRIC, metric="operational.mean_latency_ms", direction="lower", relative=True)
    lines = told(metrics=(METRIC, slower))
    rows = [line.strip() for line in lines]
    at = rows.index("operational.mean_latency_ms")
    assert rows[at + 1].startswith("- rise of 5 %")


def test_the_tolerance_is_marked():
    lines = told(metrics=metric(targets=(replace(TARGET, change=0.02), TARGET)))
    rows = [line.split("  ")[1] for line in lines if line.startswith("  drop")]
    assert rows == ["drop of 2 pt *", "drop of 5 pt"]
    assert (
        "* Equal to the tolerance: at best about half of these changes are caught, at any "
        "cost." in lines
    )


def test_a_long_line_is_folded_and_a_table_is_not():
    whole = text_of(blocks(Plan(alpha=0.01, power=0.8, tests=1, suites=(SUITE,))), width=60)
    prose = [line for line in whole.split("\n") if line and not line.startswith("  ")]
    assert max(map(len, prose)) <= 60


def test_names_from_elsewhere_do_nothing_on_a_terminal_or_in_markdown():
    hostile = "x\x1b[31m|<b>@team\n::error::no"
    suite = replace(
        SUITE,
        suite=hostile,
        baseline=BaselineInfo(source="repo", detail=hostile, notes=(hostile,)),
        metrics=metric(metric=hostile, reason=hostile),
    )
    plan = Plan(alpha=0.01, power=0.8, tests=1, suites=(suite,), notes=(hostile,))
    text, page = text_of(blocks(plan), width=100), markdown_of(blocks(plan))
    assert "\x1b" not in text + page
    assert "::error::" not in text
    assert not [line for line in text.split("\n") if line.lstrip().startswith("::")]
    assert "<b>" not in re.sub("`[^`]*`", "", page)


def test_markdown_has_tables():
    page = markdown_of(blocks(Plan(alpha=0.01, power=0.8, tests=1, suites=(SUITE,))))
    assert "### support: 10 cases x 1 round" in page
    assert "| `agent.success_rate` | 0\\.91 | drop of 36 pt | drop of 41 pt | ± 29 pt |" in page
    assert "**Next:** 20 cases instead of 10" in page
