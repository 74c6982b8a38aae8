"""Measurements read back from disk: a session folder, a baseline file or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from gate.analysis.columns import TrialColumns
from gate.analysis.metric_names import describe_stored_names
from gate.analysis.pooling import pool
from gate.analysis.table import Table, table_of
from gate.analysis.tally import Tally
from gate.errors import GateError, UsageError
from gate.files.plain_file import read_bytes
from gate.graders.trajectories.path import PathsOf, choose_representatives, no_paths
from gate.records import BaselineInfo, Provenance, TrialRow
from gate.records.baseline import BaselineRun
from gate.store.baseline import file as baseline_file
from gate.store.baseline.find import age_days, paths_among
from gate.store.baseline.schema import MOST_MB, CheckedBaseline, check_text, fingerprint
from gate.store.session import (
    Session,
    SuiteMeta,
    is_session,
    latest_session,
    load_session,
    refuse_debugging,
)
from gate.store.session_check import check_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSuite:
    """One suite's numbers, wherever they were kept."""

    meta: SuiteMeta
    table: Table
    tally: Tally
    info: BaselineInfo
    facts: Mapping[str, str]  # what its newest run was like
    not_run: int = 0  # trials that a budget or an interruption left unmade
    ended: str = ""  # why a suite with looks made no more trials
    drift: Mapping[str, float] = field(default_factory=dict)  # metric -> session effect's variance
    runs: tuple[BaselineRun, ...] = ()  # whose rounds are in the table, oldest first
    paths_of: PathsOf = field(default=no_paths, repr=False)  # what the agent did, by case


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """`rows_of` gives the rows of some cases; a baseline file has none."""

    name: str
    suites: Mapping[str, StoredSuite]
    provenance: Provenance
    session: Session | None = None

    def rows(self) -> Iterator[TrialRow]:
        return self.session.rows() if self.session is not None else iter(())

    def rows_of(self, suite: str, case_ids: frozenset[str]) -> Iterator[TrialRow]:
        return _rows_of(self.session, suite, case_ids) if self.session else iter(())


def load(path: Path, now: datetime, most_mb: int = MOST_MB) -> Stored:
    """Raises UsageError when it is neither a session nor a baseline file of at most `most_mb` nor a
    folder of them.
    """
    if is_session(path):
        return _session(path, now)
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"{path}: neither a session folder nor a folder of baseline files")
    suites = dict(_baseline(file, now, most_mb) for file in files)
    return Stored(name=path.name, suites=suites, provenance=Provenance())


def find_newest_suites(results: Path, now: datetime) -> dict[str, StoredSuite]:
    """The suites of the newest session with a verdict; none where it cannot be read."""
    try:
        return dict(load(latest_session(results), now).suites)
    except GateError:
        return {}


def _session(path: Path, now: datetime) -> Stored:
    session = load_session(path)
    refuse_debugging(session)
    names = session.meta.suites
    columns = {name: TrialColumns(name) for name in names}
    tallies = {name: Tally() for name in names}
    for row in check_rows(session.rows(), names, path):
        columns[row["suite"]].add(row)
        tallies[row["suite"]].add(row)
    info = BaselineInfo(
        source="session",
        detail=path.name,
        commit=session.meta.provenance.commit,
        created_at=session.meta.created_at,
        age_days=age_days(session.meta.created_at, now),
        runs=1,
    )
    return Stored(
        name=session.meta.session_id,
        suites={name: _suite(session, columns[name], tallies[name], info) for name in names},
        provenance=session.meta.provenance,
        session=session,
    )


def _suite(
    session: Session, columns: TrialColumns, tally: Tally, info: BaselineInfo
) -> StoredSuite:
    meta = session.meta.suites[columns.suite]
    provenance = session.meta.provenance
    suite_report = session.report.suites.get(columns.suite) if session.report else None
    facts = fingerprint(provenance, meta.dataset_digest)
    run = BaselineRun(
        session_id=session.meta.session_id,
        commit=provenance.commit,
        created_at=session.meta.created_at,
        rounds=columns.rounds,
        kept=columns.rounds,
        cases=len(columns.index),
        fingerprint=facts,
    )
    return StoredSuite(
        meta=meta,
        table=table_of(columns, meta.specs, meta.graders),
        tally=tally,
        info=replace(
            info,
            rounds=columns.rounds,
            notes=describe_stored_names(session.renamed.get(columns.suite, {})),
        ),
        facts=facts,
        # Whether the verdict spared a trial or a budget, only the report can say.
        not_run=suite_report.not_run
        if suite_report and meta.looks
        else meta.cases * meta.rounds - tally.trials,
        ended=suite_report.ended if suite_report else "",
        runs=(run,),
        paths_of=lambda ids: choose_representatives(_rows_of(session, columns.suite, ids)),
    )


def _rows_of(session: Session, suite: str, case_ids: frozenset[str]) -> Iterator[TrialRow]:
    return (r for r in session.rows() if r["suite"] == suite and r["case_id"] in case_ids)


def _baseline(file: Path, now: datetime, most_mb: int) -> tuple[str, StoredSuite]:
    try:
        text = read_bytes(file)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; give a session or a baseline file") from error
    suite = summarise_baseline(check_text(text, str(file), most_mb), now)
    return suite.table.suite, suite


def summarise_baseline(checked: CheckedBaseline, now: datetime) -> StoredSuite:
    """The suite of a baseline file. Raises InvalidInput."""
    stored, name = baseline_file.build(checked), Path(checked.file).name
    pooled = pool(stored.table, stored.runs, stored.changed_at)
    table, newest = pooled.table, stored.runs[-1] if stored.runs else None
    facts = newest.fingerprint if newest else {}
    meta = SuiteMeta(
        dataset=name,
        dataset_digest=facts.get("dataset", ""),
        rounds=table.rounds,
        cases=len(table.cases),
        specs=table.specs,
        graders=table.graders,
    )
    tally = Tally(trials=len(table.cases) * table.rounds, calls=len(table.cases) * table.rounds)
    info = BaselineInfo(
        source="file",
        detail=name,
        commit=newest.commit if newest else None,
        created_at=newest.created_at if newest else None,
        age_days=age_days(newest.created_at, now) if newest else None,
        rounds=pooled.rounds,
        runs=len(pooled.runs),
        notes=describe_stored_names(stored.renamed),
        pooling=pooled.notes,
    )
    return StoredSuite(
        meta=meta,
        table=table,
        tally=tally,
        info=info,
        facts=facts,
        drift=pooled.drift,
        runs=pooled.headers,
        paths_of=paths_among(stored.paths),
    )
