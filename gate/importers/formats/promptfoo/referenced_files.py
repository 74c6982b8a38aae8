"""Files that a configuration names: below its folder, plain, of bounded size."""

from __future__ import annotations

import io
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from gate.errors import InvalidInput, Place, Problem, UsageError
from gate.files import yaml as yamlfile
from gate.files.csv_rows import read_csv
from gate.files.encoding import decode
from gate.files.json_rows import read_cases
from gate.files.plain import files_below, plain
from gate.records import Json

SCHEME = "file://"
MOST = 64 << 20  # bytes of one file
MOST_TESTS = 1_000_000
_GLOB = "*?["
_CODE = (".js", ".cjs", ".mjs", ".ts", ".py", ".rb", ".xlsx", ".xls")


def find_referenced(folder: Path, reference: str) -> tuple[Path, ...]:
    """The files that it means, several for a pattern. Raises UsageError for one that leads out of
    the folder, through a link, to the network or to code that makes tests.
    """
    name = reference.removeprefix(SCHEME)
    parts = PurePosixPath(name).parts
    if "://" in name:
        raise UsageError(f"{name[:120]}: is on the network, and nothing is fetched; save it as CSV")
    outside = not parts or name.startswith(("/", "~")) or ".." in parts or ":" in name
    if outside or "\\" in name or "\0" in name:
        raise UsageError(f"{name[:120]!a}: leads out of the configuration's folder; copy it there")
    if PurePosixPath(name).suffix.lower() in _CODE:
        raise UsageError(f"{name[:120]}: code or a workbook, which is not run; export it as CSV")
    if any(sign in name for sign in _GLOB):
        within = (path for path in files_below(folder) if _below(folder, path, name))
        return tuple(within) or _none(folder, name)
    path = folder / name
    if path.resolve() != folder.resolve().joinpath(*parts):
        raise UsageError(f"{path}: leads through a link, which is not followed")
    return (_check_size(path),)


def text_of(path: Path) -> str:
    """Raises InvalidInput for what is not UTF-8."""
    return decode(_check_size(path).read_bytes(), path.as_posix())


def tests_in(path: Path) -> Iterator[tuple[Place, Json] | Problem]:
    """The tests of a CSV, JSON, JSON Lines or YAML file, with their places; rows of CSV as
    mappings of texts under `__csv__`.
    """
    name, suffix = path.as_posix(), path.suffix.lower()
    if suffix == ".csv":
        yield from _csv(path)
        return
    if suffix in (".yaml", ".yml"):
        document = yamlfile.parse(_check_size(path).read_bytes(), name)
        listed = document.data if isinstance(document.data, list) else [document.data]
        yield from ((document.place((n,)), one) for n, one in enumerate(listed))
        return
    with _check_size(path).open("rb") as stream:
        for row in read_cases(stream, name):
            yield row if isinstance(row, Problem) else (Place(name, row.line), row.data)


def _csv(path: Path) -> Iterator[tuple[Place, Json] | Problem]:
    lines = io.StringIO(text_of(path), newline="")
    for row in read_csv(lines, path.as_posix(), unnamed=True):
        yield row if isinstance(row, Problem) else (row[0], {"__csv__": dict(row[1])})


def _check_size(path: Path) -> Path:
    if plain(path).stat().st_size > MOST:
        raise InvalidInput([Problem(Place(path.as_posix()), "larger than 64 MB - split it")])
    return path


def _below(folder: Path, path: Path, pattern: str) -> bool:
    return fnmatchcase(path.relative_to(folder).as_posix(), pattern)


def _none(folder: Path, name: str) -> tuple[Path, ...]:
    raise UsageError(f"{folder}: no file in it fits {name[:120]!a}")
