"""From tables to the report: estimates, verdict, case evidence; for run, compare and merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gate.analysis.categories import categories
from gate.analysis.estimates import estimates, success_of_cases_like_these
from gate.analysis.reliability import count_cases, measure_reliability
from gate.analysis.spreads import measure_spreads
from gate.analysis.totals import dimension_scores, sum_totals
from gate.records import (
    AcceptedChange,
    CaseChanges,
    CaseTexts,
    Config,
    Estimate,
    FailureCause,
    Foresight,
    LoggedViolation,
    Report,
    SuiteReport,
    Verdict,
)
from gate.records.baseline import AnchorReport, AnswersOf, no_answers_of
from gate.records.codec import from_json
from gate.records.trial_row import RowsOf
from gate.verdict.case_texts import texts_by_suite
from gate.verdict.debug_command import reproduce, worst_failing
from gate.verdict.decide import decide
from gate.verdict.deployment import decide_deployment
from gate.verdict.explain import with_evidence, with_history, with_modes, worst_cases
from gate.verdict.reasons import describe_floor
from gate.verdict.run_history import tell_history
from gate.verdict.spending import count_calls, reason_with_calls, sum_cost
from gate.verdict.stop_rule import LookResult, look_at_suites
from gate.verdict.suite_data import Setting, SuiteData, first_baseline

SEED = 0  # of intervals that draw


def conclude(
    measured: Sequence[SuiteData],
    config: Config,
    setting: Setting,
    rows_of: RowsOf,
    answers_of: AnswersOf = no_answers_of,
) -> Report:
    """The verdict and everything a reporter shows. `rows_of`: the rows of some cases of a suite;
    `answers_of`: what the base branch answered to them.
    """
    numbers = {one.name: _numbers(one) for one in measured}
    suites = _with_rules(measured, config, setting)
    anchors = _report_anchors(suites, config, setting)
    verdict = decide(
        suites,
        gates=config.gates,
        regression=config.regression,
        policy=config.policy,
        elsewhere=setting.elsewhere,
        anchors=anchors,
    )
    worse = worst_cases(measured, verdict, rows_of)
    cases, causes = _explain_cases(verdict.cases, measured, rows_of)
    worst = worst_failing(verdict.cases, worse, "fail", measured, config.quarantined)
    foresight = _foresee(measured, verdict, config, setting)
    texts = texts_by_suite(worst, rows_of, answers_of, shown=setting.shows_answers)
    return Report(
        session_id=setting.session_id,
        created_at=setting.created_at,
        duration_s=setting.duration_s,
        outcome=verdict.outcome,
        exit_code=verdict.exit_code,
        reason=reason_with_calls(verdict.reason, verdict.outcome, measured),
        policy=config.policy,
        provenance=setting.provenance,
        suites={
            one.name: replace(
                _suite(one, numbers[one.name], verdict, texts.get(one.name, {})),
                foresight=foresight.get(one.name),
                anchor=anchors.get(one.name),
            )
            for one in measured
        },
        comparisons=verdict.comparisons,
        gates=verdict.gates,
        cases=cases,
        calls=count_calls(measured),
        cost=sum_cost(measured, config),
        baseline=first_baseline(measured),
        loosened=setting.loosened,
        unprotected=setting.unprotected,
        notes=(*setting.notes, *_floors(verdict)),
        worse=worse,
        accepted=_open_acceptances(measured, setting),
        comment_id=setting.comment_id,
        reproduce=reproduce(verdict, worse, measured, config, setting),
        next_command=setting.next_commands.get(verdict.outcome, ""),
        alpha=config.regression.alpha,
        power=config.regression.power,
        shows_answers=setting.shows_answers,
        page_url=setting.page_url,
        decision=decide_deployment(verdict, config.policy) if setting.is_deployed else None,
        overall=sum_totals(
            [one.current for one in measured], (one.tally.codes for one in measured)
        ),
        causes=causes,
    )


def _foresee(
    measured: Sequence[SuiteData], verdict: Verdict, config: Config, setting: Setting
) -> Mapping[str, Foresight]:
    if all(outcome != "no_baseline" for outcome, _ in verdict.suites.values()):
        return {}
    from gate.verdict.planning.plan import foresee_first_runs

    return foresee_first_runs(measured, verdict, config, setting)


def _report_anchors(
    suites: Sequence[SuiteData], config: Config, setting: Setting
) -> Mapping[str, AnchorReport]:
    if all(one.compared.anchor is None for one in suites):
        return {}
    from gate.verdict.anchor import report_anchors

    return report_anchors(suites, config, setting)


def _floors(verdict: Verdict) -> list[str]:
    """Suites of which nothing passed, and that do not fail for it."""
    warned = {name: floor for name, floor in verdict.floors.items() if floor.mild}
    return [f"suite {name}: {describe_floor(floor)}" for name, floor in warned.items()]


def _explain_cases(
    cases: CaseChanges, measured: Sequence[SuiteData], rows_of: RowsOf
) -> tuple[CaseChanges, tuple[FailureCause, ...]]:
    """With their history, what failed in them and how steps differ; and what is behind them."""
    cases = with_modes(with_evidence(with_history(cases, measured), rows_of), measured)
    if not (cases.newly_failing or cases.flaky):
        return cases, ()
    from gate.verdict.causes import with_causes

    return with_causes(cases, measured, rows_of)


def _numbers(data: SuiteData) -> dict[str, Estimate]:
    if not data.labels:
        return estimates(data.current, data.current.specs)
    from gate.analysis.agreement import correct_estimates

    return correct_estimates(data.current, data.labels)


def look(measured: Sequence[SuiteData], config: Config, setting: Setting) -> LookResult:
    """The same question while the run goes on: which suites need more trials."""
    suites = _with_rules(measured, config, setting)
    return look_at_suites(suites, gates=config.gates, regression=config.regression)


def _with_rules(measured: Sequence[SuiteData], config: Config, setting: Setting) -> list[SuiteData]:
    """With what the whole run says of each: which cases and changes do not count, who answered."""
    return [
        replace(
            one,
            quarantined=config.quarantined,
            accepted=frozenset(name for change in meant for name in change.metrics),
            accepts_all=any(not change.metrics for change in meant),
            answered=setting.answered,
        )
        for one in measured
        for meant in [_open_acceptances([one], setting)]
    ]


def _open_acceptances(
    measured: Sequence[SuiteData], setting: Setting
) -> tuple[AcceptedChange, ...]:
    """What was accepted, without what every one of these baselines has taken in: the nightly run at
    a merged commit finds the same comment again.
    """
    if not setting.accepted:
        return ()
    from gate.store.baseline.pool import not_yet_in

    left = [not_yet_in(one.compared.accepted, setting.accepted) for one in measured]
    return tuple(change for change in setting.accepted if any(change in some for some in left))


def _suite(
    data: SuiteData,
    numbers: Mapping[str, Estimate],
    verdict: Verdict,
    texts: Mapping[str, CaseTexts],
) -> SuiteReport:
    outcome, reason = verdict.suites[data.name]
    return SuiteReport(
        name=data.name,
        outcome=outcome,
        reason=reason_with_calls(reason, outcome, [data]),
        version=data.meta.version,
        dataset=data.meta.dataset,
        dataset_digest=data.meta.dataset_digest,
        cases=data.meta.cases,
        trials=data.tally.trials,
        rounds=data.meta.rounds,
        metrics=numbers,
        failures_top=data.tally.top(),
        baseline=data.compared.info,
        **_for_cases_like_these(data),
        infra_errors=data.tally.infra_errors,
        agent_errors=data.tally.agent_errors,
        error_reasons=data.tally.error_reasons,
        failed_latency_ms=data.tally.failed_latency.amounts(),
        not_run=data.not_run,
        not_selected=data.meta.not_selected,
        look=data.look,
        looks=len(data.meta.looks.calls) if data.meta.looks else 0,
        ended=data.ended,
        graders_unscored=dict(sorted(data.tally.unscored.items())),
        unscored_reasons=data.tally.mostly(),
        **tell_history(data, verdict),
        violations=data.tally.violations.total,
        violation_log=tuple(
            from_json(LoggedViolation, row) for row in data.tally.violations.list_first()
        ),
        modes=data.tally.failures.modes(),
        categories=categories(data.current, data.tally.failures.by_case()),
        counts=count_cases(data.current),
        reliability=measure_reliability(data.current),
        clusters=data.tally.failures.clusters(),
        evidence=data.tally.evidence.counts(),
        quoted=tuple(q for q in data.meta.quoted if q.metric in numbers),
        floor=verdict.floors.get(data.name),
        dimension_scores=dimension_scores(data.current),
        people=data.people,
        texts=texts,
        spreads=measure_spreads(data.current, data.baseline),
    )


def _for_cases_like_these(data: SuiteData) -> dict[str, Any]:  # of SuiteReport
    bounds = success_of_cases_like_these(data.current, SEED)
    if bounds is None:
        return {"success_rate_ci95": None}
    return {
        "success_rate_ci95": (bounds.low, bounds.high),
        "success_rate_method": bounds.method,
        "success_rate_seed": SEED if bounds.drawn else None,
    }
