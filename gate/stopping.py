"""Which suites are looked at while they run, so that the run can end once the verdict stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gate.archive import SuiteMeta
from gate.errors import UsageError
from gate.github.context import Job
from gate.prepare import SuitePlan
from gate.records import Config, Looks, RegressionRules, equal_looks


def stops_early(config: Config, job: Job, option: str | None) -> bool:
    """`--stop`, else gate.yml's rule; where that is silent a run of the base branch makes every
    round, because a baseline wants them all, and so does a release.

    Recorded answers are replayed whole: they cost nothing, and rounds beyond them do not exist.
    """
    if option is not None:
        return option == "early"
    if config.agent.name == "replay":
        return False
    if config.regression.stop is not None:
        return config.regression.stop == "early"
    own_run = job.mode == "branch" and job.head_ref == config.baseline.branch
    return not own_run and job.mode not in ("schedule", "release")


def with_looks(
    plans: tuple[SuitePlan, ...],
    compared: frozenset[str],
    rules: RegressionRules,
    *,
    concurrency: int,
) -> tuple[SuitePlan, ...]:
    """The plans, with looks for the suites that are `compared` with something. A batch between two
    looks keeps `concurrency` workers busy. Raises UsageError for more rounds than `max_rounds`.
    """
    return tuple(
        replace(plan, looks=_looks(plan, rules, concurrency))
        if plan.suite.name in compared
        else plan
        for plan in plans
    )


def as_begun(
    plans: tuple[SuitePlan, ...], stored: Mapping[str, SuiteMeta]
) -> tuple[SuitePlan, ...]:
    """The plans with the looks that a session began with: one plan a session, or its error
    probabilities would be none.
    """
    return tuple(replace(plan, looks=stored[plan.suite.name].looks) for plan in plans)


def _looks(plan: SuitePlan, rules: RegressionRules, concurrency: int) -> Looks | None:
    rounds, most = plan.suite.rounds, rules.max_rounds or 2 * plan.suite.rounds
    if most < rounds:
        raise UsageError(
            f"--rounds {rounds}: suite '{plan.suite.name}' has regression.max_rounds: {most}; give "
            "fewer rounds, or raise max_rounds in gate.yml"
        )
    if not plan.chosen:
        return None
    looks = equal_looks(len(plan.chosen) * most, batch=concurrency)
    return looks if len(looks.calls) > 1 else None  # a single one, at the cap, could spare nothing
