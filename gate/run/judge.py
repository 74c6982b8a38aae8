"""What follows the last trial: tables, verdict, report, files. Loaded while the first trials
run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from gate.analysis.outages import was_answered
from gate.analysis.table import table_of
from gate.errors import GateError
from gate.graders.trajectories.path import Path as StepPath
from gate.plugins import METRICS, REPORTERS
from gate.records import BaselineInfo, Report
from gate.records.settings import WRITTEN, JUnitOptions, OutputOptions
from gate.report.announce import tell
from gate.report.session_index.keep import keep_index
from gate.report.write_all import summary, write_reports
from gate.run.baseline_answers import answers_in, keep_answers
from gate.run.control_baseline import compare_with_control
from gate.run.locate import locate_findings
from gate.run.part_reports import adapt_report
from gate.run.pipeline import Collected
from gate.run.prepare import SuitePlan
from gate.run.resume import list_next_commands
from gate.run.rules_for_event import measures_the_base, shows_answers, tell_edited_baseline
from gate.run.setup import Setup
from gate.run.suite_metrics import metrics_of
from gate.store.baseline.answers import read_beside
from gate.store.baseline.find import Compared
from gate.store.session import SessionWriter
from gate.suites.config.variables import fill_in
from gate.verdict.conclude import conclude, look
from gate.verdict.stop_rule import LookResult
from gate.verdict.suite_data import Setting, SuiteData

NONE_WANTED = Compared(info=BaselineInfo(source="none", detail="none was wanted"))

REPORTERS.load()  # now, not after the last answer
METRICS.load()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a judged run."""

    report: Report
    session_dir: Path
    unlisted: str = ""  # why the list of sessions does not have it

    @property
    def outcome(self) -> str:
        return self.report.outcome

    def words(self, options: OutputOptions, env: Mapping[str, str]) -> list[str]:
        """The last lines that the command prints."""
        return tell(self.report, self.session_dir, options, env, self.unlisted)


def judge(setup: Setup, session: SessionWriter, collected: Collected, unreachable: str) -> Outcome:
    """The verdict on the collected trials; writes every report of the session."""
    measured = _measure(setup, collected, unreachable)
    shown = shows_answers(setup.place.config, setup.place.job)
    folder, redactor = session.folder, setup.place.host.redactor()
    untold = keep_answers(folder, measured, redactor, shown=shown)
    report = _report(setup, session, collected, measured)
    report = replace(report, notes=(*report.notes, *untold))
    # Without secrets, unlike the one here; rendered from it, no half of one is left by a cut.
    stored = session.write_report(summary(report))
    options = setup.place.config.report
    before = partial(read_beside, folder)
    write_reports(session.write, stored, session.details, options, session.rows_of, before)
    if setup.place.job.mode == "release":
        from gate.run.release_evidence.write import write_evidence

        write_evidence(setup, session, stored)
    unlisted = "" if "shard" in session.meta.options else keep_index(session.folder)
    return Outcome(report=stored, session_dir=session.folder, unlisted=unlisted)


def undecided(setup: Setup, session: SessionWriter, collected: Collected) -> LookResult:
    """The suites that need more trials after a batch, and if none does, why."""
    return look(_measure(setup, collected, ""), setup.place.config, _setting(setup, session))


def _report(
    setup: Setup, session: SessionWriter, collected: Collected, measured: Sequence[SuiteData]
) -> Report:
    place = setup.place
    setting = _setting(setup, session, collected.ended_early)
    report = locate_findings(
        conclude(measured, place.config, setting, session.rows_of, answers_in(session.folder)),
        setup,
    )
    if isinstance(junit := place.config.report.junit, JUnitOptions):
        report = replace(report, known_failures=junit.known_failures)
    return adapt_report(report, place.options, collected)


def _setting(setup: Setup, session: SessionWriter, ended_early: str = "") -> Setting:
    place = setup.place
    # Whose rules judge comes first: a file of many warnings must not push it out of the comment.
    notes = [*place.rules.notes, *place.config.warnings, *place.job.notes, *setup.notes]
    notes += [warning for plan in setup.plans for warning in plan.warnings]
    notes += setup.reviewed.notes
    if ended_early:
        notes.append(f"{ended_early}: some planned trials were not run")
    return Setting(
        session_id=session.meta.session_id,
        created_at=session.meta.created_at,
        duration_s=round((datetime.now(UTC) - place.where.now).total_seconds(), 1),
        mode=place.job.mode,
        provenance=setup.provenance,
        answered=was_answered(session.meta.health),
        loosened=_list_loosened(setup),
        unprotected=place.rules.base is None,
        notes=tuple(dict.fromkeys(notes)),
        accepted=setup.accepted,
        comment_id=place.host.env.get("INPUT_COMMENT-ID") or "gate",
        shows_answers=shows_answers(place.config, place.job),
        page_url=fill_in(place.config.report.url, place.where.env),
        elsewhere=_list_metrics_elsewhere(setup),
        measures_main=measures_the_base(place.job, place.config),
        asked_with=_describe_agent(setup),
        next_commands=_list_next_commands(setup, session),
    )


def _describe_agent(setup: Setup) -> dict[str, str]:
    """What a laptop's command says of the agent. Of a job it would lead to a place that no laptop
    knows.
    """
    options = setup.place.options
    given = {"--config": options.config, "--base-url": options.base_url, "--model": options.model}
    here = setup.place.job.mode == "laptop"
    return {name: value for name, value in given.items() if here and value and "@" not in value}


def _list_next_commands(setup: Setup, session: SessionWriter) -> Mapping[str, str]:
    here = setup.place.job.mode == "laptop" and setup.place.config.file != WRITTEN
    return list_next_commands(session.meta, session.folder) if here else {}


def _list_loosened(setup: Setup) -> tuple[str, ...]:
    """Rules, then cases, then baselines."""
    notes = [*setup.place.rules.loosened, *(x for plan in setup.plans for x in plan.loosened)]
    if setup.place.rules.has_base:
        notes += [tell_edited_baseline(name, base.here) for name, base in setup.baselines.items()]
    return tuple(filter(None, notes))


def _list_metrics_elsewhere(setup: Setup) -> frozenset[str]:
    ran = {plan.name for plan in setup.plans}
    rules = setup.place.rules
    left_out = [suite for suite in rules.config.suites if suite.name not in ran]
    return metrics_of(left_out, rules.config, rules.root)


def _measure(setup: Setup, collected: Collected, unreachable: str) -> list[SuiteData]:
    return [_suite(setup, plan, collected, unreachable) for plan in setup.plans]


def _suite(setup: Setup, plan: SuitePlan, collected: Collected, unreachable: str) -> SuiteData:
    name = plan.name
    columns, tally = collected.columns[name], collected.tallies[name]
    table = table_of(columns, plan.specs, plan.grader_digests)
    lost = collected.lost.get(name, {})
    broken_off = collected.ended_early or unreachable or collected.control_unreachable
    broken_off = broken_off or "; ".join(lost)
    control, stored = collected.control, setup.baselines.get(name, NONE_WANTED)
    # What the verdict spares is not missing, though a budget end the others later; neither are the
    # cases that it spares.
    spared = plan.looks is not None and (name in collected.course.ended or not broken_off)
    missing = plan.planned - columns.count_within(plan.suite.rounds)
    case_ids = frozenset(table.cases) if spared else plan.chosen
    return SuiteData(
        name=name,
        meta=plan.meta(),
        current=table,
        tally=tally,
        compared=compare_with_control(control, plan, setup.provenance) if control else stored,
        control=control.tallies[name] if control else None,
        gates=plan.suite.gates,
        floor=plan.suite.floor,
        new_cases=plan.new_cases,
        edited=plan.edited,
        unreachable=unreachable,
        control_unreachable=collected.control_unreachable,
        lost=lost,
        not_run=0 if spared else max(0, missing),
        stopped_by="" if spared else collected.ended_early,
        unasked_cases=plan.chosen - frozenset(table.cases) if broken_off else frozenset(),
        not_asked=plan.all_ids - case_ids,
        ended=collected.course.ended.get(name, broken_off if plan.looks else ""),
        labels=setup.reviewed.labels.get(name, {}),
        people=setup.reviewed.people.get(name, ()),
        advisory=setup.reviewed.advisory.get(name, {}),
        references_of=partial(_references, plan),
    )


def _references(plan: SuitePlan, case_ids: frozenset[str]) -> dict[str, StepPath]:
    """The dataset is read once more. One that cannot be read by now costs no verdict."""
    from gate.graders.trajectories.reference import reference_path

    try:
        references = {case.id: reference_path(case) for case in plan.read(case_ids)}
    except (GateError, OSError):
        return {}
    return {case_id: path for case_id, path in references.items() if path is not None}
