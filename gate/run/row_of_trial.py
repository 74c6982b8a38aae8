"""A finished trial as a row of its suite: with its cost, and with the values of a failed one."""

from __future__ import annotations

from collections.abc import Mapping

from gate.agents.pricing import trial_cost
from gate.plugins import Grader
from gate.records import MetricSpec, Price, Trial, TrialRow
from gate.run.grade import gives_no_verdict, values_of_failed_trial
from gate.store.trial_rows import row_of


def row_of_trial(
    trial: Trial,
    graders: Mapping[str, Grader],
    specs: Mapping[str, MetricSpec],
    prices: Mapping[str, Price],
) -> TrialRow:
    """The row. `graders` by name and `specs` by metric: those of the trial's suite; `prices` by
    model.
    """
    failed = trial.attempt.status == "agent_error"
    return row_of(
        trial,
        cost_usd=trial_cost(trial, prices),
        on_agent_error=values_of_failed_trial(graders, trial.case) if failed else {},
        specs=specs,
        ungraded=failed and gives_no_verdict(graders, trial.case),
    )
