"""Which suites have interim looks, so that the run can end once the verdict is clear."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gate.errors import UsageError
from gate.github.context import Job
from gate.records import Config, GateRule, Looks, RegressionRules, equal_looks
from gate.run.prepare import SuitePlan
from gate.store.session import SuiteMeta


def stops_early(config: Config, job: Job, option: str | None) -> bool:
    """Whether the run may end early: `--stop`, else gate.yml. Without the option, runs of the base
    branch make every round, because a baseline needs them, and so do releases. Recorded answers are
    replayed completely unless the recording has its looks (recorded_looks.py).
    """
    replayed = option is None and config.agent.name == "replay"
    return not replayed and may_stop_early(config, job, option)


def may_stop_early(config: Config, job: Job, option: str | None) -> bool:
    """Whether the run may end early, without regard to recorded answers."""
    if option is not None:
        return option == "early"
    return config.regression.stop != "off" and not _measures(config, job)


def extends(config: Config, job: Job, option: str | None) -> bool:
    """Whether a run that makes all its planned trials adds rounds up to the maximum if they leave a
    doubt: `policy.inconclusive: extend`.
    """
    wanted = config.policy.inconclusive == "extend" and config.agent.name != "replay"
    return wanted and not (_measures(config, job) or stops_early(config, job, option))


def asks_again(config: Config, job: Job, option: str | None) -> bool:
    """Whether a release, which makes all its planned trials, adds rounds for a value that is beyond
    its limit but not certainly. Not if gate.yml or `--stop` says off, nor in a run that measures
    the base branch.
    """
    wanted = option is None and config.regression.stop != "off" and job.mode == "release"
    return wanted and config.agent.name != "replay"


def _measures(config: Config, job: Job) -> bool:
    own_run = job.mode == "branch" and job.head_ref == config.baseline.branch
    return own_run or job.mode in ("schedule", "release")


def plan_looks(
    plans: tuple[SuitePlan, ...],
    compared: frozenset[str],
    config: Config,
    *,
    early: bool,
    concurrency: int,
) -> tuple[SuitePlan, ...]:
    """The plans with looks: for suites that are `compared` or have a limit that the value decides,
    because both may need rounds up to `max_rounds`; and, if the run may end `early`, for suites
    with any limit. A batch keeps `concurrency` workers busy. Raises UsageError if `rounds` exceeds
    `max_rounds`.
    """
    with_looks_planned = []
    for plan in plans:
        limits = list(_limits(plan, config))
        by_value = any(gate.effective_rule == "point" for gate in limits)
        looks = None
        if plan.chosen and (plan.name in compared or by_value):
            looks = _looks_up_to_cap(
                plan, config.regression, early=early, by_value=by_value, concurrency=concurrency
            )
        elif plan.chosen and early and limits:
            looks = equal_looks(plan.planned, batch=concurrency)
        # A single look, at the end, could spare nothing.
        with_looks_planned.append(
            replace(plan, looks=looks if looks and len(looks.calls) > 1 else None)
        )
    return tuple(with_looks_planned)


def restore_looks(
    plans: tuple[SuitePlan, ...], stored: Mapping[str, SuiteMeta]
) -> tuple[SuitePlan, ...]:
    """The plans with the looks with which the session began. A session keeps one plan, because its
    error probabilities belong to it.
    """
    return tuple(replace(plan, looks=stored[plan.name].looks) for plan in plans)


def most_rounds(plan: SuitePlan, rules: RegressionRules) -> int:
    """The maximum number of rounds of a suite."""
    return rules.max_rounds or 2 * plan.suite.rounds


def _looks_up_to_cap(
    plan: SuitePlan, rules: RegressionRules, *, early: bool, by_value: bool, concurrency: int
) -> Looks | None:
    rounds, most = plan.suite.rounds, most_rounds(plan, rules)
    if most < rounds:
        raise UsageError(
            f"--rounds {rounds}: suite '{plan.name}' has regression.max_rounds: {most}; give "
            "fewer rounds, or raise max_rounds in gate.yml"
        )
    planned, cap = (len(plan.chosen) * number for number in (rounds, most))
    looks = equal_looks(cap, batch=concurrency)
    if early and (len(looks.calls) > 1 or not by_value):
        return looks
    return Looks(calls=(planned, cap)) if cap > planned else None


def _limits(plan: SuitePlan, config: Config) -> Iterator[GateRule]:
    """Gates that can fail a run without any baseline."""
    own_metrics = {gate.metric for gate in plan.suite.gates}
    shared = (g for g in config.gates if g.metric in plan.specs and g.metric not in own_metrics)
    for gate in (*plan.suite.gates, *shared):
        if gate.level == "block" and gate.has_limit:
            yield gate
