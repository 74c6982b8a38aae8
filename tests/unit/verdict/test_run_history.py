from dataclasses import replace

import pytest

from gate.records.baseline import BaselineRun
from gate.store.baseline.schema import AcceptanceNote
from gate.verdict.decide import decide
from gate.verdict.run_history import tell_history
from tests.support.measured_suites import CONFIG, measured_suite, success_table


def told(rates, accepted=()):
    suite = measured_suite(success_table(), success_table())
    runs = tuple(
        BaselineRun(
            session_id=f"r{number:02}",
            commit=f"{number:07}",
            created_at=f"2026-01-{number + 1:02}T03:00:00Z",
            cases=20,
            rounds=3,
            means={"agent.success_rate": rate},
        )
        for number, rate in enumerate(rates)
    )
    suite = replace(suite, compared=replace(suite.compared, history=runs, accepted=accepted))
    verdict = decide(
        [suite], gates=CONFIG.gates, regression=CONFIG.regression, policy=CONFIG.policy
    )
    return tell_history(suite, verdict)


def test_a_change_of_level_is_told_with_its_first_run():
    (shift,) = told([0.95] * 6 + [0.5] * 6)["history_shifts"]
    assert (shift.metric, shift.at) == ("agent.success_rate", 6)
    assert (shift.before, shift.after) == pytest.approx((0.95, 0.5))
    assert told([0.95] * 12)["history_shifts"] == ()


def test_commits_moments_and_pools_are_told():
    note = AcceptanceNote(who="o", when="2026-01-02T12:00:00Z", why="cheaper", old_digest="x")
    found = told([0.9, 0.9, 0.9], (note,))
    assert [run.commit for run in found["history_runs"]] == ["0000000", "0000001", "0000002"]
    assert [start.before for start in found["history_starts"]] == [2]
    assert found["history"]["agent.success_rate"] == (0.9, 0.9, 0.9)


def test_one_run_is_no_history():
    assert told([0.9]) == {}
