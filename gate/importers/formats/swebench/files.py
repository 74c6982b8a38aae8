"""Which files of a path are what, by what is in them: a folder of the harness or the leaderboard
has many others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gate.errors import Place, Problem
from gate.files.json_values import as_object, as_string
from gate.files.plain import files_below, json_lines, json_of, plain
from gate.files.problems import Findings, refuse_problems
from gate.importers.formats.swebench import outcomes
from gate.importers.trials.names import is_id
from gate.records import Json
from gate.text.shortening import tidy

RUN = "run.json"
METADATA = "metadata.yaml"
_LOG = "run_instance.log"  # of every instance that was evaluated
_MOST = 256 << 20  # bytes of a run report
_PREDICTIONS = "predictions"


@dataclass(slots=True, kw_only=True)
class ResultFiles:
    """`mains`: run reports and lists; `unreported`: folders of instances without a report."""

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
    results = ResultFiles()
    if not path.is_dir():
        _sort_file(plain(path), results, findings)
        return results
    tops = (path, path / "results")
    evaluated: list[Path] = []
    for file in files_below(path):
        if file.name == _LOG:
            evaluated.append(file.parent)
        elif file.name == outcomes.NAME and file.parent != path:
            results.reports.append(file)
        elif file.name == RUN:
            results.runs.append(file)
        elif file.name.lower().endswith(".traj.json"):
            continue
        elif file.parent in tops and file.name.lower().endswith((".json", ".jsonl")):
            _sort_file(file, results, findings)
        elif file.name == METADATA and file.parent == path:
            results.metadata = file
    reported = {file.parent for file in results.reports}
    results.unreported = [one for one in evaluated if one not in reported and one != path]
    findings.take(*_links(path, results.unreported))
    return results


def _links(path: Path, unreported: Iterable[Path]) -> Iterator[Problem]:
    """Links are not followed; where one stands for a report that must not go unseen."""
    tops = [one for folder in (path, path / "results") for one in sorted(folder.glob("*.json*"))]
    for one in (*tops, *(folder / outcomes.NAME for folder in unreported)):
        if one.is_symlink():
            yield Problem(Place(one.as_posix()), "symbolic links are not followed - copy the file")


def _sort_file(path: Path, results: ResultFiles, findings: Findings) -> None:
    with findings.taking():
        if path.suffix.lower() == ".jsonl":
            data = next((line.data for line in refuse_problems(json_lines(path))), None)
        else:
            data = json_of(path, _MOST)
        lists = outcomes.is_run_report(data) or outcomes.is_lists(data)
        if is_predictions(data) and not lists:
            results.predictions.append(path)
        elif outcomes.is_instance_report(data) and not lists:
            results.reports.append(path)
        elif is_ours(data) and path.suffix.lower() != ".jsonl":
            results.mains.append((path, data))


def is_ours(data: Json) -> bool:
    lists = outcomes.is_run_report(data) or outcomes.is_lists(data) or is_predictions(data)
    return lists or outcomes.is_instance_report(data) or outcomes.is_details(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """`patched`: instance -> whether it has a patch that is not empty."""

    files: tuple[Path, ...] = ()
    model: str = ""
    patched: Mapping[str, bool] | None = None  # None: there are none

    def patches(self) -> dict[str, str]:
        """Read again; of an instance without a prediction nothing."""
        return {
            one["instance_id"]: one.get("model_patch") or ""
            for path in self.files
            for _, one in refuse_problems(_iterate_predictions(path))
            if isinstance(one, dict) and is_id(one.get("instance_id"))
        }


def is_predictions(data: Json) -> bool:
    """`data`: the JSON value, or the first line."""
    item = next(iter(data), None) if isinstance(data, list) else data
    if isinstance(data, dict) and "instance_id" not in data:
        item = next(iter(data.values()), None)
    return "model_patch" in as_object(item)


def read_predictions(files: tuple[Path, ...], findings: Findings) -> Predictions:
    """All files together: they are of one model, and have one patch of each instance."""
    patches: dict[str, int] = {}
    patched: dict[str, bool] = {}
    models: dict[str, Place] = {}
    for path in files:
        own: set[str] = set()
        for place, item in findings.keep_good(_iterate_predictions(path)):
            if wrong := _find_fault(item):
                findings.add(place, wrong)
                continue
            prediction = as_object(item)
            instance = str(prediction["instance_id"])
            patch = as_string(prediction.get("model_patch"))
            if instance in own or patches.get(instance, hash(patch)) != hash(patch):
                findings.add(place, f"{instance} has two predictions - remove one")
            own.add(instance)
            patches[instance], patched[instance] = hash(patch), bool(patch)
            models.setdefault(str(prediction.get("model_name_or_path") or ""), place)
    if len(models) > 1:
        (first, _), (other, place), *_ = sorted(models.items())
        both = f"{tidy(first or 'none', 80)} and {tidy(other or 'none', 80)}"
        findings.add(place, f"has predictions of two models: {both} - import one run at a time")
    if not files:
        return Predictions()
    return Predictions(files=files, model=tidy(min(models, default=""), 200), patched=patched)


def _find_fault(item: Json) -> str:
    if not isinstance(item, dict) or not is_id(item.get("instance_id")):
        return "must be an object with an `instance_id` - use the original file"
    if not isinstance(item.get("model_patch"), (str, type(None))):
        return "`model_patch` must be a string or null - use the original file"
    return ""


def _iterate_predictions(path: Path) -> Iterator[tuple[Place, Json] | Problem]:
    """Every prediction with its place."""
    name = path.as_posix()
    if path.suffix.lower() == ".jsonl":
        for line in json_lines(path):
            yield line if isinstance(line, Problem) else (line.place, line.data)
        return
    data = json_of(path)
    if isinstance(data, dict):
        for key, item in data.items():  # the key is the instance, where the object does not say
            own = isinstance(item, dict) and item.get("instance_id", key) == key
            named = {**as_object(item), "instance_id": key} if own else None
            yield Place(name, key=tidy(key, 80)), named
    else:
        for n, item in enumerate(data if isinstance(data, list) else [data]):
            yield Place(name, key=f"[{n}]"), item
