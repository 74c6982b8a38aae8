"""What an importer reads of a file, and what it says of one that it refuses."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gate.errors import GateError, InvalidInput
from gate.plugins import IMPORTERS
from gate.records.imported import Imported


def read_results(tool: str, path: Path, **options: object) -> Imported:
    """By the importer of that name, whose options are fields of its class."""
    return IMPORTERS.get_class(tool)(**options).read(path)


def told_of(
    read: Callable[..., object],
    path: Path,
    kind: type[GateError] = InvalidInput,
    **options: object,
) -> str:
    """The message of `read(path, **options)`; files are named from the folder that `path` is in."""
    with pytest.raises(kind) as caught:
        read(path, **options)
    return str(caught.value).replace(f"{path.parent.as_posix()}/", "")
