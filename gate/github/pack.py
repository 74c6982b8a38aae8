"""A folder as a zip for an artifact: the same files give the same bytes."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from gate.agents import task_folder
from gate.errors import UsageError

MAX_BYTES = 1 << 30  # of the files, before they are compressed
FORBIDDEN = '":<>|*?\r\n\\'  # in the name of a file: other systems could not unpack it
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can tell


@contextmanager
def open_zip(folder: Path) -> Iterator[IO[bytes]]:
    """The zip, open at its beginning; it is gone afterwards.

    It is written beside `folder`, which is on a disk, where a temporary folder may be in memory.
    Raises UsageError, and OSError when the disk refuses.
    """
    files = sorted(_files(folder))
    if not files:
        raise UsageError(f"{folder} has no files")
    with tempfile.TemporaryFile(dir=folder.parent) as target:
        with zipfile.ZipFile(target, "w") as archive:
            for name in files:
                _add(archive, folder / name, name)
        target.seek(0)
        yield target


def _files(folder: Path) -> Iterator[str]:
    """Names of the regular files, with slashes; links are left out and not followed, and so is
    what servers wrote for their tasks.
    """
    total = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != task_folder.FOLDER]
        for path in (Path(place) / name for name in names):
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):
                continue
            name = path.relative_to(folder).as_posix()
            if set(name) & set(FORBIDDEN):
                raise UsageError(f"this file name is not allowed in an artifact: {name!r}")
            total += status.st_size
            if total > MAX_BYTES:
                raise UsageError(f"{folder} is larger than {MAX_BYTES >> 20} MB")
            yield name


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name, MOMENT)
    entry.create_system = 3  # Unix, wherever it is made
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    with path.open("rb") as source, archive.open(entry, "w") as target:
        shutil.copyfileobj(source, target, 1 << 16)
