"""Which files of a path are what, by what is in them: a folder of the harness or the leaderboard
has many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem
from gate.files.plain import files_below, json_lines, json_of, plain
from gate.files.problems import Findings, refuse_problems
from gate.importers.formats.swebench import (
    instance_reports,
    predictions,
    run_report,
)
from gate.records import Json

RUN = "run.json"
METADATA = "metadata.yaml"
_LOG = "run_instance.log"  # of every instance that was evaluated
_MOST = 256 << 20  # bytes of a run report
_PREDICTIONS = "predictions"


@dataclass(slots=True, kw_only=True)
class ResultFiles:
    """`mains`: run reports and lists, with their content: one of them is the run's. `unreported`:
    folders of instances that were evaluated and have no report.
    """

    mains: list[tuple[Path, Json]] = field(default_factory=list)
    predictions: list[Path] = field(default_factory=list)
    reports: list[Path] = field(default_factory=list)
    unreported: list[Path] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    metadata: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        mains = [path for path, _ in self.mains]
        more = [self.metadata] if self.metadata else []
        return (*mains, *self.runs, *more, *self.predictions, *self.reports)


def find_files(path: Path, findings: Findings) -> ResultFiles:
    """Raises UsageError for what is no file and no folder. What cannot be read is a problem."""
    found = ResultFiles()
    if not path.is_dir():
        _sort_file(plain(path), found, findings)
        return found
    tops = (path, path / "results")
    evaluated: list[Path] = []
    for file in files_below(path):
        if file.name == _LOG:
            evaluated.append(file.parent)
        elif file.name == instance_reports.NAME and file.parent != path:
            found.reports.append(file)
        elif file.name == RUN:
            found.runs.append(file)
        elif file.name.lower().endswith(".traj.json"):
            continue
        elif file.parent in tops and file.name.lower().endswith((".json", ".jsonl")):
            _sort_file(file, found, findings)
        elif file.name == METADATA and file.parent == path:
            found.metadata = file
    reported = {file.parent for file in found.reports}
    found.unreported = [one for one in evaluated if one not in reported and one != path]
    findings.take(*_links(path, found.unreported))
    return found


def _links(path: Path, unreported: Iterable[Path]) -> Iterator[Problem]:
    """Links are not followed; where one stands for a report that must not go unseen."""
    tops = [one for folder in (path, path / "results") for one in sorted(folder.glob("*.json*"))]
    for one in (*tops, *(folder / instance_reports.NAME for folder in unreported)):
        if one.is_symlink():
            yield Problem(Place(one.as_posix()), "symbolic links are not followed - copy the file")


def _sort_file(path: Path, found: ResultFiles, findings: Findings) -> None:
    kind: str | None = None
    data: Json = None
    try:
        data = _first_line(path) if path.suffix.lower() == ".jsonl" else json_of(path, _MOST)
        kind = _kind(data)
    except InvalidInput as error:
        findings.take(*error.problems)
    if kind == _PREDICTIONS:
        found.predictions.append(path)
    elif kind == "instance report":
        found.reports.append(path)
    elif kind and path.suffix.lower() != ".jsonl":
        found.mains.append((path, data))


def _first_line(path: Path) -> Json:
    first = next(refuse_problems(json_lines(path)), None)
    return first.data if first else None


def _kind(data: Json) -> str | None:
    for kind, fits in (
        ("run report", run_report.is_run_report),
        ("lists", run_report.is_lists),
        (_PREDICTIONS, predictions.is_predictions),
        ("instance report", instance_reports.is_instance_report),
        ("details", run_report.is_details),
    ):
        if fits(data):
            return kind
    return None


def is_ours(data: Json) -> bool:
    return _kind(data) is not None
