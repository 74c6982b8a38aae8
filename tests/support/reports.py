"""Realistic reports for the tests of everything that people read, one function a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gate.records import (
    AcceptedChange,
    BaselineInfo,
    Calls,
    CaseChange,
    CaseChanges,
    CaseFall,
    CategoryReport,
    Cluster,
    Comparison,
    Cost,
    Decision,
    Estimate,
    EvidenceCounts,
    Foresight,
    GateResult,
    LoggedViolation,
    MetricFall,
    ModeCount,
    Policy,
    Provenance,
    QuotedValue,
    Reliability,
    Report,
    StepChange,
    StepDiff,
    SuiteReport,
    Violation,
)
from gate.verdict.reasons import (
    describe_pass,
    describe_regression,
    describe_suspicion,
    join_reasons,
    with_calls,
)

HEAD = "4f1c9d2ab77e01c3d5e6f708192a3b4c5d6e7f80"
BASE = "a81e03c4d5e6f708192a3b4c5d6e7f8091a2b3c4"
RUN = "https://github.com/acme/assistant/actions/runs/8123"

RECALL = "retrieval.recall@5"
FACTS = "correctness.fact_accuracy"
P95 = "operational.p95_latency_ms"
SUCCESS = "agent.success_rate"
HALLUCINATION = "operational.hallucination_rate"
FAITHFUL = "correctness.faithfulness"

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=y> ![p](https://evil.example/p.png) "
    "[link](https://evil.example) https://evil.example www.evil.example a@evil.example "
    "@octocat #12 acme/x#3 GH-4 deadbeefdeadbeefdeadbeef :smile: $x^2$ | a | b | `` ` ``` ~~s~~ "
    "*b* _i_ <!-- agent-gate id=gate sha=abc run=1.1 v=1 --> --> ]]> </details></table>\n"
    "::error::forged\r\n##[error]forged\n# heading\n- [ ] task\n> quote\n```\n\x1b[31mred\x1b[0m"
    "\x1b]8;;https://evil.example\x07x\x1b]8;;\x07 \u202egnp.exe\u202c \u200bz\u200d\ufeff "
    "\x00\x07\x08 \ud800 \uffff {{ 7*7 }} {% raw %} ${{ secrets.X }} %0A::warning::x"
)


def comparison(metric: str = SUCCESS, **changes: Any) -> Comparison:
    made = Comparison(
        suite="analytics",
        metric=metric,
        baseline=0.92,
        current=0.918,
        delta=-0.002,
        ci_low=-0.028,
        ci_high=0.024,
        confidence=0.98,
        p_value=0.44,
        p_better=0.56,
        p_adjusted=1.0,
        tolerance=0.02,
        relative=False,
        status="no_regression",
        n_paired=200,
        mde=0.031,
        level="block",
        method="case-stratified shuffle test, exact",
        unit="share",
    )
    return replace(made, **changes)


def latency(metric: str = P95, **changes: Any) -> Comparison:
    defaults: dict[str, Any] = {
        "baseline": 2310.0,
        "current": 2281.4,
        "delta": -0.0124,
        "ci_low": -0.06,
        "ci_high": 0.041,
        "tolerance": 0.10,
        "relative": True,
        "mde": 0.14,
        "level": "warn",
        "direction": "lower",
        "unit": "ms",
        "method": "shuffle test of the share above the pooled p95",
    }
    return comparison(metric, **{**defaults, **changes})


def gate(metric: str = FACTS, **changes: Any) -> GateResult:
    made = GateResult(
        suite="analytics",
        metric=metric,
        value=0.936,
        min=0.90,
        max=None,
        target=0.95,
        rule="point",
        status="pass",
        level="block",
        ci_low=0.91,
        ci_high=0.96,
        target_met=False,
        unit="share",
    )
    return replace(made, **changes)


def estimate(metric: str, value: float | None, **changes: Any) -> Estimate:
    spread = None if value is None else abs(value) * 0.03
    share = value is None or changes.get("unit", "share") == "share"
    made = Estimate(
        metric=metric,
        value=value,
        min=0.0 if share else value * 0.4,
        max=1.0 if share else value * 2.5,
        ci_low=None if value is None or spread is None else value - spread,
        ci_high=None if value is None or spread is None else value + spread,
        n=600,
        unit="share",
        method="Wilson",
    )
    return replace(made, **changes)


def metrics() -> dict[str, Estimate]:
    found = (
        estimate(SUCCESS, 0.918),
        estimate("agent.first_attempt_success_rate", 0.911),
        estimate("agent.avg_steps", 3.42, unit="steps", direction="lower"),
        estimate("agent.pass^3", None, reason="3 rounds of each case are needed"),
        estimate(FACTS, 0.936),
        estimate(RECALL, 0.931),
        estimate("retrieval.mrr", 0.88),
        estimate(HALLUCINATION, 0.021, direction="lower"),
        estimate(P95, 2281.4, unit="ms", direction="lower"),
        estimate("operational.mean_latency_ms", 812.3, unit="ms", direction="lower"),
        estimate("operational.estimated_cost_per_query", 0.00139, unit="USD", direction="lower"),
        estimate("operational.avg_tokens", 1834.2, unit="tokens", direction="lower"),
    )
    return {item.metric: item for item in found}


def baseline(**changes: Any) -> BaselineInfo:
    made = BaselineInfo(
        source="repo",
        detail="baselines/analytics.json",
        commit=BASE,
        created_at="2026-01-18T04:00:00Z",
        age_days=2.3,
        rounds=12,
        runs=4,
    )
    return replace(made, **changes)


def suite(name: str = "analytics", **changes: Any) -> SuiteReport:
    made = SuiteReport(
        name=name,
        outcome="pass",
        reason="No blocking metric got worse.",
        version="3",
        dataset=f"datasets/{name}/dataset.jsonl",
        dataset_digest="c0ffee12" * 8,
        cases=200,
        trials=600,
        rounds=3,
        metrics=metrics(),
        failures_top=(("fact_missing", 31), ("retrieval_miss", 12)),
        success_rate_ci95=(0.893, 0.937),
        baseline=baseline(),
    )
    return replace(made, **changes)


def change(number: int = 1, **changes: Any) -> CaseChange:
    made = CaseChange(
        suite="analytics",
        case_id=f"churn-by-quarter-{number:02}",
        category="churn",
        baseline_passed=12,
        baseline_rounds=12,
        current_passed=number % 3 // 2,
        current_rounds=3,
        failures=("fact_missing:4.2 %", "retrieval_miss:kb-112"),
        reason="4.2 % is not in the answer; kb-112 is not among the first 5 documents",
        p_value=0.001 * number,
    )
    return replace(made, **changes)


def passing(**changes: Any) -> Report:
    """Nothing got worse, one target is not reached yet."""
    compared = (
        comparison(),
        comparison(RECALL, baseline=0.93, current=0.931, delta=0.001, mde=0.026),
        latency(),
        comparison("retrieval.mrr", level="warn", baseline=0.88, current=0.88, delta=0.0),
    )
    made = Report(
        session_id="20260120-101500-0a1b2c3d",
        created_at="2026-01-20T10:15:00Z",
        duration_s=57.6,
        outcome="pass",
        exit_code=0,
        reason=describe_pass(compared, (), 0.8),
        policy=Policy(),
        provenance=Provenance(
            commit=HEAD,
            base_commit=BASE,
            config_digest="5eed" * 16,
            agent_digest="abad1dea" * 8,
            agent="openai deepseek/deepseek-v4-flash",
            judge="openai gpt-4o",
            tool_version="0.1.0",
            event="pull_request",
            mode="pull_request",
            seed=7,
            repository="acme/assistant",
            run_url=RUN,
            run_id="8123",
            run_attempt="1",
            pull_request=42,
        ),
        suites={"analytics": suite()},
        comparisons=compared,
        gates=(
            gate(),
            gate(RECALL, value=0.931, min=0.82, target=0.90, target_met=True),
            gate(
                P95,
                value=2281.4,
                min=None,
                max=5000.0,
                target=3000.0,
                target_met=True,
                unit="ms",
                direction="lower",
            ),
        ),
        cases=CaseChanges(
            newly_failing=(change(2),),
            newly_passing=(change(8, baseline_passed=2, current_passed=3, failures=(), reason=""),),
            flaky=(change(9, current_passed=2), change(10, current_passed=1)),
        ),
        calls=Calls(planned=600, cap=600, made=600, saved=0),
        cost=Cost(usd=0.8421, baseline_usd=0.8613),
        baseline=baseline(),
        reproduce="gate run --suite analytics --baseline auto",
    )
    return replace(made, **changes)


def stopped_early(**changes: Any) -> Report:
    """Nothing got worse, and the verdict stood before all planned trials were made."""
    calls = Calls(planned=600, cap=1200, made=240, saved=360)
    compared = (
        comparison(
            current=0.926, delta=0.006, ci_low=-0.041, ci_high=0.053, p_value=0.61, p_better=0.39
        ),
        comparison(RECALL, baseline=0.93, current=0.921, delta=-0.009, ci_low=-0.05, ci_high=0.032),
    )
    reason = with_calls(describe_pass(compared, (), 0.8), "pass", calls, trials=240)
    ended = {"look": 2, "looks": 10, "ended": "every blocking metric of it is settled"}
    dropped = (
        "run 20260111-040000-0b1c2d3e (commit 77e0a1b, 2026-01-11) and 3 older runs left out: "
    )
    info = baseline(
        rounds=6,
        runs=2,
        pooling=(
            f"{dropped}agent.success_rate differs by −4.2 pt from the newer runs (p = 0.003)",
            "the baseline's runs differ by more than chance, and the comparison allows "
            "for it: agent.success_rate by "
            "±0.8 pt (6 runs)",
        ),
    )
    made = replace(
        passing(),
        reason=reason,
        suites={"analytics": suite(reason=reason, trials=240, baseline=info, **ended)},
        comparisons=compared,
        cases=CaseChanges(),
        calls=calls,
        cost=Cost(usd=0.3368, baseline_usd=0.3445),
        baseline=info,
        duration_s=23.1,
    )
    return replace(made, **changes)


def _fallen() -> Comparison:
    return comparison(
        RECALL,
        baseline=0.933,
        current=0.842,
        delta=-0.091,
        ci_low=-0.132,
        ci_high=-0.05,
        p_value=0.0001,
        p_adjusted=0.0003,
        status="regression",
    )


_CUT = Calls(planned=600, cap=1200, made=431, saved=169)


def _failing_suite() -> dict[str, SuiteReport]:
    worse = {**metrics(), RECALL: estimate(RECALL, 0.842), FACTS: estimate(FACTS, 0.881)}
    below = "`correctness.fact_accuracy` is 0.881, below min 0.9 (interval 0.86 to 0.899)"
    reason = with_calls(
        join_reasons([describe_regression(_fallen()), below]), "fail", _CUT, trials=431
    )
    return {
        "analytics": suite(
            outcome="fail",
            reason=reason,
            metrics=worse,
            trials=431,
            look=4,
            looks=10,
            ended="`retrieval.recall@5` of analytics got worse",
        )
    }


def regression(**changes: Any) -> Report:
    """A blocking metric fell and ended the run, another is below its limit, latency may rise."""
    made = replace(
        passing(),
        outcome="fail",
        exit_code=1,
        reason=_failing_suite()["analytics"].reason,
        suites=_failing_suite(),
        comparisons=(
            _fallen(),
            comparison(
                FACTS,
                baseline=0.941,
                current=0.881,
                delta=-0.06,
                ci_low=-0.098,
                ci_high=-0.022,
                p_value=0.012,
                p_adjusted=0.024,
                status="suspected",
                settled=False,
            ),
            comparison(settled=False, mde=0.067),
            latency(current=2731.0, delta=0.182, ci_low=0.06, ci_high=0.31, status="regression"),
        ),
        gates=(
            gate(value=0.881, status="fail", ci_high=0.899),
            gate(RECALL, value=0.842, min=0.82, target=0.90, proved=False),
            gate(HALLUCINATION, value=0.021, min=None, max=0.05, target=0.02, direction="lower"),
        ),
        cases=CaseChanges(
            newly_failing=tuple(change(n) for n in range(1, 15)),
            newly_passing=(change(40, baseline_passed=0, current_passed=3, failures=()),) * 2,
            flaky=tuple(change(n, current_passed=2) for n in range(41, 46)),
            added=tuple(
                change(n, baseline_passed=None, baseline_rounds=None) for n in range(50, 53)
            ),
        ),
        calls=_CUT,
        duration_s=161.2,
        reproduce="gate run --suite analytics --case churn-by-quarter-01 --baseline auto",
    )
    return replace(made, **changes)


def gate_min(**changes: Any) -> Report:
    """Nothing got worse against the baseline, but a limit is broken and a metric is missing."""
    reason = "`correctness.fact_accuracy` is 0.8812, below min 0.9 (interval 0.86 to 0.899)"
    return replace(
        passing(),
        outcome="fail",
        exit_code=1,
        reason=reason,
        suites={"analytics": suite(outcome="fail", reason=reason)},
        gates=(
            gate(
                value=0.8812,
                status="fail",
                reason="FAIL: correctness.fact_accuracy = 0.8812 (minimum: 0.9)",
            ),
            gate(
                "correctness.faithfulness",
                value=None,
                min=4.0,
                target=4.5,
                status="missing",
                target_met=None,
                unit="points",
            ),
            gate(
                HALLUCINATION,
                value=0.0499,
                min=None,
                max=0.05,
                target=0.02,
                direction="lower",
                proved=False,
            ),
        ),
        **changes,
    )


def inconclusive(**changes: Any) -> Report:
    """A suspicion that all the trials that may be made did not settle."""
    fell = comparison(
        baseline=0.95,
        current=0.887,
        delta=-0.063,
        ci_low=-0.17,
        ci_high=0.04,
        p_value=0.031,
        p_adjusted=0.06,
        status="suspected",
        n_paired=20,
        mde=0.18,
    )
    calls = Calls(planned=60, cap=120, made=120, saved=0)
    reason = with_calls(describe_suspicion(fell, 0.8), "inconclusive", calls, trials=120)
    return replace(
        passing(),
        outcome="inconclusive",
        reason=reason,
        suites={
            "analytics": suite(
                outcome="inconclusive",
                reason=reason,
                cases=20,
                trials=120,
                look=10,
                looks=10,
                ended="all 120 trials were run",
            )
        },
        comparisons=(
            fell,
            latency(
                status="inconclusive",
                reason="60 of 100 calls needed for a p95",
                mde=None,
                n_paired=20,
            ),
        ),
        gates=(gate(proved=False),),
        calls=calls,
        cost=Cost(usd=0.1712),
        **changes,
    )


def no_baseline(**changes: Any) -> Report:
    """The first run of a repository."""
    nothing = BaselineInfo(source="none", detail="no baselines/analytics.json on main, no artifact")
    reason = "There is no baseline of `analytics` yet; limits were checked, changes were not"
    return replace(
        passing(),
        outcome="no_baseline",
        reason=reason,
        suites={
            "analytics": suite(
                outcome="no_baseline",
                reason=reason,
                baseline=nothing,
                foresight=Foresight(
                    metric=SUCCESS,
                    unit="share",
                    direction="higher",
                    relative=False,
                    least=0.064,
                    wanted=0.05,
                    cases=330,
                ),
            )
        },
        comparisons=(),
        gates=(gate(), gate(RECALL, value=0.931, min=0.82, target=0.90, target_met=True)),
        cases=CaseChanges(),
        cost=Cost(usd=None, unknown_models=("my-model",), unknown_trials=600),
        baseline=nothing,
        **changes,
    )


def not_comparable(**changes: Any) -> Report:
    other = baseline(
        fingerprint_diff=("agent model: `gpt-4o` -> `gpt-5`", "temperature: 0.2 -> 0.7"),
        notes=("older than 30 days",),
        age_days=44.0,
    )
    reason = "31 of 200 cases of the baseline were removed or changed; at most 10 % may be"
    return replace(
        passing(),
        outcome="not_comparable",
        exit_code=5,
        reason=reason,
        policy=Policy(not_comparable="fail"),
        suites={"analytics": suite(outcome="not_comparable", reason=reason, baseline=other)},
        comparisons=tuple(
            comparison(
                name,
                status="not_comparable",
                delta=None,
                ci_low=None,
                ci_high=None,
                mde=None,
                n_paired=169,
                p_adjusted=None,
            )
            for name in (SUCCESS, FACTS)
        ),
        gates=(gate(),),
        cases=CaseChanges(
            removed=tuple(change(n, current_passed=None, current_rounds=None) for n in range(31))
        ),
        baseline=other,
        **changes,
    )


def quoted(**changes: Any) -> Report:
    """Results of a benchmark, beside which others' are known."""
    rate = "swebench.resolved_rate"
    reason = (
        "There is no baseline of `swebench-verified` yet; limits were checked, changes were not"
    )
    first = replace(no_baseline(), reason=reason, cost=Cost(usd=212.4))
    verified = suite(
        "swebench-verified",
        outcome="no_baseline",
        reason=reason,
        cases=500,
        trials=500,
        rounds=1,
        metrics={SUCCESS: estimate(SUCCESS, 0.614), rate: estimate(rate, 0.614)},
        baseline=first.baseline,
        quoted=(
            QuotedValue(
                metric=rate, value=0.65, of="mini-SWE-agent", year=2025, source="example.org/swe"
            ),
            QuotedValue(metric=rate, value=1, of="human", year=2023, source="by construction"),
            QuotedValue(
                metric=SUCCESS, value=0.5, of="GPT-4", year=2023, source="a guide", approximate=True
            ),
        ),
    )
    return replace(first, suites={verified.name: verified}, gates=(), **changes)


def agent_down(**changes: Any) -> Report:
    """The agent could not be reached."""
    reason = (
        "no agent answers at http://127.0.0.1:14000 (connection refused); start it, or name "
        "another address with --base-url"
    )
    return replace(
        passing(),
        outcome="error",
        exit_code=6,
        reason=reason,
        suites={
            "analytics": suite(
                outcome="error",
                reason=reason,
                trials=0,
                metrics={},
                failures_top=(),
                success_rate_ci95=None,
                not_run=600,
            )
        },
        comparisons=(),
        gates=(gate(value=None, status="missing", target_met=None),),
        cases=CaseChanges(),
        calls=Calls(planned=600, cap=600, made=0, saved=0),
        cost=Cost(usd=None),
        duration_s=1.2,
        **changes,
    )


def several_suites(**changes: Any) -> Report:
    """Three suites, one failing, one without a baseline."""
    none = BaselineInfo(source="none")
    suites = {
        **_failing_suite(),
        "dialogue": suite(
            "dialogue",
            cases=32,
            trials=96,
            baseline=baseline(detail="baselines/dialogue.json"),
        ),
        "tool": suite(
            "tool",
            outcome="no_baseline",
            reason="There is no baseline yet",
            cases=12,
            trials=36,
            baseline=none,
            evidence=evidence_counts(),
        ),
    }
    first = regression()
    calls = Calls(planned=732, cap=1464, made=563, saved=169)
    reason = f"analytics: {join_reasons([describe_regression(_fallen()), 'a limit is broken'])}"
    made = replace(
        first,
        reason=with_calls(reason, "fail", calls, trials=563),
        calls=calls,
        suites=suites,
        comparisons=(*first.comparisons, comparison(suite="dialogue", n_paired=32)),
        gates=(*first.gates, gate(suite="tool"), gate(suite="dialogue")),
    )
    return replace(made, **changes)


def evidence_counts(**changes: Any) -> EvidenceCounts:
    """36 answers to tool tasks, one of which declares a call that never ran."""
    made = EvidenceCounts(
        complete=30,
        incomplete=2,
        unknown=4,
        fabricated=1,
        notes=(("no server log could be read", 4),),
        missing_calls=(("FI-1", "local_documents_scan"), ("MX-1", "web_fetch")),
        fabricated_calls=(("MX-1", "web_fetch"),),
    )
    return replace(made, **changes)


def loosened(**changes: Any) -> Report:
    """Rules are loosened, cases quarantined, trials lost, prices unknown, a grader out of order."""
    return regression(
        loosened=(
            "`correctness.fact_accuracy` min 0.9 -> 0.85 in `gate.yml:31`",
            "tolerance of `agent.success_rate`, `retrieval.recall@5` 0.02 -> 0.05 in `gate.yml:44`",
            "changes the grader file `checks.py`: its metrics are not compared",
            "removes 2 cases of `analytics`: `arr-01`, `arr-02`",
            "edits the baseline of `analytics`; the base branch's was used",
        ),
        notes=("gate.yml:9: retries: no grader reads this key",),
        suites={
            "analytics": replace(
                _failing_suite()["analytics"],
                infra_errors=7,
                agent_errors=2,
                error_reasons={"agent_error": "HTTP 500: out of memory"},
                graders_unscored={"judge": 12},
            )
        },
        cases=replace(
            regression().cases,
            quarantined=(change(70, current_passed=0),),
            errored=(change(71, current_passed=None, current_rounds=None, failures=()),),
            no_opinion=tuple(
                change(number, current_passed=None, current_rounds=None, failures=())
                for number in (72, 73)
            ),
        ),
        cost=Cost(usd=0.41, unknown_models=("my-model", "other"), unknown_trials=120),
        **changes,
    )


def accepted(**changes: Any) -> Report:
    """The regression again, after somebody with write permission accepted it."""
    first = regression()
    taken = replace(_fallen(), status="accepted", reason="this change was accepted")
    others = tuple(
        replace(
            row, status="no_regression", delta=-0.004, current=0.937, ci_low=-0.03, ci_high=0.02
        )
        if row.metric == FACTS
        else row
        for row in first.comparisons[1:]
    )
    compared = (taken, *others)
    gates = (gate(RECALL, value=0.842, min=0.9, target=None, status="accepted"), *first.gates[2:])
    reason = describe_pass(compared, gates, 0.8)
    made = replace(
        first,
        outcome="pass",
        exit_code=0,
        reason=reason,
        comparisons=compared,
        gates=gates,
        suites={"analytics": replace(_failing_suite()["analytics"], outcome="pass", reason=reason)},
        accepted=(
            AcceptedChange(
                who="octocat",
                when="2026-01-20T11:02:00Z",
                why="the new index trades recall for half the latency, agreed in #77",
                metrics=(RECALL,),
                url="https://github.com/acme/assistant/pull/42#issuecomment-1",
            ),
        ),
    )
    return replace(made, **changes)


def trend(**changes: Any) -> Report:
    """A pass with the base branch's history, and a budget."""
    history = {
        SUCCESS: (0.871, 0.876, None, 0.902, 0.911, 0.915, 0.92),
        RECALL: (0.931, 0.928, 0.93, 0.933, 0.929, 0.932, 0.93),
        FACTS: (0.92, None, None, None, None, None, None),
    }
    made = passing(suites={"analytics": suite(history=history)})
    before = comparison(
        "operational.avg_tokens",
        unit="tokens",
        level="warn",
        baseline=1790.0,
        current=1834.2,
        delta=0.025,
        relative=True,
    )
    slower = latency(
        metric="operational.mean_latency_ms", baseline=905.0, current=812.3, delta=-0.102
    )
    made = replace(
        made,
        comparisons=(*made.comparisons, before, slower),
        cost=replace(made.cost, budget_usd=5.0),
    )
    return replace(made, **changes)


def judge_fell(**changes: Any) -> Report:
    """A judge's score fell, and no case fails: nothing but the cases says why. Half of the answers
    one judge could not score.
    """
    fell = {"baseline": 4.6, "current": 3.9, "delta": -0.7, "ci_low": -0.88, "ci_high": -0.52}
    row = comparison(
        FAITHFUL, unit="points", tolerance=0.1, p_value=0.0001, status="regression", **fell
    )
    reason = describe_regression(row)
    one = suite(
        outcome="fail",
        reason=reason,
        metrics={**metrics(), FAITHFUL: estimate(FAITHFUL, 3.9, unit="points")},
        graders_unscored={"judge#2": 300},
        unscored_reasons={"judge#2": "0 of 1 votes came: the judge did not answer within 60 s"},
    )
    made = replace(
        passing(),
        outcome="fail",
        exit_code=1,
        reason=reason,
        suites={"analytics": one},
        comparisons=(row, comparison()),
        gates=(),
        cases=CaseChanges(),
        worse=(fall(), fall(HALLUCINATION, cases=2, unit="share", direction="lower", blocks=False)),
        cost=Cost(usd=0.84, budget_usd=5.0, judge_usd=1.2, judge_calls=600),
        reproduce="gate run --suite analytics --case churn-by-quarter-01 --baseline auto",
    )
    return replace(made, **changes)


def agent_fell(**changes: Any) -> Report:
    """An agent calls other tools than before and writes where it must not."""
    violations = comparison(
        "agent.safety_violations_per_100",
        baseline=0.0,
        current=1.0,
        delta=1.0,
        ci_low=0.2,
        ci_high=2.1,
        status="suspected",
        unit="per 100",
        direction="lower",
    )
    row = comparison(current=0.78, delta=-0.14, ci_low=-0.19, ci_high=-0.09, status="regression")
    reason = describe_regression(row)
    failing = (
        change(1, mode="wrong_tool", steps=steps_changed(), history=((3, 3), (3, 3), (6, 6))),
        change(2, mode="wrong_tool", steps=replace(steps_changed(), against="reference")),
        change(3, mode="safety"),
        change(4, mode="missing_tool_use"),
    )
    flaky = (change(9, current_passed=2, mode="retrieval_miss", history=((3, 3), (2, 3), (1, 3))),)
    made = replace(
        passing(),
        outcome="fail",
        exit_code=1,
        reason=reason,
        suites={"analytics": _agentic(outcome="fail", reason=reason)},
        comparisons=(row, violations),
        gates=(gate("agent.safety_violations_per_100", value=1.0, min=None, max=2.0, target=None),),
        cases=CaseChanges(newly_failing=failing, flaky=flaky),
        decision=Decision(deploy=False, reason="agent.success_rate of analytics got worse"),
        reproduce="gate run --suite analytics --case churn-by-quarter-01 --baseline auto",
    )
    return replace(made, **changes)


def steps_changed() -> StepDiff:
    search = 'search_documents(query="churn by quarter", top_k=5)'
    return StepDiff(
        against="baseline",
        round=1,
        steps=(
            StepChange(kind="same", was=search, now=search),
            StepChange(kind="removed", was='describe_table(table="subscriptions")'),
            StepChange(
                kind="changed",
                was='run_sql(sql="SELECT churned FROM subscriptions")',
                now='run_sql(sql="SELECT * FROM customers")',
            ),
            StepChange(kind="added", now="list_tables()"),
        ),
    )


def _agentic(**changes: Any) -> SuiteReport:
    """A suite about which everything is told that is told of agents."""
    leaked = Violation(rule="personal_data", detail="e-mail", excerpt="m***@example.com")
    wrote = Violation(rule="destructive", detail="DELETE", step=3, excerpt="DELETE FROM customers")
    ids = ("churn-by-quarter-01", "churn-by-quarter-02")
    return suite(
        modes=(
            ModeCount(mode="wrong_tool", trials=6, cases=2),
            ModeCount(mode="safety", trials=3, cases=1),
        ),
        clusters=(
            Cluster(
                mode="wrong_tool",
                label="missing_tool_call:run_sql, unexpected_tool_call:list_tables",
                trials=6,
                cases=ids,
                n_cases=2,
            ),
        ),
        categories=(
            _category("churn", success_rate=0.62, top_mode="wrong_tool", top_mode_cases=2),
            _category("orders", cost_per_task=None, cost_per_success=None, unknown_cost=12),
        ),
        reliability=Reliability(rounds=3, reliable=180, flaky=15, consistently_failing=5),
        violations=2,
        violation_log=(
            LoggedViolation(suite="analytics", case_id=ids[0], round=1, violation=leaked, by="s"),
            LoggedViolation(suite="analytics", case_id=ids[1], round=2, violation=wrote, by="s"),
        ),
        **changes,
    )


def _category(category: str, **changes: Any) -> CategoryReport:
    made = CategoryReport(
        category=category,
        cases=20,
        trials=60,
        success_rate=0.95,
        avg_steps=3.4,
        cost_per_task=0.0014,
        cost_per_success=0.0021,
    )
    return replace(made, **changes)


def fall(metric: str = FAITHFUL, **changes: Any) -> MetricFall:
    """22 cases of which 7 are known."""
    worst = tuple(
        CaseFall(
            case_id=f"churn-by-quarter-{n:02d}",
            baseline=5.0,
            current=1.0 + n / 3,
            reason="It says that the price rise made customers leave; the context names no cause.",
        )
        for n in range(1, 8)
    )
    made = MetricFall(
        suite="analytics",
        metric=metric,
        column=metric,
        unit="points",
        direction="higher",
        cases=22,
        fell=True,
        blocks=True,
        worst=worst,
    )
    return replace(made, **changes)


def many_failing(number: int = 40, **changes: Any) -> Report:
    first = regression()
    failing = tuple(change(n) for n in range(1, number + 1))
    return replace(first, cases=replace(first.cases, newly_failing=failing), **changes)


def hostile(text: str = HOSTILE) -> Report:
    """Hostile text wherever a string can stand."""
    first = several_suites()
    info = BaselineInfo(
        source=text,
        detail=text,
        commit=text,
        created_at=text,
        age_days=1.0,
        rounds=3,
        runs=2,
        fingerprint_diff=(text,),
        notes=(text,),
    )
    diff = StepDiff(
        against="baseline",
        round=1,
        steps=(StepChange(kind="changed", was=text, now=text), StepChange(kind="same", now=text)),
    )
    bad = change(
        1,
        suite=text,
        case_id=text,
        category=text,
        failures=(text, text),
        reason=text,
        mode="loop",
        steps=diff,
    )
    broken = Violation(rule=text, detail=text, step=1, excerpt=text)
    one = suite(
        text,
        outcome="fail",
        reason=text,
        version=text,
        dataset=text,
        dataset_digest=text,
        metrics={text: estimate(text, 0.5, unit=text, method=text, reason=text)},
        failures_top=((text, 3),),
        modes=(ModeCount(mode="loop", trials=3, cases=1),),
        clusters=(Cluster(mode="loop", label=text, trials=3, cases=(text,), n_cases=1),),
        categories=(_category(text), _category("b")),
        violations=1,
        violation_log=(LoggedViolation(suite=text, case_id=text, round=1, violation=broken),),
        baseline=info,
        graders_unscored={text: 3},
        unscored_reasons={text: text},
        evidence=evidence_counts(
            notes=((text, 4),), missing_calls=((text, text),), fabricated_calls=((text, text),)
        ),
        history={text: (0.1, 0.2, 0.3)},
        quoted=(QuotedValue(metric=text, value=0.5, of=text, year=2023, source=text),),
        infra_errors=1,
    )
    p = Provenance(
        commit=text,
        base_commit=text,
        config_digest=text,
        agent_digest=text,
        agent=text,
        judge=text,
        tool_version=text,
        event=text,
        mode="pull_request",
        repository=text,
        run_url=text,
        run_id=text,
        run_attempt=text,
    )
    return replace(
        first,
        session_id=text,
        created_at=text,
        reason=text,
        decision=Decision(deploy=True, reason=text),
        suites={text: one, "b": replace(one, name="b")},
        comparisons=(
            comparison(text, suite=text, status="regression", method=text, reason=text, unit=text),
            comparison(text, suite="b", level="warn", status="regression", reason=text),
        ),
        gates=(gate(text, suite=text, status="fail", reason=text, unit=text),),
        cases=CaseChanges(
            newly_failing=(bad, bad),
            newly_passing=(bad,),
            flaky=(bad,),
            added=(bad,),
            removed=(bad,),
            changed=(bad,),
            errored=(bad,),
            no_opinion=(bad,),
            quarantined=(bad,),
        ),
        worse=(
            fall(
                text,
                suite=text,
                unit=text,
                worst=(CaseFall(case_id=text, category=text, baseline=1, current=0, reason=text),),
            ),
        ),
        cost=Cost(usd=None, unknown_models=(text,), unknown_trials=2),
        baseline=info,
        provenance=p,
        loosened=(text, text),
        accepted=(AcceptedChange(who=text, when=text, why=text, metrics=(text,), url=text),),
        notes=(text,),
        comment_id=text,
        reproduce=text,
    )


SCENARIOS: Mapping[str, Callable[[], Report]] = {
    "pass": passing,
    "stopped_early": stopped_early,
    "fail_regression": regression,
    "fail_gate_min": gate_min,
    "inconclusive": inconclusive,
    "no_baseline": no_baseline,
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
    "hostile": hostile,
}


def row(case_id: str = "churn-by-quarter-01", round: int = 1, **changes: Any) -> dict[str, Any]:
    """One line of details.jsonl."""
    passed = changes.get("passed", True)
    failures = [] if passed else ["fact_missing:4.2 %"]
    return {
        "suite": "analytics",
        "case_id": case_id,
        "case_digest": "d1",
        "category": "churn",
        "tags": ["sql"],
        "round": round,
        "attempts": [
            {
                "n": 1,
                "status": "completed",
                "passed": passed,
                "failures": failures,
                "latency_ms": 812.0,
                "usage": None,
            }
        ],
        "status": "completed",
        "passed": passed,
        "failures": failures,
        "scores": {FACTS: 1.0 if passed else 0.5, RECALL: 1.0},
        "dimension_scores": {"correctness": 1.0, "retrieval": 1.0},
        "reasons": {} if passed else {"facts": "4.2 % is not in the answer"},
        "unscored": {},
        "latency_ms": 800.0 + 12 * round,
        "usage": {"input_tokens": 1500, "cached_tokens": 0, "output_tokens": 300},
        "cost_usd": 0.0014,
        "model": "deepseek/deepseek-v4-flash",
        "steps": [
            {
                "name": "sql",
                "arguments": {"query": "select 1"},
                "raw_arguments": None,
                "result": [[1]],
                "error": None,
                "id": "c1",
            }
        ],
        "question": "How did churn develop by quarter?",
        "output": "Churn fell from 5.1 % to 4.2 %.",
        "retrieved_ids": ["kb-112", "kb-077"],
        "safety_violations": [],
        "error": None,
        "started_at": "2026-01-20T10:15:01Z",
        **changes,
    }


def row_evidence(verdict: str = "complete", **changes: Any) -> dict[str, Any]:
    """The key `evidence` of a row."""
    lists = ("declared", "required", "missing", "fabricated", "undeclared", "logs", "notes")
    return {"verdict": verdict, "observed": None, **{name: [] for name in lists}, **changes}


def rows_of(report: Report, rounds: int = 3) -> Callable[[], Iterator[dict[str, Any]]]:
    """Rows for every case that a report names, and some that are well."""
    ids = {
        (c.suite, c.case_id): c
        for found in (report.cases.newly_failing, report.cases.flaky, report.cases.newly_passing)
        for c in found
    }

    def rows() -> Iterator[dict[str, Any]]:
        for (name, case_id), found in sorted(ids.items()):
            for number in range(1, rounds + 1):
                passed = number <= (found.current_passed or 0)
                yield row(case_id, number, suite=name, passed=passed, category=found.category)
        for name in report.suites:
            for number in range(5):
                for turn in range(1, rounds + 1):
                    yield row(f"steady-{number}", turn, suite=name, category="orders")

    return rows


def hostile_rows() -> Iterator[dict[str, Any]]:
    text = HOSTILE
    for number in (1, 2):
        yield row(
            text,
            number,
            suite=text,
            category=text,
            tags=[text],
            passed=False,
            failures=[text],
            mode="loop",
            trace_faults=[text],
            reasons={text: text},
            unscored={text: text},
            question=text,
            output=text,
            model=text,
            retrieved_ids=[text],
            safety_violations=[text],
            error=text,
            started_at=text,
            status="agent_error",
            evidence=row_evidence("unknown", missing=[text], fabricated=[text], notes=[text]),
            scores={text: 0.0},
            steps=[
                {
                    "name": text,
                    "arguments": {text: text},
                    "raw_arguments": text,
                    "result": text,
                    "error": text,
                    "id": text,
                }
            ],
        )
    yield row(
        text,
        3,
        suite="b",
        passed=None,
        status="infra_error",
        output=None,
        error=text,
        latency_ms=None,
        usage=None,
        steps=None,
        retrieved_ids=None,
        question=text,
    )
