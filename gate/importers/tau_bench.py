"""`tau-bench`: the result file of a run, several trials of each task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from gate.errors import Place
from gate.files.plain import plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook
from gate.importers.formats.tau.bench import (
    TOOL,
    case_in,
    domain_of,
    gold_tools,
    settings_of,
    trial_in,
)
from gate.importers.formats.tau.metrics import REWARD, USER_COST, TrialCounts, list_missing, metrics
from gate.importers.formats.tau.rows import read_rows
from gate.importers.trials.build import name_judge
from gate.importers.trials.names import suite_name
from gate.plugins import IMPORTERS
from gate.records import MOST_ROUNDS, Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite


@IMPORTERS.register("tau-bench")
@dataclass(frozen=True, slots=True, kw_only=True)
class TauBench:
    """One trial for each row; `suite` names what the file's name does not tell, `agent` who was
    measured.
    """

    suite: str | None = None
    agent: str | None = None

    reads: ClassVar[str] = "the result file of a run: a list of rows with a reward"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        is_list = found.head.lstrip()[:1] == b"["
        return is_list and found.has("task_id", "reward", "info", "traj", "trial")

    def read(self, path: Path) -> Imported:
        plain(path)
        checked = _check_rows(path)
        suite = self._named(path, checked)
        settings = settings_of(path)
        told = {name: one for name, one in settings.items() if name != "model"}
        return Imported(
            files=(path,),
            created_at=None,
            provenance=Provenance(
                agent=self.agent or settings.get("model") or TOOL, tool_version=TOOL, event="import"
            ),
            suites={suite: _suite(suite, checked)},
            trials=lambda: _trials(path, suite, checked, settings.get("strategy", "")),
            options=dict(told),
            notes=tuple(_notes(suite, checked)),
        )

    def _named(self, path: Path, checked: _RowTotals) -> str:
        if self.suite is not None:
            return suite_name(self.suite, TOOL)
        domain = domain_of(path.name, frozenset(checked.tools))
        return f"tau-{domain}" if domain else TOOL


@dataclass(slots=True)
class _RowTotals:
    """What the file comes to, without its conversations."""

    counted: TrialCounts = field(default_factory=TrialCounts)
    tasks: dict[str, Mapping[str, Json]] = field(default_factory=dict)  # as a row tells them
    tools: set[str] = field(default_factory=set)
    crashed: int = 0
    rows: int = 0


def _check_rows(path: Path) -> _RowTotals:
    """Raises InvalidInput with everything that is wrong with the rows."""
    found, seen = Findings(), _RowTotals()
    for row in read_rows(path, found):
        if not seen.counted.add(row.task, row.trial):
            message = f"task {row.task[:80]} and trial {row.trial} are there twice - keep one"
            found.add(row.place, message)
            continue
        seen.rows += 1
        seen.crashed += row.crash is not None
        seen.tools |= gold_tools(row)
        if row.task_info and seen.tasks.setdefault(row.task, row.task_info) != row.task_info:
            message = f"task {row.task[:80]} is another one in an earlier row: mixed versions"
            found.add(row.place, f"{message} - import each run's own file")
    place = Place(path.as_posix())
    if not found and not seen.rows:
        found.add(place, "no row in it - name the file of a run that has some")
    if len(seen.counted.rounds) > MOST_ROUNDS:
        found.add(place, f"more than {MOST_ROUNDS} different trials - import the run in parts")
    found.refuse()
    return seen


def _suite(suite: str, checked: _RowTotals) -> ImportedSuite:
    specs = metrics(checked.counted.least)
    return ImportedSuite(
        rounds=len(checked.counted.rounds),
        cases=len(checked.counted.tasks),
        dataset=f"{suite}: tasks of tau-bench",
        metrics=specs,
        graders=name_judge(f"{TOOL}: final data and outputs", REWARD, USER_COST),
    )


def _notes(suite: str, checked: _RowTotals) -> Iterator[str]:
    if checked.crashed:
        yield (
            f"{suite}: {checked.crashed} of {checked.rows} trials crashed; tau.reward and "
            "tau.pass^k count them as 0, as the benchmark does"
        )
    if missing := checked.counted.missing():
        first = list_missing(missing)
        yield (
            f"{suite}: {len(missing)} trials that other tasks have are not there "
            f"({first}); tau.pass^k is told up to k = {checked.counted.least}, the fewest "
            "trials of a task"
        )


def _trials(path: Path, suite: str, checked: _RowTotals, strategy: str) -> Iterator[Trial]:
    found, rounds = Findings(), checked.counted.rounds
    cases = {
        task: case_in(suite, task, checked.tasks.get(task, {})) for task in checked.counted.tasks
    }
    for row in read_rows(path, found):
        react = strategy in ("act", "react")
        yield trial_in(suite, row, cases[row.task], rounds[row.trial], react=react)
    found.refuse()  # it was in order a moment ago
