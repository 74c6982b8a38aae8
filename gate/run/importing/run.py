"""`gate import`: another tool's results as a session. No agent is asked; importing the same files
twice gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from gate.agents.recordings.answers import recording_line
from gate.analysis.columns import TrialColumns
from gate.analysis.table import table_of
from gate.analysis.tally import Tally
from gate.errors import AgentFailure, InfraFailure, UsageError
from gate.files.json_schema import mismatches
from gate.files.sniff import FirstLook, look
from gate.plugins import IMPORTERS, Importer
from gate.records import Attempt, Case, CheckedJson, Json, Report, Response, Trial
from gate.records.codec import from_json, parse_json, schema_of, to_json
from gate.records.imported import Imported
from gate.records.settings import OutputOptions
from gate.report.announce import tell
from gate.report.session_index.keep import keep_index
from gate.report.write_all import summary, write_reports
from gate.run.baseline_answers import answers_in, keep_answers
from gate.run.home import find_home, sessions_folder
from gate.run.importing.place import import_place
from gate.run.importing.plan import ImportPlan, choose_suites, import_plan
from gate.run.options import Host, ImportOptions
from gate.run.rules_for_event import shows_answers, tell_edited_baseline
from gate.run.suite_metrics import list_metrics_elsewhere
from gate.store.baseline.answers import read_beside
from gate.store.session import SUMMARY, SessionWriter, load_session
from gate.text.redaction import Redactor
from gate.text.secret_names import secrets_sent
from gate.text.suggestions import did_you_mean
from gate.verdict.conclude import conclude
from gate.verdict.suite_data import Setting, SuiteData

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """The session that an import made, and its verdict."""

    report: Report
    session_dir: Path
    unlisted: str = ""  # why the list of sessions does not have it

    def words(self, options: OutputOptions, env: Mapping[str, str]) -> list[str]:
        """The last lines that the command prints."""
        return tell(self.report, self.session_dir, options, env, self.unlisted)


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
            report = _write(plan, session, host.redactor())
        except BaseException:  # a full disk or Ctrl-C, too: half a session would be taken for one
            session.discard()
            raise
    made = ImportedSession(report=report, session_dir=folder, unlisted=keep_index(folder))
    return Written(session=made, beside=beside)


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


def _write(plan: ImportPlan, session: SessionWriter, redact: Redactor) -> Report:
    columns = {name: TrialColumns(name) for name in plan.metas}
    tallies = {name: Tally() for name in plan.metas}
    for row in plan.rows():
        session.append(row)
        columns[row["suite"]].add(row)
        tallies[row["suite"]].add(row)
    session.write_details()
    measured = [_measure(plan, name, columns[name], tallies[name]) for name in plan.metas]
    config, setting, folder = plan.place.config, _setting(plan, measured), session.folder
    untold = keep_answers(folder, measured, redact, shown=setting.shows_answers)
    setting = replace(setting, notes=(*setting.notes, *untold))
    report = conclude(measured, config, setting, session.rows_of, answers_in(folder))
    session.write(SUMMARY, summary(report))
    stored = load_session(session.folder).report or report  # without secrets
    options = plan.place.config.report
    write_reports(
        session.write,
        stored,
        session.details,
        options,
        session.rows_of,
        partial(read_beside, folder),
    )
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
        shows_answers=shows_answers(place.config, place.job),
        page_url=place.page_url,
        elsewhere=list_metrics_elsewhere(place.config, plan.metas, place.rules.root),
        asked_with=None,
    )


def choose_reader(name: str, path: Path, options: Iterable[str]) -> tuple[str, Importer]:
    """The format's name and its importer; for `auto` the one that recognises the path. Raises
    UsageError for an unknown name or option, and for a path that plainly has another format.
    """
    first_look = look(path)
    if name == AUTO:
        name = _recognise(first_look)
    importer = IMPORTERS.get_class(name)
    if path.exists() and not importer.recognises(first_look):
        others = _formats(first_look)
        if others:
            raise UsageError(
                f"{path}: not in the format that `{name}` reads ({importer.reads}); it "
                f"looks like {others[0]}: "
                f"gate import {others[0]} {path}"
            )
    return name, from_json(importer, _check_options(name, importer, options))


def _recognise(first_look: FirstLook) -> str:
    if not first_look.path.exists():
        raise UsageError(f"{first_look.path}: not found; give an existing file or folder")
    formats = _formats(first_look)
    if len(formats) == 1:
        return formats[0]
    which = f"could be {' or '.join(formats)}" if formats else "not a known format"
    raise UsageError(f"{first_look.path}: {which}; choose a format: {', '.join(IMPORTERS)}")


def _formats(first_look: FirstLook) -> list[str]:
    """Those that recognise it, by name."""
    return [name for name in IMPORTERS if IMPORTERS.get_class(name).recognises(first_look)]


def _check_options(name: str, importer: type[Importer], written: Iterable[str]) -> dict[str, Json]:
    schema = schema_of(importer)
    properties: dict[str, CheckedJson] = schema["properties"]
    options: dict[str, Json] = {}
    for option in written:
        key, equals, text = option.partition("=")
        if not equals:
            raise UsageError(f"--option {option[:80]}: write NAME=VALUE")
        if key not in properties:
            hint = did_you_mean(key, [*properties]) if properties else f" - `{name}` has none"
            raise UsageError(f"--option {key[:80]}: `{name}` has no such option{hint}")
        if key in options:
            raise UsageError(f"--option {key}: given twice")
        options[key] = _value(text, properties[key])
        if wrong := mismatches(properties[key], options[key]):
            raise UsageError(f"--option {key}: {wrong[0].message}")
    missing = [key for key in schema.get("required", ()) if key not in options]
    if missing:
        raise UsageError(f"`{name}` needs --option {missing[0]}=VALUE")
    return options


def _value(text: str, schema: CheckedJson) -> Json:
    """A text where the option is one, otherwise JSON."""
    kinds = schema.get("type", ())
    if "string" in ([kinds] if isinstance(kinds, str) else kinds) or "enum" in schema:
        return text
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        return text


def write_dataset(
    imported: Imported, suites: frozenset[str], file: Path, redact: Callable[[str], str] = str
) -> int:
    """Writes the cases of one suite as JSON Lines, in their order, and returns their number. Raises
    UsageError if the file exists or the questions are unknown.
    """
    return _write_lines(
        file, "--dataset", map(redact, case_lines(_list_cases(imported, suites), file))
    )


def write_recording(
    imported: Imported, suites: frozenset[str], file: Path, redact: Callable[[str], str] = str
) -> int:
    """Writes every answer and failure like `--record`, and returns their number. Raises
    UsageError.
    """
    chosen = (trial for trial in imported.trials() if trial.suite in suites)
    lines = (redact(_answer_line(trial)) for trial in chosen)
    return _write_lines(file, "--recording", lines)


def _list_cases(imported: Imported, suites: frozenset[str]) -> Iterator[Case]:
    if imported.cases is not None:
        yield from imported.cases()
        return
    if len(suites) != 1:
        names = ", ".join(sorted(suites)[:10])
        raise UsageError(
            f"--dataset: a file holds one suite only; choose it with --suite ({names})"
        )
    seen: set[str] = set()
    for trial in imported.trials():
        if trial.suite in suites and trial.case.id not in seen:
            seen.add(trial.case.id)
            yield trial.case


def case_lines(cases: Iterator[Case], file: Path) -> Iterator[str]:
    """A line of a dataset for each case. Raises UsageError for a case without a question."""
    for case in cases:
        if case.input in ("", None):
            raise UsageError(
                f"--dataset {file}: the results do not contain the question of case "
                f"'{case.id[:80]}'; give the file of the tasks too (docs/import.md, by "
                "format)"
            )
        row: dict[str, Json] = {"id": case.id, "input": case.input}
        row |= {"category": case.category} if case.category else {}
        row |= {"tags": list(case.tags)} if case.tags else {}
        yield json.dumps(to_json({**row, **case.keys}), ensure_ascii=False)


def _answer_line(trial: Trial) -> str:
    judged = trial.attempt
    return recording_line(trial.case, trial.round, _answer_of(judged), judged.latency_ms or 0.0)


def _answer_of(attempt: Attempt) -> Response | Exception:
    if attempt.status == "infra_error":
        return InfraFailure(attempt.error or "nobody answered")
    if attempt.status == "agent_error" or attempt.response is None:
        return AgentFailure(attempt.error or "no answer")
    return attempt.response


def _write_lines(file: Path, option: str, lines: Iterator[str]) -> int:
    """A file that is half written is taken away again."""
    try:
        with file.open("x", encoding="utf-8", errors="backslashreplace") as stream:
            try:
                return sum(1 for line in lines if stream.write(f"{line}\n"))
            except BaseException:
                file.unlink()
                raise
    except FileExistsError:
        raise UsageError(f"{option} {file}: already exists; choose a new file name") from None
    except OSError as error:
        raise UsageError(f"{option} {file}: {error.strerror}; choose another path") from error
