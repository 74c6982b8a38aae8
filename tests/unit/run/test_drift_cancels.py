"""A provider that gets worse by the call: a stored baseline blames the change, a control asked in
the same run does not.
"""

import random
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from gate.analysis.table import table_of
from gate.records import Budget, MetricRule, Policy, Provenance, RegressionRules, Response
from gate.run.pipeline import Effects, measure
from gate.store.session import CONTROL, Meta, SessionWriter
from gate.system.clock import Clock
from gate.system.signals import Stop
from gate.verdict.decide import decide
from tests.support.queued_agent import WORLD, suite_plan
from tests.support.verdict_tables import suite_data

LATENCY = "operational.mean_latency_ms"
PLAN = suite_plan(*(f"c{n:02}" for n in range(60)), rounds=3)
CALLS = 2 * 60 * 3  # of both agents
BLOCKING = RegressionRules(metrics={LATENCY: MetricRule(metric=LATENCY, level="block")})


@dataclass
class Weather:
    """What both agents live in: with each call answers get slower and more often wrong."""

    calls: int = 0
    seconds: float = 0.0

    def pass_by(self):
        self.calls += 1
        self.seconds += 1.0 + 2.0 * self.calls / CALLS
        return 0.4 * self.calls / CALLS


class Agent:
    timeout_s, concurrency, requests_per_minute = 1e9, 1, None

    def __init__(self, weather, *, worse=0.0, slower=1.0):
        self.weather, self.worse, self.slower = weather, worse, slower

    def connect(self, world):
        return self

    def ask(self, case, *, timeout_s):
        begun = self.weather.seconds
        wrong = self.weather.pass_by() + self.worse
        self.weather.seconds = begun + self.slower * (self.weather.seconds - begun)
        chance = random.Random(f"{self.weather.calls}").random()
        return Response(answer="no" if chance < wrong else "yes")

    def close(self):
        pass


def run(folder, agent, control=None):
    """The tables of the agent and of its control; None without one."""
    meta = Meta(session_id="x", created_at="", provenance=Provenance(), suites={})
    clock = Clock(
        seconds=lambda: agent.weather.seconds, now=lambda: datetime(2026, 1, 1, tzinfo=UTC)
    )
    with (
        SessionWriter.create(folder, meta, str) as own,
        SessionWriter.make(own.folder / CONTROL, meta, str) as inner,
    ):
        effects = Effects(
            world=WORLD,
            session=own,
            control=inner if control else None,
            stop=Stop(),
            progress=lambda row: None,
            clock=clock,
        )
        found = measure([PLAN], agent, effects, budget=Budget(), prices={}, control=control)
    columns = [found.columns["s"], found.control.columns["s"] if found.control else None]
    return [table_of(one, PLAN.specs, {}) if one else None for one in columns]


def verdict(current, baseline, *, fresh):
    one = suite_data(name="s", current=current, baseline=baseline, fresh=fresh)
    return decide([one], gates=(), regression=BLOCKING, policy=Policy())


def regressions(found):
    return {row.metric for row in found.comparisons if row.status == "regression"}


def test_stored_answers_of_better_weather_convict_an_unchanged_agent(tmp_path):
    weather = Weather()
    before, _ = run(tmp_path / "main", Agent(weather))
    after, _ = run(tmp_path / "change", Agent(weather))
    assert regressions(verdict(after, before, fresh=False)) >= {"agent.success_rate", LATENCY}


def test_a_control_in_the_same_weather_does_not(tmp_path):
    weather = Weather()
    after, before = run(tmp_path, Agent(weather), Agent(weather))
    found = verdict(after, before, fresh=True)
    assert (found.outcome, regressions(found)) == ("pass", set())
    rates = {row.metric: row for row in found.comparisons}
    assert rates["agent.success_rate"].baseline < 0.9, "the weather did get worse"


@pytest.mark.parametrize(
    ("change", "metric"),
    [({"worse": 0.25}, "agent.success_rate"), ({"slower": 1.3}, LATENCY)],
)
def test_an_agent_that_is_worse_in_the_same_weather_is_convicted(tmp_path, change, metric):
    weather = Weather()
    after, before = run(tmp_path, Agent(weather, **change), Agent(weather))
    found = verdict(after, before, fresh=True)
    assert found.outcome == "fail"
    assert metric in regressions(found)
