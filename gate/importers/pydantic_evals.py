"""`pydantic-evals`: the report of an experiment, written as JSON by EvaluationReportAdapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from gate.errors import Place
from gate.files.json_values import as_list
from gate.files.problems import Findings, refuse_problems
from gate.files.sniff import FirstLook
from gate.importers.formats.pydantic_evals.report import entries, head_of
from gate.importers.formats.pydantic_evals.trials import TOOL, Names, trial
from gate.importers.trials.build import name_judge
from gate.importers.trials.names import metric_name, suite_name
from gate.plugins import IMPORTERS
from gate.records import Json, Provenance, Trial
from gate.records.imported import Imported, ImportedSuite
from gate.text.escaping import one_line

_MARKS = (b'"task_duration"', b'"error_stacktrace"')


@dataclass(slots=True, kw_only=True)
class _ReportTotals:
    """What a first reading counted."""

    names: Names
    ids: set[str]
    rounds: int = 1
    failed: int = 0


@IMPORTERS.register("pydantic-evals")
@dataclass(frozen=True, slots=True, kw_only=True)
class PydanticEvalsReport:
    """A suite, named after the dataset. A case passes when all its assertions hold."""

    reads: ClassVar[str] = "a report of pydantic-evals as JSON"

    @classmethod
    def recognises(cls, found: FirstLook) -> bool:
        told = found.has("name", "cases") or found.has("name", "failures")
        return told and any(mark in found.head for mark in _MARKS)

    def read(self, path: Path) -> Imported:
        head = head_of(path)
        dataset = head.get("dataset_name")
        told = one_line(str(dataset or head["name"]), 200)
        suite, found = suite_name(told, "cases"), _check_cases(path)
        return Imported(
            files=(path,),
            created_at=None,
            provenance=Provenance(
                agent=one_line(head["name"], 200), tool_version="pydantic-evals", event="import"
            ),
            suites={suite: _suite(found, told)},
            trials=lambda: _trials(path, suite, found.names),
            notes=tuple(_notes(head, found)),
        )


def _check_cases(path: Path) -> _ReportTotals:
    """Raises InvalidInput with everything that is wrong."""
    problems, found = Findings(), _ReportTotals(names=Names(), ids=set())
    seen: dict[tuple[str, int], int | None] = {}
    for entry in problems.keep_good(entries(path)):
        key = (entry.case_id, entry.round)
        if key in seen:
            what = f"'{entry.case_id[:80]}' has round {entry.round} twice, see line {seen[key]}"
            problems.add(entry.place, f"{what} - keep one")
        seen[key] = entry.place.line
        found.ids.add(entry.case_id)
        found.rounds = max(found.rounds, entry.planned)
        found.failed += entry.failed
        if not entry.failed:
            found.names.add(entry.data)
    if not seen and not problems:
        problems.add(Place(path.as_posix(), key="cases"), "no list of cases")
    for name in found.names.clashes():
        what = f"'{name[:80]}' is the name of several results here (a-b is a_b) - rename one"
        problems.add(Place(path.as_posix()), what)
    problems.refuse()
    return found


def _suite(found: _ReportTotals, dataset: str) -> ImportedSuite:
    names = found.names
    judges = {metric_name(TOOL, n): f"pydantic-evals {one}" for n, one in names.judges.items()}
    deciding = ", ".join(sorted(names.decides))
    passed = name_judge(f"pydantic-evals {deciding}"[:300])
    specs = tuple(names.specs())
    return ImportedSuite(
        rounds=found.rounds,
        cases=len(found.ids),
        dataset=dataset,
        metrics=specs,
        graders={
            **{s.column: judges.get(s.column, "pydantic-evals") for s in specs},
            **(passed if names.decides else {}),
        },
    )


def _notes(head: Mapping[str, Json], found: _ReportTotals) -> Iterator[str]:
    if not found.names.decides:
        yield "no case has an assertion, so nothing passed or failed but what raised an exception"
    if found.failed:
        yield f"runs that raised an exception, left out of pydantic-evals' means: {found.failed}"
    if failures := as_list(head.get("report_evaluator_failures")):
        yield f"{len(failures)} evaluators of the whole report failed, and are left out"


def _trials(path: Path, suite: str, names: Names) -> Iterator[Trial]:
    for entry in refuse_problems(entries(path)):
        yield trial(entry, suite, names)
