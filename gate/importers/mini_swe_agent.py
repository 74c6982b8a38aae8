"""`mini-swe-agent`: trajectories of mini-SWE-agent, of version 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.files.sniff import FirstLook
from gate.importers.formats.mini_swe_agent import trajectory
from gate.importers.formats.swebench.reading import SweBenchOptions, import_run
from gate.importers.formats.swebench.trials import instance_case
from gate.importers.trials.build import ToolSuite, provenance_of
from gate.plugins import IMPORTERS
from gate.records import MetricSpec, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.shortening import tidy

TOOL = "mini-swe-agent"  # the suite's name, too
_SUBMITTED = MetricSpec(
    name="mini_swe_agent.submitted_rate",
    column="mini_swe_agent.submitted_rate",
    family="rate",
    unit="share",
    description="share of the runs that ended by submitting a patch",
)


@IMPORTERS.register(TOOL)
@dataclass(frozen=True, slots=True, kw_only=True)
class MiniSweAgent:
    """One trial a trajectory. Whether it passed only `report` tells, a run report of SWE-bench."""

    reads: ClassVar[str] = f"a run folder, or one {trajectory.SUFFIX}"

    report: str = ""

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        if found.is_folder:
            return any(name.endswith(trajectory.SUFFIX) for name in found.names)
        return found.ends(trajectory.SUFFIX) or found.has("trajectory_format", "messages")

    def read(self, path: Path) -> Imported:
        if self.report:
            return import_run(Path(self.report), SweBenchOptions(trajectories=str(path)))
        run = trajectory.run_of(path)
        return Imported(
            files=run.files,
            created_at=run.started,
            provenance=provenance_of(f"{TOOL} {run.version}".strip(), run.model or TOOL),
            suites={
                TOOL: ImportedSuite(
                    cases=len(run.trajectories) + len(run.lost),
                    dataset="trajectories, not evaluated",
                    metrics=(_SUBMITTED,),
                    graders={_SUBMITTED.column: TOOL},
                )
            },
            trials=lambda: _trials(run),
            notes=tuple(_notes(run)),
        )


def _notes(run: trajectory.AgentRun) -> Iterator[str]:
    yield (
        "a trajectory does not tell whether its patch resolves the issue: evaluate the "
        "predictions and add --option report=FILE"
    )
    if "," in run.version:
        yield f"several versions of mini-SWE-agent took part: {run.version}"
    if run.lost:
        yield f"{len(run.lost)} instances have no trajectory: their agent was never started"


def _trials(run: trajectory.AgentRun) -> Iterator[Trial]:
    for instance in sorted({*run.trajectories, *run.lost}):
        one = run.read(instance)
        yield _lost(instance, run.lost) if one is None else _trial(one)


def _trial(trajectory_file: trajectory.TrajectoryFile) -> Trial:
    """A run that broke is no failed one yet: only the tests could tell what its patch is worth."""
    nobody = trajectory_file.is_nobodys
    return ToolSuite(TOOL, TOOL).trial(
        instance_case(TOOL, trajectory_file.id, trajectory_file.task),
        status="infra_error" if nobody else "completed",
        failures=trajectory_file.codes,
        values={} if nobody else {_SUBMITTED.column: float(trajectory_file.submitted)},
        response=trajectory_file.response,
        latency_ms=trajectory_file.latency_ms,
        error=trajectory_file.error,
        started_at=trajectory_file.started_at,
    )


def _lost(instance: str, lost: Mapping[str, str]) -> Trial:
    """The agent writes a trajectory as soon as its environment stands."""
    status = tidy(lost[instance], 60)
    return ToolSuite(TOOL, TOOL).trial(
        instance_case(TOOL, instance),
        status="infra_error",
        failures=(trajectory.exit_code(status) if status else "no_trajectory",),
        error=f"no trajectory{f': {status}' if status else ''}",
    )
