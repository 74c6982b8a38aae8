"""Another tool's results as a session of ours: `gate import`. Nobody is asked; importing the same
twice gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gate.accepting import Accepted
from gate.announce import tell
from gate.archive import SUMMARY, Meta, SessionWriter, SuiteMeta, load_session, new_session_id
from gate.codec import to_json
from gate.columns import Columns
from gate.conclude import conclude
from gate.errors import InvalidInput, Problem, UsageError
from gate.import_files import write_dataset, write_recording
from gate.import_format import reader
from gate.import_place import ImportPlace, import_place
from gate.imported import Imported, ImportedSuite
from gate.lookup import Compared
from gate.measured import Measured, Setting
from gate.metrics.catalogue import asked_k, every_metric
from gate.prepare import metrics_of
from gate.pricing import trial_cost
from gate.publish import summary, write_reports
from gate.records import Json, Provenance, Report, Trial
from gate.redact import Redactor
from gate.registry import did_you_mean
from gate.regrading import Regraded, regraded
from gate.rows import row_of
from gate.rules_for import edits_baseline
from gate.secret_names import secrets_sent
from gate.sources.files import digest_of, newest
from gate.table import table_of
from gate.tally import Tally

MOST_TRIALS = 1_000_000  # of one import: about 3 GB in memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """What an import with results came to."""

    report: Report
    session_dir: Path

    def words(self, options: argparse.Namespace, env: Mapping[str, str]) -> list[str]:
        """What the command prints last."""
        return tell(self.report, self.session_dir, options, env)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was written: no session where the source has cases and no results."""

    session: ImportedSession | None = None
    beside: tuple[str, ...] = ()  # a sentence a file


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is written of an import, and by which rules it is judged."""

    found: Imported
    created_at: str
    place: ImportPlace
    session_id: str
    provenance: Provenance
    metas: Mapping[str, SuiteMeta]
    baselines: Mapping[str, Compared]
    again: Mapping[str, Regraded] = field(default_factory=dict)  # suites that are graded again
    options: Mapping[str, Json] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    accepted: Accepted = field(default_factory=Accepted)

    def rows(self) -> Iterator[Mapping[str, Json]]:
        """Raises InvalidInput for a trial that is there twice, and for too many."""
        seen: set[tuple[str, str, int]] = set()
        for trial in self.found.trials():
            if trial.suite not in self.metas:
                continue
            key = (trial.suite, trial.case.id, trial.round)
            if key in seen:
                raise InvalidInput([_twice(trial)])
            seen.add(key)
            if len(seen) > MOST_TRIALS:
                raise UsageError(
                    f"more than {MOST_TRIALS:,} results; import them in parts, or name a --suite"
                )
            yield self._row(trial)

    def _row(self, trial: Trial) -> Mapping[str, Json]:
        if not trial.started_at:
            trial = replace(trial, started_at=self.created_at)
        mine = self.again.get(trial.suite)
        graded = mine.graded(trial) if mine else trial
        return row_of(
            graded,
            cost_usd=trial_cost(trial, self.place.config.pricing),
            on_agent_error=mine.on_agent_error(graded) if mine else _told_of_failed(graded),
            specs=self.metas[trial.suite].specs,
        )


def _twice(trial: Trial) -> Problem:
    message = (
        f"{trial.suite}: the case '{trial.case.id[:80]}' has two results of round {trial.round} - "
        "keep one"
    )
    return Problem(trial.case.place, message)


def _told_of_failed(trial: Trial) -> dict[str, float | None]:
    """What the source itself gives an answer that never came."""
    return {k: v for score in trial.attempt.scores.values() for k, v in score.values.items()}


def import_results(
    options: argparse.Namespace,
    env: Mapping[str, str],
    now: datetime,
    more: Mapping[str, str] | None = None,
) -> Written:
    """`options`: source, path, option, at, out, suite, regrade, config, baseline, dataset,
    recording. `more`: dotted keys over gate.yml. Raises GateError.
    """
    place = import_place(options, env, now, more or {})
    name, importer = reader(options.source, Path(options.path), options.option or ())
    found: Imported = importer.read(Path(options.path))
    suites = _chosen(found.suites, options.suite or ())
    beside = tuple(_beside(options, found, frozenset(suites)))
    if not suites:
        if not options.dataset:
            raise UsageError(
                f"{options.path}: cases and no results; --dataset FILE makes a dataset of them"
            )
        return Written(beside=beside)
    plan = _plan(options, name, found, suites, place)
    out = Path(options.out or place.config.report.dir)
    folder = out / f"session-{plan.session_id}"
    if folder.exists():
        raise UsageError(f"{folder}: imported already; remove it, or name another place with --out")
    with SessionWriter.create(out, _meta(plan), Redactor(secrets_sent(env, ()))) as session:
        try:
            report = _write(plan, session)
        except (InvalidInput, UsageError):
            session.discard()
            raise
    return Written(session=ImportedSession(report=report, session_dir=folder), beside=beside)


def _beside(options: argparse.Namespace, found: Imported, suites: frozenset[str]) -> Iterator[str]:
    if options.dataset:
        count = write_dataset(found, suites, Path(options.dataset))
        yield f"Cases written to: {options.dataset} ({count})"
    if options.recording:
        count = write_recording(found, suites, Path(options.recording))
        yield f"Answers written to: {options.recording} ({count})"


def _plan(
    options: argparse.Namespace,
    name: str,
    found: Imported,
    suites: Mapping[str, ImportedSuite],
    place: ImportPlace,
) -> _Plan:
    config = place.config
    again = regraded(found, suites, config, place.rules.root) if options.regrade else {}
    asked = asked_k(config)
    metas = {
        suite: again[suite].meta if again else _suite_meta(one, asked)
        for suite, one in suites.items()
    }
    told = {suite: meta.graders for suite, meta in metas.items()}
    digest = digest_of(found.files)
    mark = hashlib.sha256(f"{digest}\n{sorted(suites)}\n{to_json(told)}".encode()).hexdigest()
    moment = options.at or _moment(found)
    made = place.made(found.provenance)
    meant = place.accepted({metric for meta in metas.values() for metric in meta.specs})
    return _Plan(
        found=found,
        created_at=f"{moment:%Y-%m-%dT%H:%M:%S}Z",
        place=place,
        session_id=new_session_id(moment, lambda n: mark[: 2 * n]),
        provenance=made,
        metas=metas,
        baselines={n: place.compared(n, meta.dataset_digest, made) for n, meta in metas.items()},
        again=again,
        options={"import": name, **found.options},
        accepted=meant,
        notes=(
            *found.notes,
            *([] if options.at or found.created_at else [_FILES_TIME]),
            *(note for one in again.values() for note in one.notes),
            *place.notes,
            *meant.notes,
        ),
    )


_FILES_TIME = (
    "the source does not say when it was measured: its time is that of its newest file (--at names "
    "another)"
)


def _moment(found: Imported) -> datetime:
    if found.created_at is None:
        return newest(found.files)
    moment = datetime.fromisoformat(found.created_at)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _chosen(
    suites: Mapping[str, ImportedSuite], names: Sequence[str]
) -> Mapping[str, ImportedSuite]:
    for name in names:
        if name not in suites and name != "all":
            raise UsageError(
                f"--suite {name}: not in what is imported{did_you_mean(name, [*suites])}"
            )
    return suites if not names or "all" in names else {n: suites[n] for n in suites if n in names}


def _suite_meta(suite: ImportedSuite, asked: frozenset[int]) -> SuiteMeta:
    return SuiteMeta(
        dataset=suite.dataset,
        dataset_digest=suite.dataset_digest,
        version=suite.version,
        rounds=suite.rounds,
        cases=suite.cases,
        specs=every_metric([suite.metrics], suite.rounds, asked),
        graders=suite.graders,
        quoted=suite.quoted,
    )


def _meta(plan: _Plan) -> Meta:
    return Meta(
        session_id=plan.session_id,
        created_at=plan.created_at,
        provenance=plan.provenance,
        suites=plan.metas,
        options=plan.options,
        health=to_json(plan.found.health) if plan.found.health else {},
    )


# ----------------------------------------------------------------------------------------- writing


def _write(plan: _Plan, session: SessionWriter) -> Report:
    columns = {name: Columns(name) for name in plan.metas}
    tallies = {name: Tally() for name in plan.metas}
    for row in plan.rows():
        session.append(row)
        columns[row["suite"]].add(row)
        tallies[row["suite"]].add(row)
    session.write_details()
    measured = [_measured(plan, name, columns[name], tallies[name]) for name in plan.metas]
    report = conclude(measured, plan.place.config, _setting(plan, measured), session.rows_of)
    session.write(SUMMARY, summary(report))
    stored = load_session(session.folder).report or report  # without secrets
    write_reports(session.write, stored, session.rows, plan.place.config.report)
    session.log.append_verdict(stored.outcome)
    return stored


def _measured(plan: _Plan, name: str, columns: Columns, tally: Tally) -> Measured:
    meta = plan.metas[name]
    return Measured(
        name=name,
        meta=meta,
        table=table_of(columns, meta.specs, meta.graders),
        tally=tally,
        baseline=plan.baselines[name],
        gates=next((s.gates for s in plan.place.config.suites if s.name == name), ()),
        not_run=max(0, meta.cases * meta.rounds - tally.trials),
    )


def _setting(plan: _Plan, measured: Sequence[Measured]) -> Setting:
    place = plan.place
    left_out = [suite for suite in place.config.suites if suite.name not in plan.metas]
    edited = [one.name for one in measured if one.baseline.edited_here and place.rules.compared]
    return Setting(
        session_id=plan.session_id,
        created_at=plan.created_at,
        duration_s=0.0,
        mode=place.job.mode,
        provenance=plan.provenance,
        loosened=(*place.rules.loosened, *map(edits_baseline, edited)),
        unprotected=place.rules.compared and place.rules.base is None,
        notes=plan.notes,
        comment_id=place.comment_id,
        accepted=plan.accepted.changes,
        elsewhere=metrics_of(left_out, place.config, place.rules.root),
        asked_with=None,
    )
