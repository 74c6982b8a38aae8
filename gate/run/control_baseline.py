"""What the control agent answered in this very run, as the baseline of a suite."""

from __future__ import annotations

from gate.analysis.table import table_of
from gate.graders.trajectories.path import choose_representatives
from gate.records import BaselineInfo, Provenance
from gate.run.arms import ArmResults
from gate.run.prepare import SuitePlan
from gate.store.baseline.answers import choose_answers
from gate.store.baseline.find import Compared, differences


def compare_with_control(control: ArmResults, plan: SuitePlan, now: Provenance) -> Compared:
    """The control's trials as the suite's baseline; `now`: what the run is like."""
    name, provenance = plan.name, control.meta.provenance
    table = table_of(control.columns[name], plan.specs, plan.grader_digests)
    if not table.cases:
        return Compared(info=BaselineInfo(source="none", detail="no control was asked"))
    from gate.store.baseline.schema import fingerprint

    lost = control.tallies[name].infra_errors
    note = f"{lost} of the control agent's trials have no answer (infrastructure error)"
    info = BaselineInfo(
        source="control",
        detail=provenance.agent,
        commit=provenance.commit,
        created_at=control.meta.created_at,
        rounds=table.rounds,
        runs=1,
        fingerprint_diff=differences(
            fingerprint(provenance, plan.dataset_digest),
            fingerprint(now, plan.dataset_digest),
        ),
        notes=(note,) if lost else (),
    )
    return Compared(
        table=table,
        info=info,
        paths_of=lambda ids: choose_representatives(control.rows_of(name, ids)),
        stored_answers=lambda: choose_answers(control.rows_of(name, frozenset(table.cases))),
    )
