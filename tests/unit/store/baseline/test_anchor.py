"""The anchor of a baseline file: what it is made of, what it follows, and what main has lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from gate.errors import UsageError
from gate.records.baseline import BaselineRun
from gate.store.baseline.anchor import RUNS, MainRuns, anchor_of, name_anchor
from gate.store.baseline.file import StoredAnchor, parse, render
from gate.store.baseline.pool import digest
from tests.support.main_nights import BEGAN, CASES, FACTS, ROUNDS, SUCCESS, Main


def test_the_first_five_runs_are_the_anchor_and_later_ones_do_not_move_it() -> None:
    main = Main()
    assert [len(main.run().header.runs) for _ in range(7)] == [1, 2, 3, 4, 5, 5, 5]
    anchor = main.run(0.3, times=3)
    assert [run.session_id for run in anchor.header.runs] == ["s0", "s1", "s2", "s3", "s4"]
    assert anchor.header.kind == "first"
    assert anchor.table.rounds == RUNS * ROUNDS


def test_a_file_of_an_older_version_begins_with_its_oldest_runs() -> None:
    main = Main()
    main.run(times=4)
    main.anchor = None
    anchor = main.run()
    assert [run.session_id for run in anchor.header.runs] == ["s0", "s1", "s2", "s3", "s4"]
    assert anchor.header.steps[SUCCESS.name].count == 4


def test_an_unchanged_main_loses_nothing_in_a_hundred_nights() -> None:
    main = Main()
    main.run(times=100)
    assert main.lost == []


@pytest.mark.parametrize("nights", [1, 5])
def test_slow_rot_that_no_pull_request_shows_is_seen_and_dated(nights: int) -> None:
    main = Main()
    main.run(times=RUNS)
    for merge in range(1, 11):
        anchor = main.run(0.015 * merge, times=nights)
        if main.lost:
            break
    assert main.lost == [SUCCESS.name]
    assert 0.03 <= 0.015 * merge <= 0.09
    seen = anchor.header.falls[SUCCESS.name]
    night = int(seen.commit or "", 16)
    assert main.nights - nights <= night < main.nights
    assert seen.before == f"{night - 1:040x}"
    main.run(0.015 * merge, times=3)
    assert main.anchor is not None
    assert main.anchor.header.falls[SUCCESS.name] == seen  # it stays what it was


def test_a_fall_is_mended_once_three_runs_are_back() -> None:
    main = Main()
    main.run(times=RUNS)
    main.run(0.15, times=3)
    assert main.lost == [SUCCESS.name]
    main.run(times=1)
    assert main.lost == [SUCCESS.name]
    main.run(times=2)
    assert main.lost == []


def test_an_accepted_metric_moves_and_the_other_stays() -> None:
    main = Main("release", SUCCESS, FACTS)
    main.run(times=RUNS)
    main.run(0.15, times=3)
    assert main.lost == [SUCCESS.name, FACTS.name]
    main.rules = replace(main.rules, accepted=((SUCCESS.name,),))
    anchor = main.run(0.15)
    assert main.lost == [FACTS.name]
    assert anchor.header.wanted == {"success": RUNS - 1}
    anchor = main.run(0.15, times=4)
    assert not anchor.header.wanted
    success = anchor.table.column("success")
    assert np.isnan(success[:, : RUNS * ROUNDS]).all()
    assert np.nanmean(success) == pytest.approx(main.chances.mean() - 0.15, abs=0.03)
    main.run(0.15, times=6)
    assert main.lost == [FACTS.name]  # the new level is no fall


def test_whatever_is_accepted_without_a_name_moves_everything() -> None:
    main = Main("release", SUCCESS, FACTS)
    main.run(times=RUNS)
    main.rules = replace(main.rules, accepted=((),))
    anchor = main.run(0.2)
    assert anchor.header.wanted == {"success": RUNS - 1, "facts": RUNS - 1}
    assert anchor.header.accepted == 1


def release(main: Main, fall: float, name: str, day: int) -> StoredAnchor:
    table = main.table(fall, rounds=15)
    run = BaselineRun(
        session_id=name,
        commit="f" * 40,
        created_at=(BEGAN + timedelta(days=day)).isoformat(),
        rounds=15,
        kept=15,
        cases=CASES,
    )
    anchor = anchor_of(MainRuns(table=table, runs=(run,)), ["success"])
    return name_anchor(anchor, "release", name, run.commit)


def test_a_newer_release_becomes_the_anchor_and_an_older_one_does_not() -> None:
    main = Main()
    main.run(times=RUNS)
    main.rules = replace(main.rules, given=release(main, 0.0, "v1.0.0", day=4))
    assert main.run().header.name == "v1.0.0"
    steps = main.run().header.steps[SUCCESS.name].count
    assert steps == 6  # what is known of the session effect stays
    main.rules = replace(main.rules, given=release(main, 0.0, "v0.9.0", day=2))
    assert main.run().header.name == "v1.0.0"
    main.rules = replace(main.rules, given=release(main, 0.0, "v1.1.0", day=8))
    assert main.run().header.name == "v1.1.0"
    main.rules = replace(main.rules, given=None)
    main.run(0.15, times=4)
    assert main.lost == [SUCCESS.name]


def test_best_follows_main_upwards_by_runs_that_had_no_part_in_the_choice() -> None:
    main = Main("best")
    main.run(0.2, times=RUNS)
    main.run(0.0, times=5)
    assert main.anchor is not None
    assert main.anchor.header.better_since
    assert main.anchor.header.kind == "first"
    anchor = main.run(0.0, times=5)
    assert anchor.header.kind == "best"
    assert [run.session_id for run in anchor.header.runs] == ["s10", "s11", "s12", "s13", "s14"]
    main.run(0.15, times=5)
    assert main.lost == [SUCCESS.name]
    assert main.anchor.header.kind == "best"


def test_best_does_not_follow_a_level_that_did_not_last() -> None:
    main = Main("best")
    main.run(0.1, times=RUNS)
    main.run(0.0, times=5)
    main.run(0.2, times=5)
    assert main.anchor is not None
    assert (main.anchor.header.kind, main.anchor.header.better_since) == ("first", "")


def test_a_known_change_of_the_agent_is_no_scatter_of_sessions() -> None:
    main = Main()
    main.run(times=3, agent="a")
    before = main.run(times=1, agent="a").header.steps[SUCCESS.name]
    after = main.run(times=1, agent="b").header.steps[SUCCESS.name]
    assert (before.count, after) == (3, before)


def test_a_ref_that_gate_yml_names_anew_starts_over() -> None:
    main = Main()
    main.run(times=RUNS)
    given = name_anchor(release(main, 0.0, "x", day=1), "ref", "v1.0.0", None)
    main.rules = replace(main.rules, wanted="v1.0.0", given=given)
    assert (main.run().header.kind, main.run().header.name) == ("ref", "v1.0.0")


def test_the_file_keeps_the_anchor_and_consent_to_the_pool_does_not_hang_on_it() -> None:
    main = Main("release", SUCCESS, FACTS)
    main.run(times=8)
    file = main.file()
    text = render(file)
    again = parse(text.encode(), "demo.json")
    assert again.anchor is not None
    assert file.anchor is not None
    assert again.anchor.header == file.anchor.header
    assert np.array_equal(again.anchor.table.column("facts"), file.anchor.table.column("facts"))
    assert render(again) == text
    assert digest(file) == digest(replace(file, anchor=None))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"kind": "first"', '"kind": "worst"', "anchor.kind"),
        ('"accepted": 0', '"accepted": -1', "anchor.accepted"),
        ('"wanted": {}', '"wanted": {"success": 0}', "anchor.wanted.success"),
        ('"kept": 3', '"kept": 4', "values"),
        ('"squares"', '"circles"', "circles"),
    ],
)
def test_a_broken_anchor_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    main = Main()
    main.run(times=RUNS)
    text = render(main.file())
    assert old in text
    at = text.index('"anchor": {')
    with pytest.raises(UsageError, match=told):
        parse((text[:at] + text[at:].replace(old, new, 1)).encode(), "demo.json")
