"""Which suites are looked at while they run, so that the run can end once the verdict stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gate.errors import UsageError
from gate.github.context import Job
from gate.records import Config, Looks, RegressionRules, equal_looks
from gate.run.prepare import SuitePlan
from gate.store.session import SuiteMeta


def stops_early(config: Config, job: Job, option: str | None) -> bool:
    """`--stop`, else gate.yml's rule. A run of the base branch makes every round unless the option
    says otherwise, because a baseline wants them all; so does a release.

    Recorded answers are replayed whole: they cost nothing, and rounds beyond them do not exist.
    """
    if option is not None:
        return option == "early"
    if config.agent.name == "replay" or _measures(config, job):
        return False
    return config.regression.stop == "early"


def extends(config: Config, job: Job, option: str | None) -> bool:
    """Whether a run that makes all its planned trials goes on to the cap where they leave a doubt:
    `policy.inconclusive: extend`.
    """
    wanted = config.policy.inconclusive == "extend" and config.agent.name != "replay"
    return wanted and not (_measures(config, job) or stops_early(config, job, option))


def _measures(config: Config, job: Job) -> bool:
    own_run = job.mode == "branch" and job.head_ref == config.baseline.branch
    return own_run or job.mode in ("schedule", "release")


def with_looks(
    plans: tuple[SuitePlan, ...],
    compared: frozenset[str],
    config: Config,
    *,
    early: bool,
    concurrency: int,
) -> tuple[SuitePlan, ...]:
    """The plans with looks at the suites that are `compared` with something, and, where a run may
    end `early`, at those with a limit that could break for certain. A batch between two looks keeps
    `concurrency` workers busy. Raises UsageError for more rounds than `max_rounds`.
    """
    found = []
    for plan in plans:
        looks = None
        if plan.chosen and plan.suite.name in compared:
            looks = _compared(plan, config.regression, early=early, concurrency=concurrency)
        elif plan.chosen and early and _has_limits(plan, config):
            looks = equal_looks(len(plan.chosen) * plan.suite.rounds, batch=concurrency)
        # A single look, at the end, could spare nothing.
        found.append(replace(plan, looks=looks if looks and len(looks.calls) > 1 else None))
    return tuple(found)


def as_begun(
    plans: tuple[SuitePlan, ...], stored: Mapping[str, SuiteMeta]
) -> tuple[SuitePlan, ...]:
    """The plans with the looks that a session began with: one plan a session, or its error
    probabilities would be none.
    """
    return tuple(replace(plan, looks=stored[plan.suite.name].looks) for plan in plans)


def _compared(
    plan: SuitePlan, rules: RegressionRules, *, early: bool, concurrency: int
) -> Looks | None:
    rounds, most = plan.suite.rounds, rules.max_rounds or 2 * plan.suite.rounds
    if most < rounds:
        raise UsageError(
            f"--rounds {rounds}: suite '{plan.suite.name}' has regression.max_rounds: {most}; give "
            "fewer rounds, or raise max_rounds in gate.yml"
        )
    planned, cap = (len(plan.chosen) * number for number in (rounds, most))
    if early:
        return equal_looks(cap, batch=concurrency)
    return Looks(calls=(planned, cap)) if cap > planned else None


def _has_limits(plan: SuitePlan, config: Config) -> bool:
    """A gate that can fail a run without any baseline."""
    shared = (gate for gate in config.gates if gate.metric in plan.specs)
    return any(
        gate.level == "block" and (gate.min is not None or gate.max is not None)
        for gate in (*plan.suite.gates, *shared)
    )
