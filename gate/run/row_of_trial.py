"""A finished trial as a row of its suite: with its cost, and with the values of a failed one."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gate.agents.pricing import listed_models, trial_cost
from gate.analysis.expected import expected_in_row
from gate.plugins import Grader
from gate.records import MetricSpec, Price, Trial, TrialRow
from gate.run.grade import gives_no_verdict, values_of_failed_trial
from gate.store.trial_rows import row_of


def row_of_trial(
    trial: Trial,
    graders: Mapping[str, Grader],
    specs: Mapping[str, MetricSpec],
    prices: Mapping[str, Price],
    expected_keys: Collection[str],
) -> TrialRow:
    """The row. `graders` by name and `specs` by metric: those of the trial's suite; `prices` by
    model; `expected_keys`: of the case, that its first round carries.
    """
    failed = trial.attempt.status == "agent_error"
    cost_usd = trial_cost(trial, prices)
    return row_of(
        trial,
        cost_usd=cost_usd,
        listed=listed_models(trial, prices) if cost_usd else (),
        on_agent_error=values_of_failed_trial(graders, trial.case) if failed else {},
        specs=specs,
        ungraded=failed and gives_no_verdict(graders, trial.case),
        expected=expected_in_row(trial, expected_keys),
    )
