"""Runs whose answers are drawn, and what the real verdict makes of them: no figure of such a report
can contradict another one unless the product itself does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gate.analysis.catalogue import trial_metrics
from gate.analysis.table import tabulate
from gate.analysis.tally import Tally
from gate.graders.trajectories.path import PathsOf, no_paths
from gate.records import (
    BaselineInfo,
    Config,
    GateRule,
    Judging,
    Looks,
    MetricSpec,
    PluginSpec,
    Report,
    Suite,
    ToldBy,
)
from gate.records.baseline import BaselineRun
from gate.records.codec import to_json
from gate.store.baseline.find import Compared
from gate.store.session import SuiteMeta
from gate.verdict.conclude import conclude, look
from gate.verdict.course import course
from gate.verdict.suite_data import Setting, SuiteData
from tests.support.measured_suites import SETTING
from tests.support.reports import FACTS, FAITHFUL, HALLUCINATION, RECALL

Row = dict[str, Any]

GRADED = (
    MetricSpec(name=RECALL, column=RECALL, unit="share"),
    MetricSpec(name=FACTS, column=FACTS, unit="share"),
    MetricSpec(name=HALLUCINATION, column=HALLUCINATION, unit="share", direction="lower"),
    MetricSpec(name=FAITHFUL, column=FAITHFUL, unit="points", low=1.0, high=5.0, asks="judge"),
)
TOLD_BY = {
    RECALL: ToldBy(grader="retrieval"),
    FACTS: ToldBy(grader="facts"),
    FAITHFUL: ToldBy(grader="judge", about="faithful"),
}
QUIET = Config(agent=PluginSpec(name="sample"), suites=())
PLAIN = replace(SETTING, notes=(), loosened=(), comment_id="gate")


MISSED = "kb-112 is not among the first 5 documents"
JUDGED = "the figure is right; its source is not named"
STORED = BaselineInfo(source="repo", commit="a" * 40, rounds=3, runs=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """How often a drawn agent does what; shares of the cases, of the trials, or factors."""

    fails: float = 0.06  # cases that fail every round
    flaky: float = 0.06  # cases that pass about two rounds in three
    breaks: float = 0.0  # cases beside, which pass without it, that fail every round
    misses: float = 0.07  # of the documents
    invents: float = 0.02  # answers with a number that nothing supports
    judged: float = 4.5  # points of a judge, of 5
    slower: float = 1.0
    dearer: float = 1.0
    lost: float = 0.0  # trials that nobody answers
    crashes: float = 0.0  # trials that end in an error of the agent
    unscored: float = 0.0  # answers that a judge could not be asked about
    priced: bool = True
    has: tuple[str, ...] = (RECALL, FACTS, HALLUCINATION)  # what graders measure
    failure: str = "fact_missing:4.2 %"
    reason: str = "4.2 % is not in the answer"
    mode: str = "wrong_answer"


WELL = Agent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """One suite: the rows of this run up to its cap, in the order of asking, and the baseline's."""

    name: str = "analytics"
    now: Sequence[Row]
    was: Sequence[Row] | None = None
    runs: tuple[BaselineRun, ...] = ()
    rounds: int = 3
    info: BaselineInfo = STORED
    looks: Looks | None = None
    gates: tuple[GateRule, ...] = ()
    has: tuple[str, ...] = (RECALL, FACTS, HALLUCINATION)
    had: tuple[str, ...] | None = None  # graders' metrics of the baseline; None: the same
    meta: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)  # other fields of it
    references_of: PathsOf = no_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A verdict with the rows that it was made of."""

    report: Report
    kept: tuple[Row, ...]

    def rows(self) -> Iterator[Row]:
        return iter(self.kept)


def ids(number: int, name: str = "case") -> tuple[str, ...]:
    return tuple(f"{name}-{n:0{len(str(number))}}" for n in range(1, number + 1))


def answers(
    cases: Sequence[str],
    rounds: int,
    agent: Agent = Agent(),
    *,
    seed: int,
    suite: str = "analytics",
) -> list[Row]:
    """Round by round. What a case is like depends on its name alone, so that two runs have pairs;
    what becomes of a trial depends on `seed` too.
    """
    luck = np.random.default_rng(seed)
    nature = {case: np.random.default_rng([*case.encode()]).random(3) for case in cases}
    order = [(case, n) for n in range(1, rounds + 1) for case in _shuffled(cases, seed)]
    return [_row(case, n, agent, nature[case], luck, suite) for case, n in order]


def _shuffled(cases: Sequence[str], seed: int) -> list[str]:
    return [cases[n] for n in np.random.default_rng(seed + 1).permutation(len(cases))]


def _row(
    case: str,
    number: int,
    agent: Agent,
    nature: Any,
    luck: np.random.Generator,
    suite: str,
) -> Row:
    rank, weak, speed = nature
    hard = rank < agent.fails or weak < agent.breaks
    shaky = not hard and rank < agent.fails + agent.flaky
    passed = not hard and (not shaky or luck.random() < 2 / 3)
    status = "completed"
    if luck.random() < agent.lost:
        status = "infra_error"
    elif luck.random() < agent.crashes:
        status, passed = "agent_error", False
    found = sum(luck.random() > agent.misses * (0.4 + 1.2 * weak) for _ in range(5)) / 5
    points = min(5.0, max(1.0, float(np.round(agent.judged + luck.normal(0, 0.5)))))
    scores = {
        RECALL: found,
        FACTS: 1.0 if passed else round(float(luck.choice([0.0, 0.5, 0.75])), 2),
        HALLUCINATION: float(luck.random() < agent.invents),
        FAITHFUL: points,
    }
    out = luck.random() < agent.unscored
    done = status == "completed"
    scores = {name: scores[name] for name in agent.has if done and not (out and name == FAITHFUL)}
    latency = float(np.round(agent.slower * (500 + 600 * speed) * np.exp(luck.normal(0, 0.3)), 1))
    tokens = int(luck.integers(250, 340))
    failures = [] if passed or not done else [agent.failure]
    verdict = None if status == "infra_error" else passed
    judging = to_json(
        Judging(
            asked=1,
            scored=int(not out),
            calls=1,
            usd=0.002,
            unreachable=int(out),
            lost=int(out),
            failures=("connection refused",) if out else (),
        )
    )
    return {
        "suite": suite,
        "case_id": case,
        "case_digest": case,
        "category": case.partition("-")[0],
        "tags": [],
        "round": number,
        "attempts": [
            {"n": 1, "status": status, "passed": verdict, "failures": failures}
            | {"latency_ms": latency, "usage": None}
        ],
        "status": status,
        "passed": verdict,
        "failures": failures,
        "failed_by": [] if passed or not done else ["facts"],
        "mode": None if verdict is not False else agent.mode if done else "agent_error",
        "scores": scores,
        "dimension_scores": {},
        "reasons": {
            **({} if passed or not done else {"facts": agent.reason}),
            **({"retrieval": MISSED} if scores.get(RECALL, 1.0) < 1.0 else {}),
            **({"judge": JUDGED} if done and scores.get(FAITHFUL, 5.0) < 4.0 else {}),
        },
        "unscored": {"judge": "judge unreachable"} if FAITHFUL in agent.has and out else {},
        "judging": judging if FAITHFUL in agent.has and done else None,
        "latency_ms": None if status == "infra_error" else latency,
        "usage": {"input_tokens": 1500, "cached_tokens": 0, "output_tokens": tokens},
        "cost_usd": agent.dearer * (0.0009 + tokens * 1.6e-6) if agent.priced else None,
        "model": "deepseek/deepseek-v4-flash",
        "steps": None,
        "question": f"What is asked in {case}?",
        "output": "Churn fell from 5.1 % to 4.2 %." if done else None,
        "retrieved_ids": None,
        "safety_violations": [],
        "error": None if done else "HTTP 500: out of memory" if verdict is False else "refused",
        "started_at": "2026-01-20T10:15:01Z",
    }


def concluded(suites: Sequence[Drawn], config: Config = QUIET, setting: Setting = PLAIN) -> Told:
    """What a run makes of these answers. A suite with looks asks for its trials batch by batch and
    ends where the verdict stands, as a run does.
    """
    named = tuple(Suite(name=one.name, dataset="d", graders=(), gates=one.gates) for one in suites)
    config = replace(config, suites=named)
    plans = {one.name: one.looks for one in suites if one.looks is not None}
    state = course(plans, "", None)
    while state.going:
        found = look(_measured(suites, state.made, state.going, state.ended), config, setting)
        state = state.after(found.suites, found.why)
    measured = _measured(suites, state.made, frozenset(), state.ended)
    kept = [row for one in suites for row in _made(one, state.made, frozenset())]
    kept.sort(key=lambda row: (row["suite"], row["case_id"], row["round"]))

    def rows_of(suite: str, case_ids: frozenset[str]) -> Iterator[Row]:
        return (row for row in kept if row["suite"] == suite and row["case_id"] in case_ids)

    return Told(report=conclude(measured, config, setting, rows_of), kept=tuple(kept))


def _made(one: Drawn, made: Mapping[str, int], going: frozenset[str]) -> Sequence[Row]:
    if one.looks is None:
        return one.now
    return one.now[: (0, *one.looks.calls)[made[one.name] + (one.name in going)]]


def _measured(
    suites: Sequence[Drawn],
    made: Mapping[str, int],
    going: frozenset[str],
    ended: Mapping[str, str],
) -> list[SuiteData]:
    return [_suite(one, _made(one, made, going), ended.get(one.name, "")) for one in suites]


def _suite(one: Drawn, rows: Sequence[Row], ended: str) -> SuiteData:
    specs = _specs(one.has, one.rounds)
    graders = dict.fromkeys(one.has, "g")
    table = tabulate(one.name, rows, specs, graders)
    tally = Tally()
    for row in rows:
        tally.add(row)
    chosen = {row["case_id"] for row in one.now}
    meta = SuiteMeta(
        **{
            "dataset": f"datasets/{one.name}.jsonl",
            "dataset_digest": "c0ffee12" * 8,
            "version": "3",
            "rounds": one.rounds,
            "cases": len(chosen),
            "specs": specs,
            "graders": graders,
            "told_by": {name: TOLD_BY[name] for name in one.has if name in TOLD_BY},
            "looks": one.looks,
            **one.meta,
        }
    )
    baseline = Compared(table=None, info=BaselineInfo(source="none"))
    if one.was is not None:
        had = one.has if one.had is None else one.had
        before = tabulate(one.name, one.was, _specs(had, one.rounds), dict.fromkeys(had, "g"))
        baseline = Compared(table=before, info=one.info, runs=one.runs, history=one.runs)
    asked = frozenset(table.cases)
    made = SuiteData(
        name=one.name,
        meta=meta,
        current=table,
        tally=tally,
        compared=baseline,
        gates=one.gates,
        not_asked=frozenset(chosen) - asked if one.looks is not None else frozenset(),
        ended=ended,
        references_of=one.references_of,
    )
    return replace(made, **one.measured)


def _specs(has: Sequence[str], rounds: int) -> dict[str, MetricSpec]:
    found = {spec.name: spec for spec in trial_metrics(rounds)}
    return {**found, **{spec.name: spec for spec in GRADED if spec.name in has}}
