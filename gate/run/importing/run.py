"""`gate import`: another tool's results as a session. No agent is asked; importing the same files
twice gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gate.analysis.columns import TrialColumns
from gate.analysis.table import table_of
from gate.analysis.tally import Tally
from gate.errors import UsageError
from gate.records import Report
from gate.records.imported import Imported
from gate.records.settings import OutputOptions
from gate.report.announce import tell
from gate.report.write_all import summary, write_reports
from gate.run.home import find_home, sessions_folder
from gate.run.importing.files import write_dataset, write_recording
from gate.run.importing.format import choose_reader
from gate.run.importing.place import import_place
from gate.run.importing.plan import ImportPlan, choose_suites, import_plan
from gate.run.options import Host, ImportOptions
from gate.run.rules_for_event import tell_edited_baseline
from gate.run.suite_metrics import list_metrics_elsewhere
from gate.store.session import SUMMARY, SessionWriter, load_session
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting, SuiteData


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """The session that an import made, and its verdict."""

    report: Report
    session_dir: Path

    def words(self, options: OutputOptions, env: Mapping[str, str]) -> list[str]:
        """The last lines that the command prints."""
        return tell(self.report, self.session_dir, options, env)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What an import wrote; it writes no session if the source has cases and no results."""

    session: ImportedSession | None = None
    beside: tuple[str, ...] = ()  # a sentence a file


def import_results(options: ImportOptions, host: Host, now: datetime) -> Written:
    """Reads the source that `options` name and writes a session, a dataset or a recording. Raises
    GateError.
    """
    home, env = find_home(options.config, host.log), host.env
    place = import_place(options, home, env, now)
    agents = (place.config.agent, place.config.judge, place.config.verifier)
    host.secrets.update(secrets_sent(env, (agent.options for agent in agents if agent is not None)))
    name, importer = choose_reader(options.source, Path(options.path), options.option)
    imported: Imported = importer.read(Path(options.path))
    suites = choose_suites(imported.suites, options.suite)
    beside = tuple(_write_copies(options, imported, frozenset(suites), host.redactor()))
    if not suites:
        if not options.dataset:
            raise UsageError(
                f"{options.path}: has cases but no results; use --dataset FILE to write "
                "the cases as a dataset"
            )
        return Written(beside=(*imported.notes, *beside))
    plan = import_plan(options, name, imported, suites, place)
    beside_config = sessions_folder(home, place.config)
    out = Path(options.out or beside_config or place.config.report.dir)
    folder = out / f"session-{plan.session_id}"
    if folder.exists():
        raise UsageError(
            f"{folder}: already imported; remove the folder, or choose another with --out"
        )
    with SessionWriter.create(out, plan.meta(), host.redactor()) as session:
        try:
            report = _write(plan, session)
        except BaseException:  # a full disk or Ctrl-C, too: half a session would be taken for one
            session.discard()
            raise
    return Written(session=ImportedSession(report=report, session_dir=folder), beside=beside)


def _write_copies(
    options: ImportOptions, imported: Imported, suites: frozenset[str], redact: Redactor
) -> Iterator[str]:
    if options.dataset:
        count = write_dataset(imported, suites, Path(options.dataset), redact)
        yield f"Cases written to: {options.dataset} ({count})"
    if options.recording:
        count = write_recording(imported, suites, Path(options.recording), redact)
        yield f"Answers written to: {options.recording} ({count})"


# ----------------------------------------------------------------------------------------- writing


def _write(plan: ImportPlan, session: SessionWriter) -> Report:
    columns = {name: TrialColumns(name) for name in plan.metas}
    tallies = {name: Tally() for name in plan.metas}
    for row in plan.rows():
        session.append(row)
        columns[row["suite"]].add(row)
        tallies[row["suite"]].add(row)
    session.write_details()
    measured = [_measure(plan, name, columns[name], tallies[name]) for name in plan.metas]
    report = conclude(measured, plan.place.config, _setting(plan, measured), session.rows_of)
    session.write(SUMMARY, summary(report))
    stored = load_session(session.folder).report or report  # without secrets
    options = plan.place.config.report
    write_reports(session.write, stored, session.rows, options, session.rows_of)
    session.log.append_verdict(stored.outcome)
    return stored


def _measure(plan: ImportPlan, name: str, columns: TrialColumns, tally: Tally) -> SuiteData:
    meta, again = plan.metas[name], plan.again.get(name)
    suite = plan.place.config.find_suite(name)
    return SuiteData(
        name=name,
        meta=meta,
        current=table_of(columns, meta.specs, meta.graders),
        tally=tally,
        compared=plan.baselines[name],
        gates=suite.gates if suite else (),
        new_cases=again.new_cases if again else frozenset(),
        edited=again.edited if again else {},
        not_run=max(0, meta.cases * meta.rounds - tally.trials),
    )


def _setting(plan: ImportPlan, measured: Sequence[SuiteData]) -> Setting:
    place = plan.place
    with_baselines = measured if place.rules.has_base else ()
    baselines = (tell_edited_baseline(suite.name, suite.compared.here) for suite in with_baselines)
    return Setting(
        session_id=plan.session_id,
        created_at=plan.created_at,
        duration_s=0.0,
        mode=place.job.mode,
        provenance=plan.provenance,
        loosened=(
            *place.rules.loosened,
            *(suite for again in plan.again.values() for suite in again.loosened),
            *filter(None, baselines),
        ),
        unprotected=place.rules.has_base and place.rules.base is None,
        notes=plan.notes,
        comment_id=place.comment_id,
        accepted=plan.accepted.changes,
        elsewhere=list_metrics_elsewhere(place.config, plan.metas, place.rules.root),
        asked_with=None,
    )
