"""The scenarios of the golden files: answers are drawn, and the real verdict makes the figures of
them, so that none can contradict another. What has no figures, such as steps, is put beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gate.records import (
    AcceptedChange,
    BaselineInfo,
    Budget,
    GateRule,
    MetricRule,
    QuotedValue,
    RegressionRules,
    equal_looks,
)
from gate.records.baseline import BaselineRun
from gate.verdict.suite_data import Setting
from tests.support.drawn_runs import QUIET, Agent, Drawn, Told, answers, concluded, ids
from tests.support.reports import (
    BASE,
    FACTS,
    FAITHFUL,
    HALLUCINATION,
    P95,
    RECALL,
    baseline,
    hostile,
    passing,
    rows_of,
    steps_changed,
)

SUCCESS = "agent.success_rate"
CASES = ids(120, "churn-by-quarter") + ids(80, "orders")
GATES = (
    GateRule(metric=FACTS, min=0.90, target=0.95),
    GateRule(metric=RECALL, min=0.82, target=0.90),
    GateRule(metric=P95, max=5000.0, target=3000.0),
)
MAIN = replace(baseline(), rounds=6, runs=2)
SETTING = Setting(
    session_id="20260120-101500-0a1b2c3d",
    created_at="2026-01-20T10:15:00Z",
    duration_s=57.6,
    mode="pull_request",
    provenance=passing().provenance,
)
WELL = Agent(fails=0.05, flaky=0.06)
WORSE = replace(WELL, breaks=0.1, misses=0.16)


def suite(now: Agent, was: Agent | None = WELL, **changes: Any) -> Drawn:
    """200 cases, three rounds of each, up to twice as many where the run may stop early."""
    looks = changes.get("looks")
    name = changes.get("name", "analytics")
    cases = changes.pop("cases", CASES)
    rounds = changes.pop("rounds", 3)
    made = answers(cases, 2 * rounds if looks else rounds, now, seed=2, suite=name)
    before = None if was is None else answers(cases, 6, was, seed=1, suite=name)
    values: dict[str, Any] = {"name": name, "now": made, "was": before, "rounds": rounds}
    info = replace(MAIN, detail=f"baselines/{name}.json")
    return Drawn(**{**values, "info": info, "gates": GATES, "has": now.has, **changes})


def told(*suites: Drawn, setting: Setting = SETTING, **config: Any) -> Told:
    return concluded(suites, replace(QUIET, **config), setting)


def stopped_early() -> Told:
    better, before = replace(WELL, fails=0.02), replace(WELL, fails=0.08)
    return told(suite(better, before, looks=equal_looks(1200), gates=GATES[:2]))


def fell(**changes: Any) -> Told:
    return told(suite(WORSE, looks=equal_looks(1200), **changes))


def below_a_limit() -> Told:
    weak = replace(WELL, fails=0.17)
    asked = (*GATES, GateRule(metric=FAITHFUL, min=4.0), GateRule(metric=HALLUCINATION, max=0.05))
    return told(suite(weak, weak, gates=asked))


def undecided() -> Told:
    few = ids(24)
    one = suite(Agent(flaky=0.0, breaks=0.05), Agent(flaky=0.0), cases=few, rounds=1, gates=())
    return told(one)


def first_run() -> Told:
    unpriced = replace(WELL, priced=False)
    nothing = BaselineInfo(source="none", detail="no baselines/analytics.json on main, no artifact")
    return told(suite(unpriced, None, info=nothing))


def not_comparable() -> Told:
    info = replace(
        MAIN,
        fingerprint_diff=("agent model: `gpt-4o` -> `gpt-5`", "temperature: 0.2 -> 0.7"),
        notes=("older than 30 days",),
        age_days=44.0,
    )
    other = ids(31, "gone") + CASES[31:]
    return told(replace(suite(WELL, info=info), was=answers(other, 6, WELL, seed=1)))


def agent_down() -> Told:
    why = (
        "no agent answers at http://127.0.0.1:14000 (connection refused); start it, or name "
        "another address with --base-url"
    )
    one = suite(WELL)
    return told(
        replace(
            one,
            now=[],
            meta={"cases": len(CASES)},
            measured={"unreachable": why, "not_run": 600, "ended": why},
        )
    )


def several_suites() -> Told:
    few = ids(32, "talk")
    return told(
        suite(WORSE, looks=equal_looks(1200)),
        suite(WELL, name="dialogue", cases=few, gates=()),
        suite(WELL, None, name="tool", cases=ids(12, "MX"), gates=()),
    )


def loosened() -> Told:
    setting = replace(
        SETTING,
        loosened=(
            "`correctness.fact_accuracy` min 0.90 -> 0.85 in `gate.yml:31`",
            "tolerance of `agent.success_rate`, `retrieval.recall@5` 0.02 -> 0.05 in `gate.yml:44`",
            "changes the grader file `checks.py`: its metrics are not compared",
            "removes 2 cases of `analytics`: `arr-01`, `arr-02`",
            "edits the baseline of `analytics`; the base branch's was used",
        ),
        notes=("gate.yml:9: retries: no grader reads this key",),
    )
    lossy = replace(WORSE, lost=0.01, crashes=0.01, priced=False)
    return told(suite(lossy), setting=setting)


def many_failing() -> Told:
    return told(suite(replace(WELL, breaks=0.4)))


def accepted() -> Told:
    change = AcceptedChange(
        who="octocat",
        when="2026-01-20T11:02:00Z",
        why="the new index trades recall for half the latency, agreed in #77",
        metrics=(RECALL,),
        url="https://github.com/acme/assistant/pull/42#issuecomment-1",
    )
    lean = replace(WELL, misses=0.16)
    return told(suite(lean), setting=replace(SETTING, accepted=(change,)))


def trend() -> Told:
    one = suite(WELL)
    before = told(one).report
    now = {c.metric: c.baseline for c in before.comparisons}
    steps = (-0.049, -0.044, -0.018, -0.009, -0.005, 0.0)
    runs = tuple(
        BaselineRun(
            session_id=f"2026011{n}-040000-0b1c2d3e",
            commit=BASE,
            created_at=f"2026-01-1{n}T04:00:00Z",
            rounds=3,
            kept=3 * (n >= 4),
            cases=len(CASES),
            means={name: (now[name] or 0.0) + step for name in (SUCCESS, RECALL)},
        )
        for n, step in enumerate(steps)
    )
    return told(replace(one, runs=runs), budget=Budget(usd=5.0))


def judge_fell() -> Told:
    has = (RECALL, FACTS, FAITHFUL)
    kind, strict = replace(WELL, has=has, judged=4.6), replace(WELL, has=has, judged=3.9)
    rules = RegressionRules(metrics={FAITHFUL: MetricRule(metric=FAITHFUL)})
    return told(suite(strict, kind, gates=()), regression=rules, budget=Budget(usd=5.0))


def agent_fell() -> Told:
    clumsy = replace(
        WELL,
        breaks=0.2,
        mode="wrong_tool",
        failure="missing_tool_call:run_sql",
        reason="run_sql was not called",
    )
    setting = replace(SETTING, measures_main=True, mode="branch")
    found = told(suite(clumsy), setting=setting)
    first, *others = found.report.cases.newly_failing
    failing = (replace(first, steps=steps_changed()), *others)
    cases = replace(found.report.cases, newly_failing=failing)
    return replace(found, report=replace(found.report, cases=cases))


def quoted() -> Told:
    values = (
        QuotedValue(metric=SUCCESS, value=0.65, of="mini-SWE-agent", year=2025, source="a table"),
        QuotedValue(metric=SUCCESS, value=1, of="human", year=2023, source="by construction"),
        QuotedValue(
            metric=SUCCESS, value=0.5, of="GPT-4", year=2023, source="a guide", approximate=True
        ),
    )
    half = Agent(fails=0.38, flaky=0.0, has=())
    cases = ids(500, "django")
    name = "swebench-verified"
    one = suite(half, None, name=name, cases=cases, rounds=1, gates=(), meta={"quoted": values})
    return told(one)


def of_others() -> Told:
    """Hostile text wherever a string can stand; its figures say nothing."""
    report = hostile()
    return Told(report=report, kept=tuple(rows_of(report)()))


RUNS: Mapping[str, Callable[[], Told]] = {
    "pass": lambda: told(suite(WELL)),
    "stopped_early": stopped_early,
    "fail_regression": fell,
    "fail_gate_min": below_a_limit,
    "inconclusive": undecided,
    "no_baseline": first_run,
    "not_comparable": not_comparable,
    "error_agent_down": agent_down,
    "several_suites": several_suites,
    "loosened": loosened,
    "many_failing": many_failing,
    "accepted": accepted,
    "trend": trend,
    "judge_fell": judge_fell,
    "agent_fell": agent_fell,
    "quoted": quoted,
    "hostile": of_others,
}
