"""A run of mini-SWE-agent: its trajectories, and what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gate.agents.traces.values import at
from gate.errors import InvalidInput, Place, UsageError
from gate.files.json_values import as_list, as_object
from gate.files.plain import files_below, json_of, plain
from gate.files.problems import Findings
from gate.files.yaml import parse
from gate.importers.formats.mini_swe_agent.trajectory import (
    SUFFIX,
    TrajectoryFile,
    id_of,
    read_trajectory,
)
from gate.importers.trials.instance_ids import is_id
from gate.records import Response
from gate.text.escaping import one_line

PREDICTIONS = "preds.json"
_EXITS = "exit_statuses_*.yaml"
_MOST_YAML = 16 << 20  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """`trajectories`: instance -> file, by id. `lost`: instances without one, since their agent
    never came to be, with the exit status that was written ("" where none was).
    """

    trajectories: Mapping[str, Path]
    beside: tuple[Path, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    version: str = ""
    started: str | None = None  # ISO 8601, UTC; None: no message has a time

    @property
    def files(self) -> tuple[Path, ...]:
        return (*self.beside, *self.trajectories.values())

    def read(self, instance: str) -> TrajectoryFile | None:
        path = self.trajectories.get(instance)
        return None if path is None else read_trajectory(path)


Trajectories = Mapping[str, TrajectoryFile]  # by instance, without their steps


def run_of(path: Path) -> AgentRun:
    """A trajectory or a folder of them, each read and checked once. Raises InvalidInput with all
    problems, UsageError for what is no such run.
    """
    findings = Findings()
    if not path.is_dir():
        one = read_trajectory(plain(path))
        return _run({one.id: one})
    files = files_below(path, f"*{SUFFIX}")
    if not files:
        raise UsageError(f"{path}: has no *{SUFFIX}; give a run folder of mini-SWE-agent")
    found = dict(_each(files, findings))
    beside, lost = _beside(path, found, findings)
    for what, told in (
        ("models", {one.response.model or "none" for one in found.values()}),
        ("formats", {one.format for one in found.values()}),
    ):
        if len(told) > 1:
            names = " and ".join(one_line(name, 80) for name in sorted(told)[:3])
            message = f"trajectories of different {what}: {names} - import the folder of one run"
            findings.add(Place(path.as_posix()), message)
    findings.refuse()
    return _run(found, beside, lost)


def _run(
    found: Trajectories,
    beside: tuple[Path, ...] = (),
    lost: Mapping[str, str] | None = None,
) -> AgentRun:
    versions = sorted({one.version for one in found.values() if one.version})
    return AgentRun(
        trajectories={instance: found[instance].path for instance in sorted(found)},
        beside=beside,
        lost=dict(sorted((lost or {}).items())),
        model=next(iter(found.values())).response.model or "",
        version=", ".join(versions[:3]),
        started=min(filter(None, (one.started_at for one in found.values())), default=None),
    )


def _each(files: Iterable[Path], findings: Findings) -> Iterator[tuple[str, TrajectoryFile]]:
    seen: dict[str, Path] = {}
    for path in files:
        place = Place(path.as_posix())
        try:
            one = read_trajectory(path)
        except InvalidInput as error:
            findings.take(*error.problems)
            continue
        if one.id != id_of(path):
            findings.add(
                place,
                f"its instance_id is '{one_line(one.id, 80)}', its file name is not - rename "
                "the file",
            )
        elif not is_id(one.id):
            findings.add(place, "the file name is not an instance id - rename it")
        elif one.id in seen:
            findings.add(place, f"{seen[one.id]} is of the same instance - keep one of them")
        else:
            seen[one.id] = path
            kept = Response(answer="", model=one.response.model)  # no steps: there may be many
            yield one.id, replace(one, task="", response=kept)


def _beside(
    folder: Path, found: Trajectories, findings: Findings
) -> tuple[tuple[Path, ...], dict[str, str]]:
    """The files beside the trajectories, which must agree, and the instances only they have."""
    exits = files_below(folder, _EXITS, deep=False)[-1:]
    predictions = files_below(folder, PREDICTIONS, deep=False)
    told: dict[str, str] = {}
    try:
        for path in predictions:
            told |= dict.fromkeys(_read_predictions(path, found, findings), "")
        for path in exits:
            told |= _statuses(path, found, findings)
    except InvalidInput as error:
        findings.take(*error.problems)
    return (*predictions, *exits), {i: status for i, status in told.items() if i not in found}


def _read_predictions(path: Path, found: Trajectories, findings: Findings) -> Iterator[str]:
    name = path.as_posix()
    data = json_of(path)
    if not isinstance(data, dict):
        findings.add(Place(name), "not an object of instances - copy it again, or remove it")
        return
    for instance, prediction in data.items():
        own = found.get(instance)
        if not is_id(instance):
            findings.add(Place(name, key=one_line(instance, 80)), "is not an instance id")
        elif own is None and "diff --git" in str(at(prediction, "model_patch")):
            message = "has a patch, but its trajectory is missing - copy the whole folder"
            findings.add(Place(name, key=instance), message)
        elif own is None:
            yield instance
        elif own.exit_status == "Submitted":
            patch = at(prediction, "model_patch")
            if (patch or "") != own.submission:
                message = (
                    f"its model_patch is not what {own.path.name} submitted - use files of one run"
                )
                findings.add(Place(name, key=instance), message)


def _statuses(path: Path, found: Trajectories, findings: Findings) -> dict[str, str]:
    name = path.as_posix()
    if plain(path).stat().st_size > _MOST_YAML:
        findings.add(Place(name), f"larger than {_MOST_YAML >> 20} MB - remove it")
        return {}
    by_status = at(parse(path.read_bytes(), name).data, "instances_by_exit_status")
    told: dict[str, str] = {}
    for status, instances in as_object(by_status).items():
        for instance in [one for one in as_list(instances) if is_id(one)]:
            told[instance] = str(status)
            own = found.get(instance)
            if own is None and str(status) == "Submitted":
                message = "was submitted, but its trajectory is missing - copy the whole folder"
                findings.add(Place(name, key=instance), message)
            elif own is not None and own.exit_status != str(status):
                shown = one_line(str(status), 60), one_line(own.exit_status, 60)
                message = (
                    f"says {shown[0]}, but {own.path.name} says {shown[1]} - use files of one run"
                )
                findings.add(Place(name, key=instance), message)
    return told
