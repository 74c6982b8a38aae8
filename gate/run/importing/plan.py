"""What an import writes: its suites, as a session has them, and its trials as rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from gate.agents.pricing import listed_models, trial_cost, with_list_prices
from gate.analysis.catalogue import collect_k, every_metric
from gate.analysis.expected import expected_in_row
from gate.errors import InvalidInput, Problem, UsageError
from gate.files.plain import digest_of, newest
from gate.files.timestamps import moment_of
from gate.importers.trials.build import JUDGED, MOST_TRIALS
from gate.plugins import Grader
from gate.records import Case, Config, Json, MetricSpec, Price, Provenance, Trial, TrialRow
from gate.records.codec import to_json
from gate.records.imported import Imported, ImportedSuite
from gate.run.accepted_changes import Accepted
from gate.run.grade import grade_attempt, values_of_failed_trial
from gate.run.importing.place import ImportPlace
from gate.run.options import ImportOptions
from gate.run.prepare import Selection, SuitePlan, prepare
from gate.store.baseline.find import Compared
from gate.store.session import Meta, SuiteMeta, new_session_id
from gate.store.trial_rows import row_of
from gate.suites.config.load import select
from gate.suites.protection.rules import Rules
from gate.text.suggestions import did_you_mean

_SHOWN = 5
FIRST_FAILED = "first_attempt_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """What an import writes, and the rules that judge it."""

    found: Imported
    created_at: str
    place: ImportPlace
    session_id: str
    provenance: Provenance
    metas: Mapping[str, SuiteMeta]
    baselines: Mapping[str, Compared]
    prices: Mapping[str, Price]
    again: Mapping[str, Regraded] = field(default_factory=dict)  # suites that are graded again
    options: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accepted: Accepted = field(default_factory=Accepted)

    def rows(self) -> Iterator[TrialRow]:
        """The trials as rows. Raises InvalidInput for a duplicate trial, and for too many."""
        seen: dict[tuple[str, int], set[str]] = {}  # suite and round -> cases
        wanted = (trial for trial in self.found.trials() if trial.suite in self.metas)
        for number, trial in enumerate(wanted, 1):
            cases = seen.setdefault((trial.suite, trial.round), set())
            if trial.case.id in cases:
                raise InvalidInput([_report_duplicate(trial)])
            cases.add(trial.case.id)
            if number > MOST_TRIALS:
                raise UsageError(
                    f"more than {MOST_TRIALS:,} results; import them in parts, or choose "
                    "one suite with --suite"
                )
            yield self._row(trial)

    def meta(self) -> Meta:
        return Meta(
            session_id=self.session_id,
            created_at=self.created_at,
            provenance=self.provenance,
            suites=self.metas,
            options=self.options,
            health=to_json(self.found.health) if self.found.health else {},
        )

    def _row(self, trial: Trial) -> TrialRow:
        mine = self.again.get(trial.suite)
        graded = mine.graded(trial) if mine else trial
        cost_usd = trial_cost(trial, self.prices)
        row = row_of(
            graded,
            cost_usd=cost_usd,
            listed=listed_models(trial, self.prices) if cost_usd else (),
            on_agent_error=mine.on_agent_error(graded) if mine else _values_of_failed(graded),
            specs=self.metas[trial.suite].specs,
            expected=expected_in_row(graded, mine.expected_keys if mine else None)
            if self.place.config.report.answers
            else None,
        )
        row["started_at"] = row["started_at"] or self.created_at
        return row


def _report_duplicate(trial: Trial) -> Problem:
    message = (
        f"{trial.suite}: the case '{trial.case.id[:80]}' has two results for round "
        f"{trial.round} - keep one"
    )
    return Problem(trial.case.place, message)


def _values_of_failed(trial: Trial) -> dict[str, float | None]:
    """What the source itself gives an answer that never came."""
    return {k: v for score in trial.attempt.scores.values() for k, v in score.values.items()}


def import_plan(
    options: ImportOptions,
    name: str,
    found: Imported,
    suites: Mapping[str, ImportedSuite],
    place: ImportPlace,
) -> ImportPlan:
    config = place.config
    again = regrade_suites(found, suites, config, place.rules) if options.regrade else {}
    cutoffs = collect_k(config)
    metas = {
        suite: again[suite].meta if again else _suite_meta(imported_suite, cutoffs)
        for suite, imported_suite in suites.items()
    }
    graders = {suite: meta.graders for suite, meta in metas.items()}
    digest = digest_of(found.files)
    mark = hashlib.sha256(f"{digest}\n{sorted(suites)}\n{to_json(graders)}".encode()).hexdigest()
    stated_time = moment_of(found.created_at)
    moment = _moment(options.at, stated_time, found)
    provenance = place.describe_provenance(found.provenance)
    accepted = place.find_accepted({metric for meta in metas.values() for metric in meta.specs})
    return ImportPlan(
        found=found,
        created_at=f"{moment:%Y-%m-%dT%H:%M:%S}Z",
        place=place,
        session_id=new_session_id(moment, lambda n: mark[: 2 * n]),
        provenance=provenance,
        metas=metas,
        baselines={
            n: place.compared(n, meta.dataset_digest, provenance) for n, meta in metas.items()
        },
        prices=with_list_prices(config.pricing),
        again=again,
        options={"import": name, **found.options},
        accepted=accepted,
        notes=(
            *place.notes,  # whose rules judge first: a file may have any number of notes
            *found.notes,
            *([] if options.at or stated_time else [_FILES_TIME]),
            *(note for imported_suite in again.values() for note in imported_suite.notes),
            *accepted.notes,
        ),
    )


_FILES_TIME = (
    "the results do not say when they were measured: the time of the newest file is used "
    "(set another with --at)"
)


def _moment(given: datetime | None, stated: datetime | None, imported: Imported) -> datetime:
    """In UTC. Raises UsageError for a time that has no place in a session's name."""
    moment = moment_of(given.isoformat()) if given else stated or newest(imported.files)
    if moment is None:
        what = "--at" if given else "the time of the newest file"
        raise UsageError(f"{what}: not a time between the years 1970 and 9999; set one with --at")
    return moment


def choose_suites(
    suites: Mapping[str, ImportedSuite], names: Sequence[str]
) -> Mapping[str, ImportedSuite]:
    """The suites that --suite names. Raises UsageError."""
    for name in names:
        if name not in suites and name != "all":
            raise UsageError(
                f"--suite {name}: not in the imported results{did_you_mean(name, [*suites])}"
            )
    return suites if not names or "all" in names else {n: suites[n] for n in suites if n in names}


def _suite_meta(suite: ImportedSuite, cutoffs: frozenset[int]) -> SuiteMeta:
    return SuiteMeta(
        dataset=suite.dataset,
        dataset_digest=suite.dataset_digest,
        version=suite.version,
        rounds=suite.rounds,
        cases=suite.cases,
        specs=_choose_measurable(every_metric([suite.metrics], suite.rounds, cutoffs), suite),
        graders=suite.graders,
        quoted=suite.quoted,
    )


def _choose_measurable(
    specs: Mapping[str, MetricSpec], suite: ImportedSuite
) -> dict[str, MetricSpec]:
    """Without those of pass and fail, where the source has no opinion on them."""
    if JUDGED[0] in suite.graders:
        return dict(specs)
    return {name: spec for name, spec in specs.items() if not {*spec.columns} & {*JUDGED}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Regraded:
    """One suite of gate.yml, for the answers of an imported one."""

    meta: SuiteMeta
    graders: Mapping[str, Grader]
    expected_keys: frozenset[str]  # of a case, that its row carries
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
    """The suites' results by name; `rules` say whose cases judge. Raises UsageError for one that
    gate.yml does not have with its own tasks, or whose tasks are others than those that were asked;
    InvalidInput for a dataset that is wrong.
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
        expected_keys=plan.expected_keys,
        cases={case.id: case for case in plan.cases() if case.id in case_ids},
        keeps_last=plan.suite.retry == "any_failure",
        notes=(note,),
        new_cases=plan.new_cases,
        edited=plan.edited,
        loosened=plan.loosened,
    )
