"""The files of a user are opened here: what is there and is no plain file is refused, never read
and never taken for a file that is not there. A device has no end, a pipe keeps whoever opens it
waiting, and a link that leads nowhere is a mistake to be told.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, FileIO
from pathlib import Path
from typing import BinaryIO

from gate.errors import UsageError

# Not to wait for a pipe that takes the file's place between the look and the opening.
_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC"))
_NO_NAMES = (errno.ENAMETOOLONG, errno.ELOOP)
_KINDS = (
    (stat.S_ISDIR, "a folder, not a regular file"),
    (stat.S_ISFIFO, "a named pipe, not a regular file"),
    (stat.S_ISSOCK, "a socket, not a regular file"),
    (stat.S_ISLNK, "a link, not a regular file"),
)


def open_plain(path: Path) -> BinaryIO:
    """The file, open to be read; a link to a plain file is one. Raises OSError whose `strerror`
    says what is wrong: FileNotFoundError only where nothing is there, not even a link.
    """
    try:
        _check(path.stat().st_mode, path)
        file = BufferedReader(FileIO(path, opener=_open))
    except FileNotFoundError as error:
        raise _missing(path) from error
    except ValueError as error:
        raise _refusal(path, "a path with a NUL character") from error
    try:
        _check(os.fstat(file.fileno()).st_mode, path)
    except OSError:
        file.close()
        raise
    return file


def read_bytes(path: Path) -> bytes:
    """All of it. Raises OSError as `opened` does."""
    with open_plain(path) as file:
        return file.read()


def is_there(path: Path, name: str = "") -> bool:
    """False where nothing is there. Raises UsageError for what is there and cannot be read as a
    plain file; `name` is what the message calls it.
    """
    try:
        open_plain(path).close()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _usage_error(error, name or str(path)) from error
    return True


def read_if_there(path: Path, name: str = "") -> bytes | None:
    """None where nothing is there. Raises UsageError as `is_there` does."""
    try:
        return read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _usage_error(error, name or str(path)) from error


def check_target(path: Path, option: str) -> None:
    """Raises UsageError unless `path` is a plain file or nothing is there: what is written would
    go elsewhere, or wait for a reader. `option` is named by the message.
    """
    try:
        _check(path.stat().st_mode, path)
    except FileNotFoundError:
        fault = _missing(path)
        if not isinstance(fault, FileNotFoundError):
            raise UsageError(f"{option} {path}: {fault.strerror}; choose another file") from fault
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "a path with a NUL character"
        raise UsageError(f"{option} {path}: {why}; choose another file") from error


def check_folder(path: Path, option: str) -> None:
    """Raises UsageError unless `path` is a folder, or nothing stands in the way of one."""
    for step in (path, *path.parents):
        try:
            step.lstat()
            if step.is_dir():
                return
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "a path with a NUL character"
            raise UsageError(f"{option} {path}: {why}; choose another folder") from error
        raise UsageError(f"{option} {path}: {step} is not a folder; choose another one")


def no_such_name(error: BaseException) -> UsageError | None:
    """What to tell where the system says that a path can be that of no file."""
    if isinstance(error, OSError) and error.errno in _NO_NAMES:
        return UsageError(f"{str(error.filename)[:200]}: {error.strerror}; choose another path")
    return None


def kind_of(mode: int) -> str:
    """What a thing that is no plain file is, in words; empty for a plain file."""
    if stat.S_ISREG(mode):
        return ""
    return next((words for fits, words in _KINDS if fits(mode)), "a device, not a regular file")


def _open(name: str, flags: int) -> int:
    return os.open(name, flags | _FLAGS)


def _check(mode: int, path: Path) -> None:
    if kind := kind_of(mode):
        raise _refusal(path, kind)


def _missing(path: Path) -> OSError:
    """Whether nothing is there at all, or a link on the way leads nowhere."""
    for step in (path, *path.parents):
        if os.path.lexists(step):
            if step != path and step.is_dir():
                break
            return _refusal(path, f"{step} is a broken symbolic link")
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def _refusal(path: Path, words: str) -> OSError:
    return OSError(errno.EINVAL, words, str(path))


def _usage_error(error: OSError, name: str) -> UsageError:
    return UsageError(f"{name}: {error.strerror or error}; put a regular file there, or remove it")
