"""The logs of Inspect: which files they are, their heads, and their samples one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files.json_schema import SchemaCheck
from gate.files.json_stream import PYTHON, iterate_members, parse_json
from gate.files.json_values import as_object
from gate.files.plain import MOST_JSON, files_below, plain
from gate.files.problems import Findings
from gate.files.sniff import FirstLook, look
from gate.files.timestamps import moment_of
from gate.files.zip import SIGN, Archive, open_archive
from gate.importers.trials import shapes
from gate.records import MOST_CASES, CheckedJson, Json

TOOL = "inspect"
HEADER, START, SAMPLES = "header.json", "_journal/start.json", "samples/"
_NAMES = (b"_journal/", b"header.json", SAMPLES.encode())  # one of them stands at the beginning
CONVERT = "convert it: inspect log convert LOG --to json --output-dir FOLDER"
_SAMPLES: Json = {**shapes.COUNT, "maximum": MOST_CASES}
_CHECK = SchemaCheck(
    shapes.object_of(
        *("version", "eval"),
        version={"type": "integer", "minimum": 1, "maximum": 2},
        status={"enum": ["started", "success", "cancelled", "error"]},
        eval=shapes.object_of(
            *("task", "created", "model"),
            task=shapes.WORD,
            task_id=shapes.TEXT,
            task_version={"type": ["string", "number", "null"]},
            created=shapes.STRING,
            model=shapes.STRING,
            dataset=shapes.object_of(null=True, name=shapes.TEXT),
            config=shapes.object_of(null=True, epochs=shapes.COUNT),
            packages=shapes.OBJECT,
            scorers=shapes.LIST,
        ),
        results=shapes.object_of(
            null=True,
            total_samples=_SAMPLES,
            logged_samples=_SAMPLES,
            scores={**shapes.LIST, "items": {"type": "object"}},
        ),
        error=shapes.OBJECT,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One evaluation. `samples` reads them again, with places, and raises InvalidInput."""

    path: Path
    head: Mapping[str, CheckedJson]
    created: datetime
    samples: Callable[[], Iterator[tuple[Place, Json]]] = field(repr=False)
    rewritten: int = 0

    @property
    def spec(self) -> Mapping[str, CheckedJson]:
        return as_object(self.head["eval"])

    @property
    def task(self) -> str:
        return str(self.spec["task"])

    @property
    def status(self) -> str:
        """A log without one was never ended."""
        return str(self.head.get("status") or "started")

    @property
    def results(self) -> Mapping[str, CheckedJson]:
        return as_object(self.head.get("results"))

    @property
    def epochs(self) -> int:
        return int((self.spec.get("config") or {}).get("epochs") or 1)

    @property
    def version(self) -> str:
        """Inspect's version; empty: the log does not say."""
        version = (self.spec.get("packages") or {}).get("inspect_ai")
        return version[:40] if isinstance(version, str) else ""


def is_log(found: FirstLook) -> bool:
    """Whether a file is one, by its ending and beginning."""
    if found.ends(".eval"):
        return found.head.startswith(SIGN) and any(name in found.head for name in _NAMES)
    return found.ends(".json") and found.has("version", "eval") and found.has("status", "plan")


def log_files(path: Path) -> tuple[tuple[Path, ...], int]:
    """The logs, and how many JSON files of the folder are none. Raises UsageError without logs."""
    if not path.is_dir():
        return (plain(path),), 0
    archives = files_below(path, "*.eval")
    documents = files_below(path, "*.json")
    logs = tuple(file for file in documents if is_log(look(file)))
    if not archives and not logs:
        raise UsageError(f"{path}: has no Inspect log (*.eval, *.json); give the log folder")
    return tuple(sorted((*archives, *logs))), len(documents) - len(logs)


def open_log(path: Path) -> Log:
    """A log with its head, checked. Raises UsageError, InvalidInput."""
    with path.open("rb") as file:
        packed = file.read(4) == SIGN
    return _open_archive(path) if packed else _open_document(path)


def _open_archive(path: Path) -> Log:
    with open_archive(path, convert=CONVERT) as zipped:
        name = HEADER if HEADER in zipped.members else START
        if name not in zipped.members:
            raise UsageError(f"{path}: archive has no {HEADER}; give an Inspect log")
        head = parse_json(zipped.read(name), f"{path.as_posix()}: {name}", PYTHON)
        again = zipped.rewritten
    place = Place(path.as_posix(), key=name)
    return _check_head(path, head, place, lambda: _members(path), again)


def _members(path: Path) -> Iterator[tuple[Place, Json]]:
    with open_archive(path, convert=CONVERT) as zipped:
        for name in zipped.members:
            if not name.startswith(SAMPLES) or not name.endswith(".json"):
                continue
            if _is_chunk(name, zipped):
                place = zipped.place(name)
                raise UsageError(f"{place}: samples in several parts are not read; {CONVERT}")
            yield (
                zipped.place(name),
                parse_json(zipped.read(name), f"{path.as_posix()}: {name}", PYTHON),
            )


def _is_chunk(name: str, zipped: Archive) -> bool:
    """Newer logs may have a folder a sample; an id may have a slash in it, too."""
    folder = name.rpartition("/")[0]
    return folder + "/" != SAMPLES and f"{folder}/sample.json" in zipped.members


def _open_document(path: Path) -> Log:
    if plain(path).stat().st_size > MOST_JSON:
        raise UsageError(f"{path}: larger than {MOST_JSON >> 20} MB; use the .eval format")
    members = iterate_members(path.read_bytes(), path.as_posix(), ("samples", "reductions"))
    head = {part.key: part.data for part in members if part.key not in ("samples", "reductions")}
    return _check_head(path, head, Place(path.as_posix()), lambda: _iterate_samples(path))


def _iterate_samples(path: Path) -> Iterator[tuple[Place, Json]]:
    for part in iterate_members(path.read_bytes(), path.as_posix(), ("samples", "reductions")):
        if part.key == "samples" and part.item:
            yield Place(path.as_posix(), part.line), part.data


def _check_head(
    path: Path,
    written: Json,
    place: Place,
    samples: Callable[[], Iterator[tuple[Place, Json]]],
    rewritten: int = 0,
) -> Log:
    findings = Findings()
    findings.take(*_CHECK.list_problems(written, place))
    findings.refuse()
    head: dict[str, CheckedJson] = as_object(written)
    created = moment_of(head["eval"]["created"])
    if created is None:
        what = "not a date and time such as 2026-05-12T14:30:52+00:00 - correct it"
        raise InvalidInput([Problem(Place(place.file, key="eval.created"), what)])
    return Log(path=path, head=head, created=created, samples=samples, rewritten=rewritten)
