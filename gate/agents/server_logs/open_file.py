"""Opening a file that may be anything: a log, a pipe, a folder, a link, nothing."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path

# A pipe that nobody writes to must not block; a link could lead anywhere.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


class Unreadable(Exception):
    """Why a file that is there cannot be read, as the end of a sentence."""


def open_log(path: Path) -> FileIO | None:
    """None: it is not there. Raises Unreadable."""
    try:
        kind = path.lstat().st_mode
        if not stat.S_ISREG(kind):  # opening a device can do something
            raise Unreadable(kind_of(kind))
        file = FileIO(path, opener=lambda name, flags: os.open(name, flags | _FLAGS))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise Unreadable(reason(error)) from error
    kind = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(kind):
        file.close()
        raise Unreadable(kind_of(kind))
    return file


def reason(error: OSError | ValueError) -> str:
    """Why a path could not be opened or read, in words. A ValueError means a NUL in the path."""
    if not isinstance(error, OSError):
        return "no path"
    if error.errno == errno.ELOOP:
        return kind_of(stat.S_IFLNK)
    return "no permission" if isinstance(error, PermissionError) else error.strerror or str(error)


def kind_of(mode: int) -> str:
    """What a path is that is not what was expected."""
    if stat.S_ISLNK(mode):
        return "a symbolic link, which is not followed: name what it leads to"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file, not a folder" if stat.S_ISREG(mode) else "not a regular file"
