"""Replays a run with its looks: after the same trials, in the same order of the cases, so that it
ends in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gate.agents.under_test import Replays
from gate.github.context import Job
from gate.plugins import Agent, World
from gate.records import Config
from gate.run.early_stopping import may_stop_early, most_rounds
from gate.run.options import RunOptions
from gate.run.prepare import SuitePlan

if TYPE_CHECKING:
    from gate.agents.recordings.run_end import RunEnd, SuiteEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class AsRecorded:
    """The plans of a run; `seed`: of the order of the cases, None if no recorded looks are used."""

    plans: tuple[SuitePlan, ...]
    seed: str | None = None
    notes: tuple[str, ...] = ()


def take_recorded_looks(
    plans: tuple[SuitePlan, ...],
    agent: Agent,
    world: World,
    config: Config,
    job: Job,
    options: RunOptions,
) -> AsRecorded:
    """The plans with the looks of the recorded run, if the suite has the same cases and planned
    rounds and the present rules allow it: anybody can have made a recording. Raises UsageError if
    the file is not a recording.
    """
    partial = options.shard or options.case or options.failed or options.joins is not None
    if not isinstance(agent, Replays) or partial or options.stop_rule == "off":
        return AsRecorded(plans=plans)
    recording = agent.load_recording(world)
    end = recording.end
    if end is None:
        return AsRecorded(plans=plans, notes=(recording.note,) if recording.note else ())
    early = may_stop_early(config, job, options.stop_rule)
    with_looks = tuple(
        _take_looks(plan, end.suites.get(plan.name), config, early) for plan in plans
    )
    taken = any(
        now.looks is not before.looks for now, before in zip(with_looks, plans, strict=True)
    )
    return AsRecorded(
        plans=with_looks,
        seed=end.seed if taken else None,
        notes=tuple(_tell_left_out(with_looks, end, recording.name)) if end.early else (),
    )


def _take_looks(plan: SuitePlan, end: SuiteEnd | None, config: Config, early: bool) -> SuitePlan:
    looks = end.looks if end else None
    if end is None or looks is None or not end.fits(plan.chosen, plan.suite.rounds):
        return plan
    chosen = len(plan.chosen)
    within = looks.cap <= chosen * most_rounds(plan, config.regression)
    allowed = early or looks.calls[0] >= chosen * plan.suite.rounds
    return replace(plan, looks=looks) if within and allowed else plan


def _tell_left_out(plans: tuple[SuitePlan, ...], end: RunEnd, file: str) -> Iterator[str]:
    """Suites whose looks were not taken over."""
    for plan in plans:
        name, before = plan.name, end.suites.get(plan.name)
        if before is not None and before.looks is not None and plan.looks != before.looks:
            yield (
                f"suite {name}: `{Path(file).name}` was recorded with other cases, rounds, `stop` "
                "or `max_rounds`, so the recorded points for early stopping are not used"
            )
