"""Whose looks a replay takes over: the recording's, as far as the rules of now allow them."""

import pytest

from gate.agents.protocols.replay import Replay
from gate.agents.recordings.run_end import RunEnd, SuiteEnd, digest_of_cases, run_end_line
from gate.github.context import Job
from gate.plugins import World
from gate.records import Config, Looks, PluginSpec, RegressionRules, Suite
from gate.run.options import RunOptions
from gate.run.prepare import SuitePlan
from gate.run.recorded_looks import take_recorded_looks

IDS = frozenset(f"c{n}" for n in range(20))
EARLY, MORE = Looks(calls=(10, 20, 60)), Looks(calls=(40, 80))
NIGHT = Job(mode="schedule", head_ref="main")


def plan(rounds=2):
    return SuitePlan(
        suite=Suite(name="s", dataset="d", graders=(), rounds=rounds),
        graders={},
        dataset_digest="dd",
        digests=dict.fromkeys(IDS, ""),
        chosen=IDS,
        not_selected=0,
        specs={},
        grader_digests={},
        read=lambda ids: iter(()),
    )


@pytest.fixture
def looked(tmp_path):
    """What a replay makes of a recording that ended with these looks."""

    def take_over(
        looks=EARLY, *, cases=IDS, rounds=2, stop="early", most=None, job=None, option=None
    ):
        suite = SuiteEnd(cases=digest_of_cases(cases), planned=40, made=0, looks=looks)
        end = RunEnd(session="a", seed="x", suites={"s": suite})
        (tmp_path / "kept.jsonl").write_text(run_end_line(end) + "\n", "utf-8")
        rules = RegressionRules(stop=stop, max_rounds=most)
        return take_recorded_looks(
            (plan(rounds),),
            Replay(file="kept.jsonl"),
            World(env={}, root=tmp_path),
            Config(agent=PluginSpec(name="replay"), suites=(), regression=rules),
            job or Job(),
            RunOptions(stop_rule=option),
        )

    return take_over


def test_the_same_cases_and_rounds_are_looked_at_as_they_were(looked):
    found = looked()
    assert (found.plans[0].looks, found.seed, found.notes) == (EARLY, "x", ())


@pytest.mark.parametrize(
    "other",
    [
        {"cases": IDS - {"c1"}},
        {"rounds": 4},
        {"stop": "off"},
        {"most": 2},
        {"job": NIGHT},  # a baseline wants all rounds
    ],
)
def test_other_cases_or_rules_leave_the_looks_and_say_so(looked, other):
    found = looked(**other)
    assert (found.plans[0].looks, found.seed) == (None, None)
    assert "suite s: `kept.jsonl` was recorded with other" in found.notes[0]


def test_an_option_of_now_is_obeyed(looked):
    assert looked(option="off").plans[0].looks is None
    assert looked(job=NIGHT, option="early").plans[0].looks == EARLY


def test_looks_that_spare_no_planned_trial_are_taken_over_where_nothing_stops_early(looked):
    assert looked(MORE, stop="off").plans[0].looks == MORE
    assert looked(MORE, job=NIGHT).plans[0].looks == MORE
