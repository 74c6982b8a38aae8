"""Imported answers judged again, by the graders and on the cases of gate.yml: only then can a new
run be compared with them in what graders decide. No model is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.errors import UsageError
from gate.plugins import Grader
from gate.records import Case, Config, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.run.grade import grade_attempt, values_of_failed_trial
from gate.run.prepare import Selection, SuitePlan, prepare
from gate.store.session import SuiteMeta
from gate.suites.config.load import select
from gate.suites.protection.rules import Rules

_SHOWN = 5
FIRST_FAILED = "first_attempt_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """One suite of gate.yml, for the answers of an imported one."""

    meta: SuiteMeta
    graders: Mapping[str, Grader]
    cases: Mapping[str, Case]
    keeps_last: bool  # the suite judges the last try, as `retry: any_failure` has it
    notes: tuple[str, ...] = ()
    new_cases: frozenset[str] = frozenset()
    edited: Mapping[str, str] = field(default_factory=dict)  # column -> why nothing compares it
    loosened: tuple[str, ...] = ()

    def graded(self, trial: Trial) -> Trial:
        """The trial with its case from the dataset, its answer graded. Where an earlier attempt
        failed, nobody knows how, the first one counts unless the suite says otherwise.
        """
        last, case = trial.attempts[-1], self.cases[trial.case.id]
        attempts = trial.attempts
        if last.status == "completed" and last.response is not None:
            again = grade_attempt(case, last.response, self.graders)
            again = replace(again, n=last.n, latency_ms=last.latency_ms)
            attempts = (*attempts[:-1], again)
            if len(attempts) > 1 and not self.keeps_last:
                first = replace(attempts[0], failures=(FIRST_FAILED,))
                return replace(trial, case=case, attempts=(first, *attempts[1:]), judged=0)
        return replace(trial, case=case, attempts=attempts)

    def on_agent_error(self, trial: Trial) -> dict[str, float | None]:
        """Column -> value of a trial without an answer."""
        failed = trial.attempt.status == "agent_error"
        return values_of_failed_trial(self.graders, trial.case) if failed else {}


def regrade_suites(
    found: Imported, suites: Mapping[str, ImportedSuite], config: Config, rules: Rules
) -> dict[str, Regraded]:
    """By suite; `rules` say whose cases judge. Raises UsageError for one that gate.yml does not
    have with its own tasks, or whose tasks are others than those that were asked; InvalidInput for
    a dataset that is wrong.
    """
    mine = {suite.name: suite for suite in config.suites}
    for name in suites:
        if name not in mine or Path(mine[name].dataset).is_absolute():
            raise UsageError(
                f"--regrade: {config.file or 'gate.yml'} has no suite '{name}' with its own "
                "`dataset`; add one whose `dataset` is the file or folder of that run's tasks"
            )
    unjudged = select(replace(config, judge=None, verifier=None), tuple(suites), rules.root)
    plans = prepare(unjudged.suites, replace(rules, config=unjudged), Selection())
    case_ids: dict[str, set[str]] = {name: set() for name in suites}
    for trial in found.trials():
        if trial.suite in case_ids:
            case_ids[trial.suite].add(trial.case.id)
    return {
        plan.name: _regrade_suite(plan, suites[plan.name], case_ids[plan.name]) for plan in plans
    }


def _regrade_suite(plan: SuitePlan, suite: ImportedSuite, case_ids: set[str]) -> Regraded:
    unknown = sorted(case_ids - plan.digests.keys())
    if unknown:
        some = ", ".join(f"'{task[:80]}'" for task in unknown[:_SHOWN])
        raise UsageError(
            f"--regrade: {len(unknown)} of the {len(case_ids)} tasks of '{plan.name}' are "
            f"not in {plan.suite.dataset} ({some}); set `dataset` to the tasks of that run"
        )
    left_out = len(plan.digests) - len(case_ids)
    meta = replace(
        plan.meta(), rounds=suite.rounds, cases=len(case_ids), not_selected=left_out, looks=None
    )
    note = (
        f"{plan.name}: the answers were graded again by the suite of gate.yml; "
        "whether its tasks have the same wording as the original ones is not known"
    )
    return Regraded(
        meta=meta,
        graders=plan.graders,
        cases={case.id: case for case in plan.cases() if case.id in case_ids},
        keeps_last=plan.suite.retry == "any_failure",
        notes=(note,),
        new_cases=plan.new_cases,
        edited=plan.edited,
        loosened=plan.loosened,
    )
