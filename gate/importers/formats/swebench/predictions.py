"""Predictions: a patch an instance, as a list, an object by instance, or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gate.errors import Place, Problem
from gate.files.json_values import as_object, as_string
from gate.files.plain import JsonLine, json_lines, json_of
from gate.files.problems import Findings
from gate.importers.trials.instance_ids import is_id
from gate.records import Json
from gate.text.escaping import one_line


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
            for _, one in _iterate_predictions(path)
            if isinstance(one, dict) and is_id(one.get("instance_id"))
        }


def is_predictions(data: Json) -> bool:
    """`data`: the JSON value, or the first line."""
    item = data
    if isinstance(data, list):
        item = data[0] if data else None
    elif isinstance(data, dict) and "instance_id" not in data:
        item = next(iter(data.values()), None)
    return isinstance(item, dict) and "model_patch" in item


def read_predictions(files: tuple[Path, ...], findings: Findings) -> Predictions:
    """All files together: they are of one model, and have one patch of each instance."""
    patches: dict[str, int] = {}
    patched: dict[str, bool] = {}
    models: dict[str, Place] = {}
    for path in files:
        own: set[str] = set()
        for place, item in _iterate_predictions(path):
            if isinstance(item, Problem):
                findings.take(item)
            elif wrong := _find_fault(item):
                findings.add(place, wrong)
            else:
                prediction = as_object(item)
                instance = str(prediction["instance_id"])
                patch = as_string(prediction.get("model_patch"))
                if instance in own or patches.get(instance, hash(patch)) != hash(patch):
                    findings.add(place, f"{instance} has another prediction - keep one")
                own.add(instance)
                patches[instance], patched[instance] = hash(patch), bool(patch)
                models.setdefault(str(prediction.get("model_name_or_path") or ""), place)
    if len(models) > 1:
        (first, _), (other, place), *_ = sorted(models.items())
        shown = one_line(first or "none", 80), one_line(other or "none", 80)
        message = (
            f"has predictions of two models: {shown[0]} and {shown[1]} - import one run at a time"
        )
        findings.add(place, message)
    if not files:
        return Predictions()
    return Predictions(files=files, model=one_line(min(models, default=""), 200), patched=patched)


def _find_fault(item: Json) -> str:
    if not isinstance(item, dict) or not is_id(item.get("instance_id")):
        return "must be an object with an `instance_id` - copy the file again"
    if not isinstance(item.get("model_patch"), (str, type(None))):
        return "`model_patch` must be a string or null - copy the file again"
    return ""


def _iterate_predictions(path: Path) -> Iterator[tuple[Place, Json | Problem]]:
    """Every prediction with its place."""
    name = path.as_posix()
    if path.suffix.lower() == ".jsonl":
        for line in json_lines(path):
            yield (line.place, line.data) if isinstance(line, JsonLine) else (line.place, line)
        return
    data = json_of(path)
    if isinstance(data, dict):
        for key, item in data.items():
            yield Place(name, key=one_line(key, 80)), _add_key(key, item)
    else:
        for n, item in enumerate(data if isinstance(data, list) else [data]):
            yield Place(name, key=f"[{n}]"), item


def _add_key(key: str, item: Json) -> Json:
    """The key is the instance, where the object does not say."""
    if isinstance(item, dict) and item.get("instance_id", key) == key:
        return {**item, "instance_id": key}
    return None
