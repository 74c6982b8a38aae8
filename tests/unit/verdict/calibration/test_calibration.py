"""A/A from recorded rounds: what is dealt out, and how often the gate blocks it."""

from dataclasses import replace

import numpy as np
import pytest

from gate.analysis.resample_arms import (
    any_order,
    make_deck,
    one_against_others,
    shuffler,
    take_trials,
)
from gate.errors import UsageError
from gate.records import (
    BaselineRules,
    Config,
    GateRule,
    Looks,
    MetricRule,
    PluginSpec,
    Policy,
    RegressionRules,
    Tolerance,
)
from gate.report.wording.blocks import markdown_of, text_of
from gate.report.wording.calibration import blocks
from gate.verdict.calibration.false_alarms import calibrate
from gate.verdict.calibration.recorded_rounds import RecordedRounds, RecordedSuite, join_rounds
from gate.verdict.calibration.rehearse import Rehearsal
from tests.support.main_runs import past
from tests.support.verdict_tables import COST, RECALL, SUCCESS, build

CONFIG = Config(agent=PluginSpec(name="sample"), suites=())
SMALL = {"reps": 60, "seed": 1}
BOTH = (SUCCESS, RECALL)


def config(**rules):
    return replace(CONFIG, regression=RegressionRules(**rules))


def recorded(*blocks, rounds=2, name="s", **more):
    """Each block: the success of a run, cases x rounds."""
    table, runs = past(*blocks)
    table = replace(table, suite=name)
    return RecordedSuite(name=name, table=table, runs=tuple(runs), rounds=rounds, **more)


def alike(runs=4, cases=40, rounds=2):
    """Half of the cases are coin flips, the others never change."""
    chance = np.where(np.arange(cases) % 2, 0.5, 1.0)[:, None]
    rng = np.random.default_rng(7)
    return [(rng.random((cases, rounds)) < chance).astype(float) for _ in range(runs)]


# ---------------------------------------------------------------------------------- dealing rounds


def numbered(cases, rounds):
    """Every value tells its case and round; the second column is the first one plus a half."""
    values = np.arange(cases)[:, None] * 100.0 + np.arange(rounds)
    return build({"success": values, "recall": values + 0.5}, specs=(SUCCESS, RECALL))


def test_a_deal_uses_each_round_once_and_keeps_a_trials_values_together():
    cards = make_deck(numbered(6, 5), baseline=3, current=2)
    sides = cards.deal(shuffler(3))
    both = np.hstack([sides.baseline.column("success"), sides.current.column("success")])
    assert np.array_equal(np.sort(both, axis=1), numbered(6, 5).column("success"))
    for table in (sides.baseline, sides.current):
        assert np.array_equal(table.column("recall"), table.column("success") + 0.5)


@pytest.mark.parametrize(
    ("rounds", "wanted", "expected"),
    [
        (30, (15, 6), (15, 6, False)),
        (21, (15, 6), (15, 6, False)),
        (20, (15, 6), (15, 6, True)),
        (9, (15, 6), (9, 6, True)),
        (2, (15, 6), (2, 6, True)),
    ],
)
def test_both_sides_get_what_a_run_has_and_draw_it_if_too_little_is_recorded(
    rounds, wanted, expected
):
    cards = make_deck(numbered(5, rounds), baseline=wanted[0], current=wanted[1])
    assert (cards.baseline, cards.current, cards.draws) == expected


def test_what_is_drawn_keeps_a_trials_values_together_and_its_case():
    cards = make_deck(numbered(50, 4), baseline=4, current=3)
    sides = cards.deal(shuffler(7))
    for table, rounds in ((sides.baseline, 4), (sides.current, 3)):
        success = table.column("success")
        assert success.shape == (50, rounds)
        assert np.array_equal(table.column("recall"), success + 0.5)
        assert (success // 100 == np.arange(50)[:, None]).all()
    drawn = np.hstack([sides.baseline.column("success"), sides.current.column("success")]) % 100
    assert np.bincount(drawn.astype(int).ravel()) == pytest.approx([87.5] * 4, abs=35)
    assert any(len(set(row)) < 4 for row in drawn[:, :4])


def test_cases_of_one_round_are_not_dealt_and_cases_of_few_share_what_they_have():
    table = numbered(5, 6)
    for values in table.columns.values():
        values[0, 1:] = np.nan
        values[1, 3:] = np.nan
    cards = make_deck(table, baseline=3, current=3)
    sides = cards.deal(shuffler(0))
    assert cards.table.cases == ("c001", "c002", "c003", "c004")
    there = [(~np.isnan(t.column("success"))).sum(axis=1) for t in (sides.baseline, sides.current)]
    assert [list(rounds) for rounds in there] == [[2, 3, 3, 3], [1, 3, 3, 3]]


def test_every_round_comes_to_either_side_as_often():
    cards, rng = make_deck(numbered(1, 4), baseline=2, current=2), shuffler(11)
    seen = np.concatenate([cards.deal(rng).current.column("success")[0] for _ in range(2000)])
    shares = [np.mean(seen == value) for value in range(4)]
    assert shares == pytest.approx([0.25] * 4, abs=0.03)


def test_trials_come_round_by_round():
    sides = make_deck(numbered(4, 6), baseline=3, current=3).deal(shuffler(0))
    place = any_order(4, shuffler(5))
    some = take_trials(sides, place, 3, both=False)
    assert len(some.current.cases) == 3
    assert some.baseline.rounds == 3
    more = take_trials(sides, place, 6, both=True)
    made = ~np.isnan(more.current.column("success"))
    assert made[:, 0].all()
    assert made[:, 1].sum() == 2
    assert np.array_equal(made, ~np.isnan(more.baseline.column("success")))
    assert take_trials(sides, place, 12, both=False) == sides


def test_a_run_against_the_others_has_their_common_cases():
    first, second = np.ones((5, 2)), np.zeros((5, 1))
    second[4] = np.nan
    table, runs = past(first, second)
    sides = one_against_others(table, runs, 1)
    assert sides.current.cases == sides.baseline.cases == table.cases[:4]
    assert (sides.current.column("success") == 0.0).all()
    assert (sides.baseline.column("success") == 1.0).all()


def test_a_run_that_two_parts_have_counts_once_and_parts_come_in_order_of_time():
    old, new = past(np.zeros((5, 1)), np.ones((5, 2))), past(np.ones((5, 2)))
    again = replace(new[1][0], session_id="r01", created_at="2026-11-02T08:00:00Z")
    latest = replace(new[1][0], session_id="r09", created_at="2026-12-01T08:00:00Z")
    parts = [
        RecordedRounds(table=new[0], runs=(latest,)),
        RecordedRounds(table=old[0], runs=tuple(old[1])),
        RecordedRounds(table=new[0], runs=(again,)),
    ]
    whole = join_rounds(parts)
    assert [run.session_id for run in whole.runs] == ["r00", "r01", "r09"]
    assert whole.table.rounds == 5


# ------------------------------------------------------------------------------------ false alarms


def test_an_unchanged_agent_is_hardly_ever_blocked_and_a_raw_rule_often():
    found = calibrate([recorded(*alike())], CONFIG, reps=300, seed=1)
    assert found.splits.blocked.share <= 0.02
    assert found.splits.untested.share > 0.15
    assert found.splits.blocked.low <= found.splits.blocked.share <= found.splits.blocked.high


def test_without_a_tolerance_the_rate_is_that_of_the_test():
    rules = MetricRule(metric=SUCCESS.name, tolerance=Tolerance(value=0.0))
    loose = config(alpha=0.2, stop="off", metrics={SUCCESS.name: rules})
    found = calibrate([recorded(*alike(runs=6, cases=80))], loose, reps=400, seed=2)
    assert found.splits.blocked.share == pytest.approx(0.2, abs=0.06)


def test_equal_seeds_give_equal_figures():
    suite = recorded(*alike())
    first, again = (calibrate([suite], CONFIG, reps=60, seed=4) for _ in range(2))
    other = calibrate([suite], CONFIG, reps=60, seed=5)
    assert first == again
    assert first.splits != other.splits


def test_what_was_dealt_out_is_said():
    found = calibrate([recorded(*alike(runs=3), rounds=2)], CONFIG, **SMALL)
    shape = found.shapes[0]
    assert (shape.recorded, shape.runs, shape.cases) == (6, 3, 40)
    assert (shape.baseline, shape.planned, shape.at_most, shape.drawn) == (6, 2, 4, True)
    assert "6 go to main and up to 4 to the pull request (2 planned)" in flat(found)
    assert "to deal each round once takes 10 recorded rounds" in flat(found)
    kept = replace(CONFIG, baseline=BaselineRules(keep_rounds=2))
    few = calibrate([recorded(*alike(runs=3), rounds=2)], kept, **SMALL)
    assert not few.shapes[0].drawn
    assert "with replacement" not in flat(few)


def test_an_early_end_saves_calls_and_without_one_all_are_made():
    suite = recorded(*alike())
    early = calibrate([suite], CONFIG, **SMALL).splits
    late = calibrate([suite], config(stop="off"), **SMALL).splits
    assert (late.calls, late.planned, late.at_most) == (80, 80, 80)
    assert early.calls < 80 < early.at_most == 160


def test_a_suite_too_small_for_two_batches_makes_what_it_planned():
    suite = recorded(*alike(cases=8), rounds=1)
    assert calibrate([suite], CONFIG, **SMALL).splits.calls == 8


def test_limits_are_no_false_alarms_but_say_which_metrics_block():
    table, runs = past(*({"success": block, "recall": block} for block in alike()), specs=BOTH)
    gates = (GateRule(metric=RECALL.name, min=0.99), GateRule(metric=SUCCESS.name, max=0.01))
    suite = RecordedSuite(name="s", table=table, runs=tuple(runs), rounds=2, gates=gates)
    found = calibrate([suite], CONFIG, **SMALL).splits
    assert [rates.metric for rates in found.metrics] == [SUCCESS.name, RECALL.name]
    assert found.blocked.share < 0.1


def test_metrics_that_only_warn_are_left_out():
    blocks = ({"success": block, "cost_usd": 1.0 + block} for block in alike())
    table, runs = past(*blocks, specs=(SUCCESS, COST))
    suite = RecordedSuite(name="s", table=table, runs=tuple(runs), rounds=2)
    found = calibrate([suite], CONFIG, **SMALL).splits
    assert [rates.metric for rates in found.metrics] == [SUCCESS.name]


def test_suites_are_judged_together_and_one_that_cannot_be_is_named():
    block = np.ones((8, 6))
    block[4:, 1:] = np.nan
    few = recorded(block, name="few")
    suites = [recorded(*alike(), name="a"), few, recorded(*alike(), name="b")]
    found = calibrate(suites, CONFIG, **SMALL)
    assert [(rates.suite, rates.metric) for rates in found.splits.metrics] == [
        ("a", SUCCESS.name),
        ("b", SUCCESS.name),
    ]
    assert found.splits.planned == 160
    assert found.notes == (
        "suite 'few' is left out: 4 of its cases have two recorded rounds and 5 are "
        "needed; give more sessions of this suite",
    )
    assert "a: agent.success_rate" in flat(found)


def test_a_suite_of_three_cases_is_calibrated_where_anything_could_be_seen():
    found = calibrate([recorded(np.ones((3, 12)), rounds=3)], CONFIG, **SMALL)
    assert found.splits.blocked.times == 0
    with pytest.raises(
        UsageError, match="no result of 2 cases with 1 round each could be distinguished"
    ):
        calibrate([recorded(np.ones((2, 2)), rounds=1)], CONFIG, **SMALL)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (np.ones((40, 1)), "0 of its cases have two recorded rounds"),
        (np.zeros((0, 0)), "0 of its cases have two recorded rounds"),
        (np.full((40, 4), np.nan), "0 of its cases have two recorded rounds"),
    ],
)
def test_too_little_is_a_usage_error(block, said):
    with pytest.raises(UsageError, match=said):
        calibrate([recorded(block)], CONFIG, **SMALL)


def test_a_suite_that_nobody_answered_is_a_usage_error_with_the_reason():
    lost = {"success": np.full((20, 4), np.nan), "infra_error": np.ones((20, 4))}
    table, runs = past(lost)
    suite = RecordedSuite(name="s", table=table, runs=tuple(runs), rounds=2)
    with pytest.raises(UsageError, match="100 % of the calls ended in infrastructure errors"):
        calibrate([suite], CONFIG, **SMALL)


def test_every_pull_request_is_told():
    told = []
    calibrate([recorded(*alike())], CONFIG, reps=3, seed=1, report_progress=told.append)
    assert told == [0, 1, 2]


# ------------------------------------------------------------------------------------------ by run


def test_runs_that_are_alike_do_not_drift():
    found = calibrate([recorded(*alike(runs=5))], CONFIG, **SMALL).by_run
    assert len(found.runs) == 5
    assert (found.blocked.times, found.drifts) == (0, False)


@pytest.mark.parametrize(("bad", "worse"), [(0.0, True), (1.0, False)])
def test_a_run_that_is_off_shows_in_either_direction(bad, worse):
    """Dealing its rounds out hides it; judging it as a whole does not."""
    blocks = alike(runs=4, cases=60, rounds=3)
    blocks[1] = np.where(np.arange(60)[:, None] % 2, bad, blocks[1])
    found = calibrate([recorded(*blocks, rounds=3)], CONFIG, **SMALL)
    off = found.by_run.runs[1]
    assert (off.run, off.blocked) == ("r01", worse)
    assert [flag.worse for flag in off.flags] == [worse]
    assert found.by_run.drifts
    assert found.splits.blocked.share < 0.1
    assert "drifts from run to run" in flat(found)


def test_two_runs_are_too_few_to_compare():
    found = calibrate([recorded(*alike(runs=2, rounds=3))], CONFIG, **SMALL)
    assert found.by_run is None
    assert "there are 2 here" in flat(found)


def test_with_a_fresh_control_both_sides_are_asked_and_no_drift_enters():
    found = calibrate([recorded(*alike())], config(control="fresh", stop="off"), **SMALL)
    assert found.by_run is None
    assert found.splits.calls == 160
    assert found.shapes[0].baseline == found.shapes[0].at_most == 2
    assert "control: fresh calls both agents in the same run" in flat(found)


# ---------------------------------------------------------------------------------------- wording


def flat(found):
    return " ".join(text_of(blocks(found), width=100).split())


def test_the_promise_is_kept_broken_or_open():
    found = calibrate([recorded(*alike())], CONFIG, **SMALL)
    few, none = found.splits.blocked, replace(found.splits.blocked, low=0.02, high=0.2)
    for rate, alpha, said in (
        (few, 0.5, "promises 50 % at most: kept."),
        (few, 0.001, "promises 0.1 % at most: no sign of a problem"),
        (none, 0.01, "promises 1 % at most: that is not kept."),
    ):
        shown = replace(found, alpha=alpha, splits=replace(found.splits, blocked=rate))
        assert said in flat(shown)


def test_markdown_shows_hostile_names_as_text():
    suite = recorded(*alike(), name="<img src=x>|a")
    found = markdown_of(blocks(calibrate([replace(suite, notes=("@all <b>",))], CONFIG, **SMALL)))
    assert "`<img src=x>\\|a`" in found
    assert "<b>" not in found
    assert "@all" not in found


def test_lines_fit_a_terminal():
    found = calibrate([recorded(*alike())], CONFIG, **SMALL)
    assert max(map(len, text_of(blocks(found), width=80).splitlines())) <= 80


def test_a_second_look_at_a_doubt_is_rehearsed_as_the_gate_makes_it():
    extend = replace(config(stop="off"), policy=Policy(inconclusive="extend"))
    gate = Rehearsal(config=extend)
    assert (gate.cap(3), gate.looks(10, 3, 6, 16)) == (6, Looks(calls=(30, 60)))
    gate = Rehearsal(config=config(stop="off"))
    assert (gate.cap(3), gate.looks(10, 3, 3, 16)) == (3, None)
