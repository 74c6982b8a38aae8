"""After the last trial: tables, verdict, report, files. Loaded while the first trials run."""

from __future__ import annotations

from datetime import UTC, datetime

from gate.archive import SessionWriter
from gate.conclude import Measured, Setting, conclude
from gate.lookup import Compared
from gate.pipeline import Collected
from gate.prepare import SuitePlan
from gate.publish import write_reports
from gate.records import BaselineInfo, Report
from gate.set_up import Setup
from gate.table import table_of

NONE_WANTED = Compared(table=None, info=BaselineInfo(source="none", detail="none was wanted"))


def judge(setup: Setup, session: SessionWriter, collected: Collected, unreachable: str) -> Report:
    """The verdict on what was collected; every report of the session is written."""
    report = _report(setup, session, collected, unreachable)
    write_reports(session.write, report, session.rows, setup.config.report)
    return report


def _report(setup: Setup, session: SessionWriter, collected: Collected, unreachable: str) -> Report:
    notes = [*setup.config.warnings, *setup.rules.notes, *setup.job.notes]
    notes += [warning for plan in setup.plans for warning in plan.warnings]
    if collected.ended_early:
        notes.append(f"{collected.ended_early}: not every trial was made")
    setting = Setting(
        session_id=session.meta.session_id,
        created_at=session.meta.created_at,
        duration_s=round((datetime.now(UTC) - setup.now).total_seconds(), 1),
        mode=setup.job.mode,
        provenance=setup.provenance,
        loosened=(*setup.rules.loosened, *(x for plan in setup.plans for x in plan.loosened)),
        notes=tuple(dict.fromkeys(notes)),
        comment_id=setup.env.get("INPUT_COMMENT-ID") or "gate",
    )
    measured = [_measured(setup, plan, collected, unreachable) for plan in setup.plans]
    return conclude(measured, setup.config, setting, session.rows_of)


def _measured(setup: Setup, plan: SuitePlan, collected: Collected, unreachable: str) -> Measured:
    name = plan.suite.name
    table = table_of(collected.columns[name], plan.specs, plan.grader_digests)
    tally = collected.tallies[name]
    return Measured(
        name=name,
        meta=plan.meta(),
        table=table,
        tally=tally,
        baseline=setup.baselines.get(name, NONE_WANTED),
        gates=plan.suite.gates,
        new_cases=plan.new_cases,
        unreachable=unreachable,
        not_run=len(plan.chosen) * plan.suite.rounds - tally.trials,
        unasked=len(plan.chosen) - len(table.cases),
    )
