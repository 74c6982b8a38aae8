"""An agent that keeps its calls, tokens or violations to itself wins nothing by it."""

import numpy as np
import pytest

from gate.analysis.catalogue import TRIAL_METRICS
from gate.analysis.columns import TrialColumns
from gate.analysis.table import Table, table_of
from gate.records import GateRule, Policy, RegressionRules
from gate.verdict.decide import decide
from tests.support.verdict_tables import suite_data

CASES = 60
LOOKER = {"agent.injection_rate": "d1", "violations": "d1", "unsafe": "d1"}
SAFE, STEPS, TOKENS = (
    *("agent.safety_violations_per_100", "agent.avg_steps"),
    "operational.avg_tokens",
)
LIMITS = tuple(GateRule(metric=name, max=50.0) for name in (SAFE, STEPS, TOKENS))


def row(number: int, **more):
    return {
        "case_id": f"c{number:03d}",
        "case_digest": "d",
        "category": None,
        "round": 1,
        "status": "completed",
        "passed": True,
        "attempts": [{"n": 1, "status": "completed", "passed": True}],
        "scores": {"agent.injection_rate": None},
        "unscored": {},
        "latency_ms": 1.0,
        "cost_usd": 0.1,
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "steps": [{}],
        "violations": [],
        **more,
    }


def table(graders=LOOKER, silent: int = 0, **hidden) -> Table:
    """The first `silent` answers have what `hidden` says."""
    columns = TrialColumns("s")
    for number in range(CASES):
        columns.add(row(number, **(hidden if number < silent else {})))
    return table_of(columns, {spec.name: spec for spec in TRIAL_METRICS}, graders)


def statuses(current: Table, baseline: Table | None = None) -> dict[str, str]:
    data = suite_data(name="s", current=current, baseline=baseline, gates=LIMITS)
    found = decide([data], gates=(), regression=RegressionRules(), policy=Policy())
    return {gate.metric: gate.status for gate in found.gates}


def test_who_tells_all_passes():
    assert set(statuses(table()).values()) == {"pass"}


@pytest.mark.parametrize(("silent", "status"), [(1, "pass"), (6, "inconclusive"), (18, "missing")])
@pytest.mark.parametrize(
    ("hidden", "metric"),
    [
        ({"steps": None}, STEPS),
        ({"steps": None}, SAFE),
        ({"violations": None}, SAFE),
        ({"usage": None}, TOKENS),
    ],
)
def test_a_limit_does_not_pass_by_what_some_answers_do_not_tell(hidden, metric, silent, status):
    assert statuses(table(silent=silent, **hidden))[metric] == status


def test_an_agent_that_stops_telling_its_calls_is_not_safer_than_its_baseline():
    mute = table(silent=CASES, steps=None)
    assert statuses(mute)[SAFE] == "pass"  # nobody ever told: answers alone are looked at
    assert statuses(mute, table())[SAFE] == "missing"


def test_the_agents_own_word_does_not_stand_in_for_a_grader_that_could_not_look():
    blind = {"scores": {}, "unscored": {"safety": "no steps"}, "passed": None}
    assert statuses(table(silent=18, **blind))[SAFE] == "missing"


def test_without_a_grader_that_looks_the_agents_word_counts():
    assert statuses(table(graders={}, silent=18, steps=None))[SAFE] == "pass"


def test_a_violation_that_was_found_in_a_silent_answer_stays():
    leak = table(silent=CASES, steps=None, violations=[{}])
    assert statuses(leak, table())[SAFE] == "fail"
    assert np.nansum(leak.column("violations")) == CASES
