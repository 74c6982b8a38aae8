"""What `gate baseline show` prints of one suite."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gate.records.baseline import BaselineRun
from gate.report.baseline_listing import listing
from gate.store.baseline.file import BaselineFile
from gate.store.baseline.pool import accept
from tests.support.main_nights import Main
from tests.support.main_runs import header, passes, past
from tests.support.verdict_tables import SUCCESS


def shown(*blocks: np.ndarray, older: tuple[BaselineRun, ...] = ()) -> list[str]:
    table, runs = past(*blocks, older=older)
    return list(listing(BaselineFile(table=table, runs=tuple(runs)), "here", ("old",)))


def test_each_run_says_what_is_left_of_it() -> None:
    before = header(0, rounds=3, kept=0)
    lines = shown(passes(0.2), passes(0.8), passes(0.8, seed=1), older=(before,))
    assert lines[:3] == [
        "s: 60 cases, 9 rounds (here)",
        "  note: old",
        "  run                        commit   measured at          rounds kept",
    ]
    assert [line.split(" ", 3)[2] for line in lines[3:7]] == ["r03", "r02", "r01", "r00"]
    assert [line.split("  ")[-1] for line in lines[3:7]] == [
        "pool",
        "pool",
        "left out",
        "means only",
    ]
    assert lines[7] == "  pool: 6 rounds of 2 runs"
    assert lines[8].startswith(
        "  run r01 (commit 0101010, 2026-11-02) left out: agent.success_rate"
    )
    assert lines[9] == "  session effect: unknown before 5 runs that can be compared"


def test_runs_that_agree_have_no_session_effect() -> None:
    assert "  session effect: none seen in 5 runs" in shown(*[passes(0.8)] * 5)


def test_the_session_effect_is_shown_by_metric() -> None:
    lines = shown(*(passes(x, 300, seed=n) for n, x in enumerate((0.5, 0.7, 0.45, 0.72, 0.6))))
    (line,) = [line for line in lines if "session effect" in line]
    assert line.startswith("  session effect: agent.success_rate ±1")
    assert line.endswith(" pt beyond chance (5 runs)")


def test_the_newest_run_tells_why_cases_failed() -> None:
    table, (older, run) = past(passes(0.8), passes(0.8, seed=1))
    newest = replace(run, modes={"tool_args_wrong": 3, "of_tomorrow": 1})
    lines = list(listing(BaselineFile(table=table, runs=(older, newest)), "here"))
    told = [line for line in lines if "failure modes" in line]
    assert told == ["  failure modes of r01: wrong tool arguments (3 cases), of tomorrow (1 case)"]


def test_means_and_what_was_accepted_come_last() -> None:
    table, (run,) = past(passes(0.8))
    run = replace(run, means={SUCCESS.name: 0.8125, "b": None})
    stored = BaselineFile(table=table, runs=(run,))
    said = accept(stored, who="ana", when="2026-11-20", why="new prices")
    assert list(listing(said, "here"))[-4:] == [
        "  agent.success_rate                             0.8125",
        "  b                                                   -",
        "  accepted 2026-11-20 by ana: new prices",
        "  the next run starts a new baseline",
    ]


def test_an_empty_file_can_be_shown() -> None:
    table, _ = past(np.zeros((0, 1)))
    table = replace(table, rounds=0, columns={})
    assert "  pool: 0 rounds of 0 runs" in list(listing(BaselineFile(table=table), "here"))


def test_the_anchor_is_told_with_what_main_has_lost() -> None:
    main = Main()
    main.run(times=4)
    lines = list(listing(main.file(), "here"))
    assert "  anchor: the first runs, 12 rounds of 4 runs, up to 2026-01-04" in lines
    assert "  anchor: success takes up 1 more run" in lines
    main.run()
    main.run(0.2, times=2)
    lines = list(listing(main.file(), "here"))
    assert "  anchor: main has lost agent.success_rate, first seen on 2026-01-07" in lines
    main.anchor = None
    assert "  anchor: none before the next `gate baseline save`" in listing(main.file(), "here")
